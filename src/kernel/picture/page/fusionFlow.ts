// Flow and icicle.
import type { PanelSelection } from '../graph/viewData.ts';
import { counted } from '../../base/text.ts';
import type { Fate, FusionReport, LayerKind } from '../../fusion/fusionReport.ts';
import { reportGroups, layerLabel, nounOf } from '../../report/words.ts';
import {
  mergedModule,
  moduleEntries,
  type ModuleEntry,
  type ModuleNode,
  nodesBelow,
  single,
  toModuleTree,
} from '../graph/hierarchy.ts';
import { moduleRows } from './internal/moduleRows.ts';
import {
  type FusionUnit,
  type FusionUnits,
  kernelFamilies,
  type KernelFamily,
  layerIdsOf,
  sumOf,
  type UnitGroup,
  unitsBy,
  type Weight,
  weightOf,
} from './layerRows.ts';

export type FlowColumn = 'modules' | 'groups' | 'kernels';

/** A block in one of the three columns. */
export interface FlowItem {
  id: string;
  column: FlowColumn;
  label: string;
  /** A second name: TensorRT's for a kernel, how many alike for a family. */
  detail: string;
  kind: LayerKind | Fate | 'module';
  foreignNode: number | null;
  exact: boolean;
  ms: number;
  /** Whole nodes that have a part in it. */
  nodes: number;
  /** What the nodes are: `layer` where there is no model. */
  noun: 'node' | 'layer';
  /** Layers that have a part in it. */
  layers: number;
  /** Of its nodes, those whose place in it follows from the graph only. */
  derived: number;
  /** In the weight that was requested; never 0. */
  weight: number;
  selection: PanelSelection;
  /** What a click on its handle opens: an id for `FlowOptions.open`. null: nothing below it. */
  opens: string | null;
}

export interface FlowLink {
  from: string;
  to: string;
  weight: number;
  units: FusionUnit[];
  /** Part of the weight that is derived from the graph. */
  derived: number;
}

export interface FusionFlow {
  columns: Record<FlowColumn, FlowItem[]>;
  links: FlowLink[];
  /** Units of each item by id, for marking what is selected. */
  units: Map<string, FusionUnit[]>;
  /** Id of each node by the position that units give. */
  nodeIds: string[];
  /** Sum of the weights: the engine's milliseconds, or the model's nodes. */
  total: number;
}

export interface FlowOptions {
  weight: Weight;
  /** What the user opened, with how many of its parts to show; the rest is summed up as `n more`. */
  open: ReadonlyMap<string, number>;
  /** Most blocks a column shows by itself. */
  modules: number;
  groups: number;
  kernels: number;
}

export const flowDefaults: Omit<FlowOptions, 'weight' | 'open'> = { modules: 12, groups: 9, kernels: 18 };

/** Parts that opening something shows first, and that each `n more` adds. */
export const openedParts = 20;

type Counts = Pick<FlowItem, 'nodes' | 'layers' | 'derived'>;

interface Draft extends Omit<FlowItem, keyof Counts | 'ms' | 'weight' | 'noun'> {
  units: FusionUnit[];
}

/** Modules → groups → kernels with widths. `paths` are the nodes' modules (`modulePaths`). */
export function toFusionFlow(
  report: FusionReport,
  found: FusionUnits,
  paths: readonly string[][],
  options: FlowOptions,
): FusionFlow {
  const units = found.units.filter((unit) => weightOf(unit, options.weight) > 0);
  const total = sumOf(units, options.weight);
  const modules = moduleDrafts(report, units, paths, options);
  const groups = groupDrafts(found, units, options);
  const kernels = groups.flatMap((group) => kernelDrafts({ report, titles: found.titles, total, options }, group));
  const all = [modules, groups, kernels].map((drafts) => drafts.filter((draft) => draft.units.length > 0));
  const [left = [], middle = [], right = []] = all;
  const wholes = groupCounts(report, found);
  return {
    columns: {
      modules: left.map((draft) => toItem(report, draft, options.weight)),
      groups: middle.map((draft) => ({ ...toItem(report, draft, options.weight), ...wholes.get(draft.id) })),
      kernels: right.map((draft) => toItem(report, draft, options.weight)),
    },
    links: [...linksBetween(left, middle, options.weight), ...linksBetween(middle, right, options.weight)],
    units: new Map(all.flat().map((draft) => [draft.id, draft.units])),
    nodeIds: report.nodes.map(({ id }) => id),
    total,
  };
}

