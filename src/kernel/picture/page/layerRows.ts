// Tables of layers and kernels.
import type { PanelSelection } from '../graph/viewData.ts';
import { addTo } from '../../base/addTo.ts';
import { type EngineTensor, tensorBytes, tensorPrecision } from '../../read/tensorrt/buildOutput.ts';
import type {
  Fate,
  FusionReport,
  LayerCounters,
  LayerKind,
  LayerSaving,
  ReportLayer,
} from '../../fusion/fusionReport.ts';
import { withoutKernelPlace } from '../../network/layerName.ts';
import {
  engineMs,
  fateOrder,
  fateWordsOf,
  foreignTitle,
  layerKindLabel,
  layerLabel,
  numberOf,
} from '../../report/words.ts';
import { type Match, matcher, wordsOf } from '../graph/graphIndex.ts';
import { layerMs, type LayerRange } from './fusionTimeline.ts';

/** Layers of one group that do the same: the same ops, and names that differ in numbers only if there are no ops. */
export interface KernelFamily {
  id: string;
  /** What they compute, in the model's words: `MatMul + Add`. */
  label: string;
  /** TensorRT's name, numbers replaced by # where they differ. */
  name: string;
  /** Positions in the report's layers, in order. */
  layers: number[];
}

/** How many ops a label names before it counts the rest. */
const mostOps = 4;

/** Ops of a layer's nodes in file order: repeated ones once, the rest counted. '' without nodes. */
export function opsLabel(ops: readonly string[]): string {
  const kinds = [...new Set(ops)];
  if (kinds.length <= mostOps + 1) return kinds.join(' + ');
  return `${kinds.slice(0, mostOps).join(' + ')} + ${kinds.length - mostOps} more`;
}

/** A kernel's name without what numbers it: `__mye137767+__mye137755_myl2_2` → `__mye#+__mye#`. */
export const kernelPattern = (name: string): string => withoutKernelPlace(name).replaceAll(/\d+/g, '#');

/** Sorts a group's layers (positions) into families, in order of their first layer. `titles` are those of all layers. */
export function kernelFamilies(
  report: FusionReport,
  group: string,
  layers: readonly number[],
  titles: readonly string[],
): KernelFamily[] {
  const families = new Map<string, KernelFamily>();
  for (const index of layers) {
    const layer = report.layers[index];
    if (layer === undefined) continue;
    const label = titles[index] ?? '';
    const key = `${group}\u0000${layer.type}\u0000${label}`;
    const known = families.get(key);
    if (known === undefined) {
      families.set(key, { id: `kernels:${group}:${layer.id}`, label, name: layer.name, layers: [index] });
    } else {
      known.layers.push(index);
      if (known.name !== layer.name)
        known.name = kernelPattern(layer.name) === kernelPattern(known.name) ? kernelPattern(layer.name) : '';
    }
  }
  return [...families.values()];
}

/** What a layer does, in few words: its nodes' ops, otherwise its kind, otherwise its name. `ops` is op by node id. */
export function layerTitle(layer: ReportLayer, ops: Map<string, string>): string {
  if (layer.kind === 'foreign') return 'Kernels not listed';
  const own = opsLabel(layer.nodes.flatMap((id) => ops.get(id) ?? []));
  if (own !== '') return own;
  if (layer.kind === 'reformat') return 'Reformat';
  return kernelPattern(layer.name).replaceAll(/[\u001e\u001f]/g, ' ') || layer.type || `layer ${layer.id}`;
}

/** What a cell holds; null: not known. */
export type Cell = number | string | null;

/** One column of a table: how its cells are made, written and ordered. */
export interface TableColumn<Row> {
  /** Stable: kept in what a view remembers. */
  id: string;
  title: string;
  /** `ms`: milliseconds; `delta`: milliseconds with their sign; `percent`: 0 … 100; `bytes`: bytes. */
  kind: 'text' | 'number' | 'ms' | 'delta' | 'percent' | 'bytes';
  value: (row: Row) => Cell;
  /** What it says, for the tooltip. */
  meaning: string;
  /** It is shown only where some row has a value. */
  optional?: true;
  /** A text that does not fit loses its beginning: such names differ at their end. */
  keepsEnd?: true;
}

export interface SortOrder {
  column: string;
  descending: boolean;
}