function toItem(report: FusionReport, { units, ...draft }: Draft, weight: Weight): FlowItem {
  const ms = units.reduce((sum, unit) => sum + unit.ms, 0);
  return { ...draft, ...countsOf(report, units), noun: nounOf(report), ms, weight: sumOf(units, weight) };
}

function countsOf(report: FusionReport, units: readonly FusionUnit[]): Counts {
  const nodes = new Set<number>();
  const layers = new Set<number>();
  const derived = new Set<number>();
  for (const { node, layer, exact } of units) {
    if (node !== null) nodes.add(node);
    if (node !== null && !exact) derived.add(node);
    if (layer !== null && report.layers[layer]?.kind !== 'foreign') layers.add(layer);
  }
  return { nodes: nodes.size, layers: layers.size, derived: derived.size };
}

/** Nodes and layers of each whole group: without the weight that not all of it has, and so that the nodes add up. */
function groupCounts(report: FusionReport, found: FusionUnits): Map<string, Counts> {
  const nodes = new Map<string, number>();
  for (const { kind, foreign, counted } of reportGroups(report)) {
    const id = foreign === null ? kind : `foreign-${foreign.id}`;
    nodes.set(id, (nodes.get(id) ?? 0) + counted.length);
  }
  const byGroup = unitsBy(found.units, ({ group }) => group);
  return new Map(
    [...byGroup].map(([id, units]) => {
      const counts = countsOf(report, units);
      return [`group:${id}`, { ...counts, nodes: nodes.get(id) ?? counts.nodes }];
    }),
  );
}

function linksBetween(from: Draft[], to: Draft[], weight: Weight): FlowLink[] {
  const owner = new Map<FusionUnit, string>();
  for (const { id, units } of from) for (const unit of units) owner.set(unit, id);
  const links = new Map<string, FlowLink>();
  for (const { id, units } of to) {
    for (const unit of units) {
      const source = owner.get(unit);
      if (source === undefined) continue;
      const key = `${source}\u0000${id}`;
      const link = links.get(key) ?? { from: source, to: id, weight: 0, units: [], derived: 0 };
      links.set(key, link);
      link.weight += weightOf(unit, weight);
      link.units.push(unit);
      if (!unit.exact) link.derived += weightOf(unit, weight);
    }
  }
  return [...links.values()];
}

/* Modules */

function moduleDrafts(
  report: FusionReport,
  units: FusionUnit[],
  paths: readonly string[][],
  options: FlowOptions,
): Draft[] {
  const byNode = unitsBy(units, ({ node }) => node ?? -1);
  const added = byNode.get(-1) ?? [];
  byNode.delete(-1);
  const kept = [...byNode.keys()].toSorted((a, b) => a - b);
  const tree = toModuleTree(paths, kept);
  const rows = moduleRows(tree, report.nodes, options.open, options.modules);
  const drafts = rows.map(({ id, label, detail, nodes, opens }): Draft => ({
    id: `module:${id}`,
    column: 'modules',
    label,
    detail,
    kind: 'module',
    foreignNode: null,
    exact: true,
    selection: { kind: 'nodes', ids: nodes.flatMap((node) => report.nodes[node]?.id ?? []) },
    opens,
    units: nodes.flatMap((node) => byNode.get(node) ?? []),
  }));
  if (added.length > 0) {
    drafts.push({
      id: 'module:added',
      column: 'modules',
      label: 'Added by TensorRT',
      detail: 'computes no node',
      kind: 'module',
      foreignNode: null,
      exact: true,
      selection: { kind: 'layers', ids: layerIdsOf(report, added) },
      opens: null,
      units: added,
    });
  }
  return drafts;
}

/* Groups */

function groupDrafts(
  { groups }: FusionUnits,
  units: FusionUnit[],
  { open, weight, groups: most }: FlowOptions,
): Draft[] {
  const byGroup = new Map<string, FusionUnit[]>(groups.map(({ id }) => [id, []]));
  for (const unit of units) byGroup.get(unit.group)?.push(unit);
  const drafts = groups
    .map(({ id, ...group }): Draft => ({
      ...group,
      id: `group:${id}`,
      column: 'groups',
      detail: '',
      opens: null,
      units: byGroup.get(id) ?? [],
    }))
    .filter((draft) => draft.units.length > 0);
  const foreign = drafts.filter(({ foreignNode }) => foreignNode !== null);
  const room = open.get('foreign') ?? Math.max(3, most - (drafts.length - foreign.length));
  if (foreign.length <= room + 1) return drafts;
  const weights = new Map(foreign.map((draft) => [draft, sumOf(draft.units, weight)]));
  const rest = new Set(foreign.toSorted((a, b) => (weights.get(b) ?? 0) - (weights.get(a) ?? 0)).slice(room));
  const more: Draft = {
    id: 'group:foreign-more',
    column: 'groups',
    label: counted(rest.size, 'more ForeignNode'),
    detail: '',
    kind: 'foreign',
    foreignNode: null,
    exact: [...rest].every(({ exact }) => exact),
    selection: { kind: 'none' },
    opens: 'foreign',
    units: [...rest].flatMap((draft) => draft.units),
  };
  const shown = drafts.filter((draft) => !rest.has(draft));
  const last = shown.findLastIndex(({ foreignNode }) => foreignNode !== null);
  return shown.toSpliced(last + 1, 0, more);
}

/* Kernels */

interface KernelContext {
  report: FusionReport;
  titles: readonly string[];
  total: number;
  options: FlowOptions;
}

/** A group's kernels as families, the largest ones by themselves; every group gets room by its share of the whole. */
function kernelDrafts({ report, titles, total, options }: KernelContext, group: Draft): Draft[] {
  const byLayer = unitsBy(group.units, ({ layer }) => layer ?? -1);
  const unnamed = byLayer.get(-1) ?? [];
  byLayer.delete(-1);
  const layers = [...byLayer.keys()].toSorted((a, b) => a - b);
  const families = kernelFamilies(report, group.id, layers, titles);
  const size = (positions: readonly number[]): number =>
    positions.reduce((sum, layer) => sum + sumOf(byLayer.get(layer) ?? [], options.weight), 0);
  const share = total > 0 ? sumOf(group.units, options.weight) / total : 0;
  const room = options.open.get(`more:${group.id}`) ?? Math.max(2, Math.round(options.kernels * share));
  const ranked = families.map((family) => ({ family, size: size(family.layers) })).toSorted((a, b) => b.size - a.size);
  const shown = new Set(
    ranked.slice(0, families.length <= room + 1 ? families.length : room).map(({ family }) => family),
  );
  const rest = families.filter((family) => !shown.has(family));
  const base = { column: 'kernels', kind: group.kind, foreignNode: group.foreignNode, exact: group.exact } as const;
  const draft = (id: string, label: string, detail: string, own: number[], opens: string | null): Draft => ({
    ...base,
    id,
    label,
    detail,
    kind: report.layers[own[0] ?? -1]?.kind ?? group.kind,
    selection: { kind: 'layers', ids: own.flatMap((layer) => report.layers[layer]?.id ?? []) },
    opens,
    units: own.flatMap((layer) => byLayer.get(layer) ?? []),
    exact: own.every((layer) => (byLayer.get(layer) ?? []).every(({ exact }) => exact)),
  });
  const drafts = families
    .filter((family) => shown.has(family))
    .flatMap((family) => familyDrafts(report, family, draft, titles, options));
  if (rest.length > 0) {
    const own = rest.flatMap((family) => family.layers);
    drafts.push(
      draft(
        `more:${group.id}`,
        `${rest.length} more kinds`,
        `${own.length} in ${group.label}`,
        own,
        `more:${group.id}`,
      ),
    );
  }
  if (group.id.startsWith('group:fate-')) return drafts;
  const whole = layers.length === 0;
  for (const [key, own] of unitsBy(unnamed, (unit) => (whole ? 'unnamed' : unnamedKind(report, unit)))) {
    const [label, detail] = whole ? [`${group.label} as a whole`, 'its kernels are not listed'] : unnamedWords[key];
    const ids = own.flatMap(({ node }) => (node === null ? [] : (report.nodes[node]?.id ?? [])));
    drafts.push({
      ...base,
      id: `${key}:${group.id}`,
      label,
      detail,
      selection: key === 'unnamed' ? group.selection : { kind: 'nodes', ids },
      opens: null,
      units: own,
    });
  }
  return drafts;
}