/**
 * Rows in the order of one column; equal ones stay in the order they have, what is not known is always last. Text is
 * compared by its numbers, too: `conv2` before `conv10`. An unknown column leaves the order as it is.
 */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  { column, descending }: SortOrder,
): Row[] {
  const by = columns.find(({ id }) => id === column);
  if (by === undefined) return [...rows];
  const keyed = rows.map((row) => ({ row, key: by.value(row) }));
  const known = keyed.filter(({ key }) => key !== null);
  const unknown = keyed.filter(({ key }) => key === null);
  if (by.kind === 'text') {
    // Each distinct text is compared once, not in every comparison of two rows.
    const ranks = textRanks(known.map(({ key }) => String(key)));
    for (const one of known) one.key = ranks.get(String(one.key))!;
  }
  const sign = descending ? -1 : 1;
  known.sort((a, b) => sign * (Number(a.key) - Number(b.key)));
  return [...known, ...unknown].map(({ row }) => row);
}

/** The place of each distinct text in natural order: regardless of case, with numbers by their value. */
function textRanks(texts: readonly string[]): Map<string, number> {
  const order = [...new Set(texts)].map((text) => ({ text, plain: text.toLowerCase() }));
  order.sort((a, b) => compareNatural(a.plain, b.plain) || (a.text < b.text ? -1 : 1));
  return new Map(order.map(({ text }, index) => [text, index]));
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Looks at the two texts only as far as they are the same, and at the numbers there. */
function compareNatural(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  if (at === length && a.length === b.length) return 0;
  let start = at;
  while (start > 0 && isDigit(a.charCodeAt(start - 1))) start -= 1;
  const [one, other] = [digitsFrom(a, start), digitsFrom(b, start)];
  if (one !== '' && other !== '' && one !== other) return one.length - other.length || (one < other ? -1 : 1);
  return (a.charCodeAt(at) || 0) - (b.charCodeAt(at) || 0);
}

/** The number that begins there, without leading zeros but one; '' for none. */
function digitsFrom(text: string, start: number): string {
  let end = start;
  while (end < text.length && isDigit(text.charCodeAt(end))) end += 1;
  let from = start;
  while (from < end - 1 && text.charCodeAt(from) === 48) from += 1;
  return text.slice(from, end);
}

/** Lines of comma-separated values as RFC 4180 has them, the titles first; numbers plain, what is not known empty. */
export function csvOf<Row>(rows: readonly Row[], columns: readonly TableColumn<Row>[]): string {
  const line = (cells: readonly Cell[]) => `${cells.map(csvCell).join(',')}\r\n`;
  const unit = { ms: ' (ms)', delta: ' (ms)', percent: ' (%)', bytes: '', number: '', text: '' };
  return (
    line(columns.map(({ title, kind }) => title + unit[kind])) +
    rows.map((row) => line(columns.map(({ value }) => value(row)))).join('')
  );
}

/** Spreadsheets compute a text that begins so: an apostrophe keeps names of a model texts. */
const isFormula = (cell: Cell): cell is string => typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell);