type UnnamedKind = 'view' | 'within' | 'unnamed';

/** What is known of a member of a ForeignNode that no kernel names. */
function unnamedKind(report: FusionReport, { node }: FusionUnit): UnnamedKind {
  const { view, within } = report.nodes[node ?? -1] ?? {};
  return view ? 'view' : within ? 'within' : 'unnamed';
}

const unnamedWords: Readonly<Record<UnnamedKind, readonly [label: string, detail: string]>> = {
  view: ['Changes no data', 'only shapes; no kernel names it'],
  within: ['One of 1 to 3 kernels', 'derived; no kernel names it'],
  unnamed: ['Kernel not known', ''],
};

type DraftMaker = (id: string, label: string, detail: string, own: number[], opens: string | null) => Draft;

function familyDrafts(
  report: FusionReport,
  family: KernelFamily,
  draft: DraftMaker,
  titles: readonly string[],
  { open }: FlowOptions,
): Draft[] {
  const [first] = family.layers;
  const one = (index: number): Draft => {
    const layer = report.layers[index];
    const label = titles[index] ?? '';
    return draft(`layer:${layer?.id ?? index}`, label, layer === undefined ? '' : layerLabel(layer), [index], null);
  };
  if (family.layers.length === 1 && first !== undefined) return [one(first)];
  const shown = open.get(family.id);
  const label = `${family.layers.length}× ${family.label}`;
  if (shown === undefined) return [draft(family.id, label, family.name, family.layers, family.id)];
  const count = family.layers.length <= shown + 1 ? family.layers.length : shown;
  const drafts = family.layers.slice(0, count).map(one);
  const rest = family.layers.slice(count);
  if (rest.length > 0) drafts.push(draft(`${family.id}:more`, `${rest.length} more`, family.label, rest, family.id));
  return drafts;
}

/** A cell of the icicle: modules above, then the group, then its kernels. Children's weights sum to the parent's. */
export interface IcicleCell {
  id: string;
  label: string;
  detail: string;
  kind: LayerKind | Fate | 'module' | 'model';
  foreignNode: number | null;
  exact: boolean;
  weight: number;
  selection: PanelSelection;
  units: FusionUnit[];
  children: IcicleCell[];
}

/** Levels of modules above the group, families counted as one. */
const moduleLevels = 3;
/** Larger families are shown as what their members have in common: hundreds of equal slivers say nothing. */
const mostMembers = 16;

interface Context {
  report: FusionReport;
  groups: Map<string, UnitGroup>;
  byNode: Map<number, FusionUnit[]>;
  titles: string[];
  weight: Weight;
}

/** The whole engine by module → group → kernel. Cells without weight are omitted. */
export function toFusionIcicle(
  report: FusionReport,
  found: FusionUnits,
  paths: readonly string[][],
  weight: Weight,
): IcicleCell {
  const units = found.units.filter((unit) => weightOf(unit, weight) > 0);
  const byNode = unitsBy(units, ({ node }) => node ?? -1);
  const added = byNode.get(-1) ?? [];
  byNode.delete(-1);
  const context: Context = {
    report,
    groups: new Map(found.groups.map((group) => [group.id, group])),
    byNode,
    titles: found.titles,
    weight,
  };
  const tree = toModuleTree(
    paths,
    [...byNode.keys()].toSorted((a, b) => a - b),
  );
  const children = insideOf(context, tree, 1);
  if (added.length > 0) {
    const selection: PanelSelection = { kind: 'layers', ids: layerIdsOf(report, added) };
    children.push({
      ...cell(context, 'added', 'Added by TensorRT', added),
      detail: 'computes no node',
      selection,
      children: groupCells(context, 'added', added),
    });
  }
  return { ...cell(context, 'model', report.model.file, units), kind: 'model', selection: { kind: 'none' }, children };
}

function cell({ report, weight }: Context, id: string, label: string, units: FusionUnit[]): IcicleCell {
  const nodes = new Set(units.flatMap(({ node }) => node ?? []));
  return {
    id,
    label,
    detail: '',
    kind: 'module',
    foreignNode: null,
    exact: true,
    weight: sumOf(units, weight),
    selection: { kind: 'nodes', ids: [...nodes].flatMap((node) => report.nodes[node]?.id ?? []) },
    units,
    children: [],
  };
}

const unitsOf = ({ byNode }: Context, nodes: readonly number[]): FusionUnit[] =>
  nodes.flatMap((node) => byNode.get(node) ?? []);

function insideOf(context: Context, module: ModuleNode, level: number): IcicleCell[] {
  const entries = moduleEntries(module, context.report.nodes);
  const cells = entries.map((entry) => entryCell(context, entry, level));
  if (module.own.length > 0) {
    const units = unitsOf(context, module.own);
    const id = `${module.path}//`;
    if (module.path === '') {
      cells.push({ ...cell(context, id, 'top level', units), children: groupCells(context, id, units) });
    } else cells.push(...groupCells(context, id, units));
  }
  return cells;
}

function entryCell(context: Context, entry: ModuleEntry, level: number): IcicleCell {
  const units = unitsOf(context, entry.members.flatMap(nodesBelow));
  const family = entry.members.length > 1;
  const [only] = entry.members;
  const own = cell(context, entry.id, entry.short, units);
  if (family) {
    own.detail = `×${entry.members.length}${entry.alike === true ? ', all alike' : ', fused differently'}`;
    own.children =
      entry.members.length <= mostMembers
        ? entry.members.map((member) => entryCell(context, single(member), level + 1))
        : insideOf(context, mergedModule(entry.id, entry.members), level + 1);
  } else if (only !== undefined && level < moduleLevels && only.children.length > 0) {
    own.children = insideOf(context, only, level + 1);
  } else own.children = groupCells(context, entry.id, units);
  return own;
}

function groupCells(context: Context, within: string, units: FusionUnit[]): IcicleCell[] {
  const byGroup = unitsBy(units, ({ group }) => group);
  return [...context.groups.values()].flatMap((group) => {
    const own = byGroup.get(group.id);
    if (own === undefined) return [];
    const id = `${within}>${group.id}`;
    const colors = { kind: group.kind, foreignNode: group.foreignNode, exact: own.every(({ exact }) => exact) };
    return [{ ...cell(context, id, group.label, own), ...colors, children: kernelCells(context, id, group, own) }];
  });
}

function kernelCells(context: Context, within: string, group: UnitGroup, units: FusionUnit[]): IcicleCell[] {
  const { report, titles } = context;
  const byLayer = unitsBy(units, ({ layer }) => layer ?? -1);
  const layers = [...byLayer.keys()].filter((layer) => layer >= 0).toSorted((a, b) => a - b);
  return kernelFamilies(report, within, layers, titles).map((family): IcicleCell => {
    const own = family.layers.flatMap((layer) => byLayer.get(layer) ?? []);
    const [first = -1] = family.layers;
    const layer = report.layers[first];
    const alone = family.layers.length === 1 && layer !== undefined;
    return {
      ...cell(context, `${within}>${first}`, family.label, own),
      kind: layer?.kind ?? group.kind,
      foreignNode: group.foreignNode,
      exact: own.every((unit) => unit.exact),
      detail: alone ? layerLabel(layer) : `×${family.layers.length}${family.name === '' ? '' : ` ${family.name}`}`,
      selection: { kind: 'layers', ids: family.layers.flatMap((index) => report.layers[index]?.id ?? []) },
    };
  });
}