function csvCell(cell: Cell): string {
  const text = isFormula(cell) ? `'${cell}` : String(cell ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What a width stands for: milliseconds, or nodes of the model. */
export type Weight = 'time' | 'nodes';

/**
 * The smallest fact of the flow: one layer's work on one node. Its weights are shares: a layer's time is divided
 * equally among its nodes (nothing says more), and a node computed by several layers counts a part in each, so that
 * sums are always the engine's time and the model's nodes.
 */
export interface FusionUnit {
  /** Position in the report's nodes; null: no node asked for this layer. */
  node: number | null;
  /** Position in the report's layers; null: no layer computes it, or none is named. */
  layer: number | null;
  group: string;
  ms: number;
  count: number;
  /** false: that the node is part of the group is derived from the graph. */
  exact: boolean;
}

/** ForeignNodes one by one, TensorRT's own layers by kind, nodes without a layer by fate. */
export interface UnitGroup {
  /** `foreign-0`, `fused`, `fate-folded`, … */
  id: string;
  kind: LayerKind | Fate;
  foreignNode: number | null;
  label: string;
  exact: boolean;
  selection: PanelSelection;
}

export interface FusionUnits {
  units: FusionUnit[];
  /** In order of execution, groups that are not computed last. */
  groups: UnitGroup[];
  /** What each layer does, in few words, by position. */
  titles: string[];
  /** false: no layer was measured, `time` would show nothing. */
  timed: boolean;
}

/** A report taken apart into units, with the groups that they fall into. Linear in nodes and layers. */
export function toFusionUnits(report: FusionReport): FusionUnits {
  const positions = new Map(report.nodes.map(({ id }, index) => [id, index]));
  const units: FusionUnit[] = [];
  const groups = new Map<string, UnitGroup>();
  const group = (id: string, make: () => Omit<UnitGroup, 'id'>): string => {
    if (!groups.has(id)) groups.set(id, { id, ...make() });
    return id;
  };
  const computed = report.nodes.map(() => 0);
  const layerNodes = report.layers.map((layer) => [...new Set(layer.nodes.flatMap((id) => positions.get(id) ?? []))]);
  for (const nodes of layerNodes) for (const node of nodes) computed[node] = (computed[node] ?? 0) + 1;

  const measured = new Set<number>();
  report.layers.forEach((layer, index) => {
    const own = groupOfLayer(report, layer, group);
    const nodes = layerNodes[index] ?? [];
    const ms = layer.averageMs ?? 0;
    if (layer.averageMs !== null && layer.foreignNode !== null) measured.add(layer.foreignNode);
    if (nodes.length === 0) units.push({ node: null, layer: index, group: own, ms, count: 0, exact: true });
    for (const node of nodes) {
      units.push({
        node,
        layer: index,
        group: own,
        ms: ms / nodes.length,
        count: 1 / (computed[node] ?? 1),
        exact: isExact(report, node),
      });
    }
  });
  addForeignWholes(report, positions, measured, units, group);
  addWithoutLayer(report, computed, units, group);
  const timed = units.some(({ ms }) => ms > 0);
  const ops = new Map(report.nodes.map(({ id, op }) => [id, op]));
  const titles = report.layers.map((layer) => layerTitle(layer, ops));
  return { units, groups: inOrder([...groups.values()]), titles, timed };
}

const isExact = (report: FusionReport, node: number): boolean => report.nodes[node]?.exact ?? true;

type GroupMaker = (id: string, make: () => Omit<UnitGroup, 'id'>) => string;

function foreignGroup(report: FusionReport, id: number, group: GroupMaker): string {
  return group(`foreign-${id}`, () => ({
    kind: 'foreign',
    foreignNode: id,
    label: foreignTitle(report, id),
    exact: report.foreignNodes.find((foreign) => foreign.id === id)?.exact ?? false,
    selection: { kind: 'foreignNode', id },
  }));
}

function groupOfLayer(report: FusionReport, { kind, foreignNode }: ReportLayer, group: GroupMaker): string {
  if (foreignNode !== null) return foreignGroup(report, foreignNode, group);
  return group(kind, () => ({
    kind,
    foreignNode: null,
    label: layerKindLabel(kind, report),
    exact: true,
    selection: {
      kind: 'layers',
      ids: report.layers.filter((other) => other.foreignNode === null && other.kind === kind).map(({ id }) => id),
    },
  }));
}

/** ForeignNodes that were measured only as a whole: their time belongs to their nodes, but to none of their kernels. */
function addForeignWholes(
  report: FusionReport,
  positions: Map<string, number>,
  measured: Set<number>,
  units: FusionUnit[],
  group: GroupMaker,
): void {
  for (const { id, averageMs, nodes } of report.foreignNodes) {
    if (averageMs === null || measured.has(id)) continue;
    const own = foreignGroup(report, id, group);
    const members = nodes.flatMap((node) => positions.get(node) ?? []);
    if (members.length === 0) units.push({ node: null, layer: null, group: own, ms: averageMs, count: 0, exact: true });
    for (const node of members) {
      units.push({
        node,
        layer: null,
        group: own,
        ms: averageMs / members.length,
        count: 0,
        exact: isExact(report, node),
      });
    }
  }
}

const uncomputed: ReadonlySet<Fate> = new Set<Fate>(['folded', 'removed', 'shape']);

/** Nodes that no layer names: members of a ForeignNode that no kernel mentions, and those that are not computed. */
function addWithoutLayer(report: FusionReport, computed: number[], units: FusionUnit[], group: GroupMaker): void {
  report.nodes.forEach(({ fate, foreignNode, exact }, node) => {
    if ((computed[node] ?? 0) > 0) return;
    const own =
      fate === 'foreign' && foreignNode !== null
        ? foreignGroup(report, foreignNode, group)
        : group(`fate-${fate}`, () => ({
            kind: fate,
            foreignNode: null,
            label: fateWordsOf(report)[fate].label,
            exact: true,
            selection: { kind: 'fate', fate },
          }));
    // What needs no layer is drawn alike, whether TensorRT says so or it follows: the reader need not act.
    units.push({ node, layer: null, group: own, ms: 0, count: 1, exact: exact || uncomputed.has(fate) });
  });
}

/** Computed groups as they came; those without layers after them, the unknown last. */
function inOrder(groups: UnitGroup[]): UnitGroup[] {
  const rank = ({ id }: UnitGroup): number =>
    id.startsWith('fate-') ? 1 + fateOrder.indexOf(id.slice('fate-'.length) as Fate) : 0;
  return groups.toSorted((a, b) => rank(a) - rank(b));
}

/** The units of the layers in a range; null: all units. */
export function unitsInRange(found: FusionUnits, range: LayerRange | null): FusionUnits {
  if (range === null) return found;
  const inside = ({ layer }: FusionUnit) => layer !== null && layer >= range.first && layer <= range.last;
  return { ...found, units: found.units.filter(inside) };
}

/** Weight of a unit in milliseconds or nodes. */
export const weightOf = (unit: FusionUnit, weight: Weight): number => (weight === 'time' ? unit.ms : unit.count);

/** Whether a unit belongs to what is selected: exactly it, not everything that shares a kernel with it. */
export function unitMatcher(report: FusionReport, selection: PanelSelection): (unit: FusionUnit) => boolean {
  switch (selection.kind) {
    case 'none':
      return () => false;
    case 'nodes': {
      const ids = new Set(selection.ids);
      return ({ node }) => node !== null && ids.has(report.nodes[node]?.id ?? '');
    }
    case 'layers': {
      const ids = new Set(selection.ids);
      return ({ layer }) => layer !== null && ids.has(report.layers[layer]?.id ?? -1);
    }
    case 'foreignNode':
      return ({ group }) => group === `foreign-${selection.id}`;
    case 'fate':
      return ({ node }) => node !== null && report.nodes[node]?.fate === selection.fate;
  }
}

/** Units sorted into lists by what `key` gives, in order of first sight. */
export function unitsBy<K>(units: readonly FusionUnit[], key: (unit: FusionUnit) => K): Map<K, FusionUnit[]> {
  const lists = new Map<K, FusionUnit[]>();
  for (const unit of units) {
    const own = key(unit);
    addTo(lists, own, unit);
  }
  return lists;
}

export const sumOf = (units: readonly FusionUnit[], weight: Weight): number =>
  units.reduce((sum, unit) => sum + weightOf(unit, weight), 0);

/** Ids of the layers that units belong to. */
export const layerIdsOf = (report: FusionReport, units: readonly FusionUnit[]): number[] => [
  ...new Set(units.flatMap(({ layer }) => (layer === null ? [] : (report.layers[layer]?.id ?? [])))),
];

/** One engine layer or kernel as a line of a table. */
export interface LayerRow {
  /** Position in the order of execution. */
  position: number;
  layer: ReportLayer;
  name: string;
  /** Nodes that it computes, completely or in part. */
  nodes: number;
  /** What these are, by module: `blocks.0/attn: MatMul + Softmax`; '' without nodes. */
  computes: string;
  /** Types of what it writes, widest use first: `fp16`, `fp16, fp32`; '' where the layer info does not say. */
  precision: string;
  /** Memory layouts of what it writes; '' where the layer info does not say. */
  formats: string;
  ms: number | null;
  /** Percent of the engine's time; null without a profile. */
  share: number | null;
  /** Bytes of the tensors that it reads and writes, weights excluded; null where a size or type is not known. */
  bytes: number | null;
  /** Bytes of the largest of them; null where the size or type of one is not known. */
  largest: number | null;
}

/**
 * Every layer and kernel of a report, in the order of execution. The times add up to those of the layers.
 * @param paths the modules of each node of the report
 */
export function toLayerRows(report: FusionReport, paths: readonly string[][] = []): LayerRow[] {
  const whole = engineMs(report);
  const positions = new Map(report.nodes.map(({ id }, position) => [id, position]));
  const computesOf = ({ nodes }: ReportLayer): string => {
    const ops = new Map<string, string[]>();
    for (const id of nodes) {
      const at = positions.get(id);
      if (at !== undefined) addTo(ops, placeText(paths[at] ?? []), report.nodes[at]!.op);
    }
    const texts = [...ops].map(([place, own]) => (place === '' ? '' : `${place}: `) + opsLabel(own));
    const rest = texts.length - mostPlaces;
    return [...texts.slice(0, mostPlaces), ...(rest > 0 ? [`${rest} more`] : [])].join(' · ');
  };
  return report.layers.map((layer, position): LayerRow => {
    const ms = layerMs(report, layer);
    return {
      position,
      layer,
      name: layerLabel(layer),
      nodes: layer.nodes.length,
      computes: computesOf(layer),
      precision: distinct(layer.outputs.map(tensorPrecision)),
      // Inside ForeignNodes TensorRT writes the type in the place of a format.
      formats: distinct(layer.outputs.map(({ format, type }) => (format === type ? null : format))),
      ms,
      share: ms === null || whole === null || whole <= 0 ? null : (100 * ms) / whole,
      bytes: tensorBytes([...layer.inputs, ...layer.outputs]),
      largest: largestOf([...layer.inputs, ...layer.outputs]),
    };
  });
}

/** Modules that a cell names. */
const mostPlaces = 3;

/** `blocks`, `blocks.0`, `attn` are `blocks.0/attn`: exporters repeat the parent's name. */
const placeText = (path: readonly string[]): string =>
  path.filter((part, at) => path[at + 1]?.startsWith(`${part}.`) !== true).join('/');

/** The columns of the table of layers. */
export const layerColumns: readonly TableColumn<LayerRow>[] = [
  column('position', 'Order', 'number', ({ position }) => position, 'Position in the order of execution, from 0'),
  { ...column('name', 'Name', 'text', ({ name }) => name, 'Layer or kernel, as TensorRT names it'), keepsEnd: true },
  {
    ...column('computes', 'Computes', 'text', ({ computes }) => computes || null, 'Nodes of the model, by module'),
    optional: true,
  },
  column('ms', 'Time', 'ms', ({ ms }) => ms, 'Average time; without a profile not known'),
  saving('savedMs', 'Time Saved', 'ms', ({ ms }) => ms, 'Time of its nodes in the other build, less its own'),
  saving('savedLaunches', 'Launches Saved', 'number', ({ launches }) => launches, 'Its nodes, less its kernels'),
  saving('savedBytes', 'Bytes Saved', 'bytes', ({ bytes }) => bytes, 'Tensors that stay inside this kernel'),
  traced('p50', 'p50', 'ms', ({ layer }) => layer.p50, 'Median time of a pass'),
  traced('p90', 'p90', 'ms', ({ layer }) => layer.p90, 'Time that 90 % of the passes do not exceed'),
  traced('p99', 'p99', 'ms', ({ layer }) => layer.p99, 'Time that 99 % of the passes do not exceed'),
  column('share', 'Share', 'percent', ({ share }) => share, 'Share of the time of the whole engine'),
  traced(
    'launches',
    'Launches',
    'number',
    ({ layer }) => layer.launches,
    'Kernels that it launched in the whole trace',
  ),
  traced(
    'launchMs',
    'Launch',
    'ms',
    ({ layer }) => layer.launchP50 ?? layer.launchMs,
    'Median time of the host in a call that launched a kernel of it, without the first pass',
  ),
  traced(
    'gap',
    'Gap Before',
    'ms',
    ({ layer }) => layer.gapMs,
    'Time in the median pass in which no kernel ran, before those of the layer',
  ),
  column('nodes', 'Nodes', 'number', ({ nodes }) => nodes, 'ONNX nodes that it computes, completely or in part'),
  column('type', 'Type', 'text', ({ layer }) => layer.type || null, 'Type of the layer, as TensorRT names it'),
  column('precision', 'Precision', 'text', ({ precision }) => precision || null, 'Types of the tensors that it writes'),
  column('tactic', 'Tactic', 'text', ({ layer }) => layer.tactic, 'Name or number of the kernel that runs it'),
  column('formats', 'Formats', 'text', ({ formats }) => formats || null, 'Memory layouts of the tensors it writes'),
  counter('sm', 'SM', 'Throughput of the multiprocessors, of what the GPU can do'),
  counter('dram', 'Memory', 'Throughput of the GPU’s memory, of what it can do'),
  counter('tensor', 'Tensor Cores', 'Use of the tensor cores'),
  counter('occupancy', 'Occupancy', 'Warps that are active, of those that fit'),
  column('bytes', 'Bytes', 'bytes', ({ bytes }) => bytes, 'Size of the tensors that it reads and writes, no weights'),
  column(
    'largest',
    'Largest Tensor',
    'bytes',
    ({ largest }) => largest,
    'Size of the largest tensor that it reads or writes',
  ),
];

/** A column of what only a second build says. */
function saving(
  id: string,
  title: string,
  kind: TableColumn<LayerRow>['kind'],
  value: (saved: LayerSaving) => number | null,
  meaning: string,
): TableColumn<LayerRow> {
  const valueOf = ({ layer }: LayerRow): number | null => (layer.saved ? value(layer.saved) : null);
  return { ...column(id, title, kind, valueOf, `${meaning}; only with --marked`), optional: true };
}

/** A column of what only Nsight Compute says. */
function counter(id: keyof LayerCounters, title: string, meaning: string): TableColumn<LayerRow> {
  return {
    ...column(
      id,
      title,
      'percent',
      ({ layer }) => layer.counters?.[id] ?? null,
      `${meaning}; only from Nsight Compute`,
    ),
    optional: true,
  };
}

/** A column of what only a trace says. */
function traced(
  id: string,
  title: string,
  kind: TableColumn<LayerRow>['kind'],
  value: (row: LayerRow) => number | undefined,
  meaning: string,
): TableColumn<LayerRow> {
  return { ...column(id, title, kind, (row) => value(row) ?? null, `${meaning}; only from a trace`), optional: true };
}

function column(
  id: string,
  title: string,
  kind: TableColumn<LayerRow>['kind'],
  value: (row: LayerRow) => Cell,
  meaning: string,
): TableColumn<LayerRow> {
  return { id, title, kind, value, meaning };
}

const distinct = (values: (string | null)[]): string =>
  [...new Set(values.filter((value) => value !== null))].join(', ');

function largestOf(tensors: readonly EngineTensor[]): number | null {
  const sizes = tensors.map((tensor) => tensorBytes([tensor]));
  return sizes.length === 0 || sizes.includes(null) ? null : Math.max(...sizes.map(Number));
}

/** Words before a colon that say where to look; without one, names, types, tactics and nodes are searched. */
export const layerFields = ['op', 'name', 'node', 'layer', 'kernel', 'group', 'fate', 'dtype', 'type'] as const;
type Field = (typeof layerFields)[number];

/** Fields that must match as a whole. */
const wholeFields: ReadonlySet<Field | null> = new Set(['op', 'fate', 'dtype'] as const);

/** The rows that match, and what is wrong with the query, as text ('': nothing). */
export interface FilteredRows {
  rows: LayerRow[];
  problem: string;
}

/**
 * The layers that match all words of a query, written as in the graph's search: `softmax`, `op:MatMul`,
 * `kernel:gemm`, `dtype:fp16`, `group:0`, `fate:fused`, `node:/^.blocks\.3/`. '' matches everything.
 */
export function filterLayers(report: FusionReport, rows: readonly LayerRow[], query: string): FilteredRows {
  const tests: { field: Field | null; match: Match }[] = [];
  for (const word of wordsOf(query)) {
    const at = word.indexOf(':');
    const field = layerFields.find((name) => name === word.slice(0, Math.max(0, at)).toLowerCase()) ?? null;
    const text = field === null ? word : word.slice(at + 1);
    if (text === '') continue;
    const match = matcher(text, wholeFields.has(field));
    if (match === null) return { rows: [...rows], problem: `${text} is not a regular expression` };
    tests.push({ field, match });
  }
  if (tests.length === 0) return { rows: [...rows], problem: '' };
  const nodes = new Map(report.nodes.map((node) => [node.id, node]));
  const ofNodes = ({ layer }: LayerRow, found: (node: FusionReport['nodes'][number]) => boolean) =>
    layer.nodes.some((id) => {
      const node = nodes.get(id);
      return node !== undefined && found(node);
    });
  const matches = (row: LayerRow, field: Field | null, match: Match): boolean => {
    const { name, type, tactic, foreignNode } = row.layer;
    switch (field) {
      case null:
        return (
          match(name) ||
          match(type) ||
          match(tactic ?? '') ||
          ofNodes(row, (node) => match(node.name) || match(node.op))
        );
      case 'name':
      case 'layer':
        return match(name);
      case 'kernel':
        return match(tactic ?? '') || (row.layer.kind === 'kernel' && match(name));
      case 'type':
        return match(type);
      case 'group':
        return foreignNode !== null && (match(numberOf(report, foreignNode)) || match(String(foreignNode)));
      case 'dtype':
        return row.precision.split(', ').some((one) => one !== '' && match(one));
      case 'op':
        return ofNodes(row, ({ op }) => match(op));
      case 'node':
        return ofNodes(row, (node) => match(node.name));
      case 'fate':
        return ofNodes(row, ({ fate }) => match(fate));
    }
  };
  return { rows: rows.filter((row) => tests.every(({ field, match }) => matches(row, field, match))), problem: '' };
}
