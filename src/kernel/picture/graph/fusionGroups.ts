// Which nodes are drawn as one; graphs of engines without a model.
import { addTo } from '../../base/addTo.ts';
import type { EngineLayer, EngineTensor } from '../../read/tensorrt/buildOutput.ts';
import type { EngineReport } from '../../fusion/createReport.ts';
import type { Fate, FusionReport, ReportLayer, ReportNode } from '../../fusion/fusionReport.ts';
import { layerOf } from '../../report/words.ts';
import type { GraphIndex } from './graphIndex.ts';
import type { Hierarchy } from './hierarchy.ts';
import { colorGroups } from './internal/colorGroups.ts';
import { layerOrigin } from './internal/layerOrigin.ts';
import type { GraphData, GraphNode, GraphTensor, PanelSelection } from './viewData.ts';

/** A FusionGroup as the graph draws it: nodes that TensorRT computes as one, within a boundary. */
export interface DrawnGroup {
  /** `foreign:0`, `layer:12`. */
  id: string;
  kind: 'foreign' | 'fused' | 'single';
  /** Id of the ForeignNode or of the layer in the report. */
  ref: number;
  points: number[];
  /** How many nodes it has in the model, of which `points` may be a part. */
  whole: number;
  /** Its engine layers: a ForeignNode's kernels, or the one layer. */
  layers: number[];
  /** false: TensorRT did not name every member, the rest is derived from the graph. */
  exact: boolean;
  averageMs: number | null;
  /** A loadable of the DLA. */
  device?: 'dla' | undefined;
  /** 0 … 7 a hue, 8 … 15 its other shade; never the same for two groups that an edge joins. */
  color: number;
}

/** Nodes of one kernel inside a ForeignNode. */
export interface KernelGroup {
  layer: number;
  group: number;
  points: number[];
}

export interface FusionGroups {
  /** ForeignNodes first, then layers, both in the report's order. */
  groups: DrawnGroup[];
  /** The group of each point, -1 for none. */
  groupOf: Int32Array;
  kernels: KernelGroup[];
  /** The kernels as groups with colors of their own, in their order, where one ForeignNode around everything says nothing. */
  kernelGroups: DrawnGroup[] | null;
  /** How many kernels each ForeignNode has, those without nodes included; none for one that is a single opaque layer. */
  kernelCounts: Map<number, number>;
  /** null if there is no report, or no word about this node. */
  fateOf: (Fate | null)[];
  /** Position in the report's nodes, -1 for none. */
  reportOf: Int32Array;
}

/** The groups of a report on its graph. Without a report everything is empty. Ids that one side lacks are omitted. */
export function fusionGroups(graph: GraphIndex, report: FusionReport | null): FusionGroups {
  const result: FusionGroups = {
    groups: [],
    groupOf: new Int32Array(graph.points).fill(-1),
    kernels: [],
    kernelGroups: null,
    kernelCounts: new Map(),
    fateOf: Array.from({ length: graph.points }, () => null),
    reportOf: new Int32Array(graph.points).fill(-1),
  };
  if (report === null) return result;
  report.nodes.forEach(({ id, fate }, i) => {
    const point = graph.byId.get(id);
    if (point === undefined) return;
    result.fateOf[point] = fate;
    result.reportOf[point] = i;
  });
  const fates = new Map(report.nodes.map(({ id, fate }) => [id, fate]));
  const count = (ids: readonly string[], ...wanted: Fate[]) =>
    ids.filter((id) => wanted.includes(fates.get(id) ?? 'unknown')).length;
  addForeignNodes(graph, report, result, count);
  addLayers(graph, report, result, count);
  const colors = colorGroups(graph, result.groups, result.groupOf);
  result.groups.forEach((group, i) => (group.color = colors[i]!));
  result.kernelGroups = kernelGroups(graph, report, result);
  return result;
}

/** A ForeignNode with more of the computing nodes than this is the whole model. */
const almostAll = 0.9;

function kernelGroups(graph: GraphIndex, report: FusionReport, { groups, kernels }: FusionGroups): DrawnGroup[] | null {
  const computing = groups.reduce((sum, { points }) => sum + points.length, 0);
  const whole = groups.findIndex(({ kind, points }) => kind === 'foreign' && points.length > almostAll * computing);
  if (whole < 0 || kernels.length < 2) return null;
  const colors = colorGroups(
    graph,
    kernels.map(({ layer }) => ({ kind: 'foreign', ref: layer })),
    kernelOfPoints(graph, kernels),
  );
  return kernels.map(({ layer, points }, i) => ({
    id: `layer:${layer}`,
    kind: points.length > 1 ? 'fused' : 'single',
    ref: layer,
    points,
    whole: points.length,
    layers: [layer],
    exact: true,
    averageMs: layerOf(report, layer)?.averageMs ?? null,
    color: colors[i]!,
  }));
}

/** The position in `kernels` of the first kernel of each point; -1 for none. */
export function kernelOfPoints(graph: GraphIndex, kernels: readonly KernelGroup[]): Int32Array {
  const kernelOf = new Int32Array(graph.points).fill(-1);
  kernels.forEach(({ points }, kernel) => {
    for (const point of points) if (kernelOf[point] === -1) kernelOf[point] = kernel;
  });
  return kernelOf;
}

const pointsOf = (graph: GraphIndex, ids: string[]): number[] =>
  ids.map((id) => graph.byId.get(id)).filter((point) => point !== undefined);

/** The id of the group that a selection is about; '' for none or several. */
export function selectedGroup(selection: PanelSelection): string {
  if (selection.kind === 'foreignNode') return `foreign:${selection.id}`;
  return selection.kind === 'layers' && selection.ids.length === 1 ? `layer:${selection.ids[0]}` : '';
}

/** How many of some nodes of the model have one of these fates. */
type Count = (ids: readonly string[], ...wanted: Fate[]) => number;

function addForeignNodes(graph: GraphIndex, report: FusionReport, result: FusionGroups, count: Count): void {
  for (const { id, nodes, exact, layers, averageMs, device } of report.foreignNodes) {
    const points = pointsOf(graph, nodes).filter((point) => result.fateOf[point] === 'foreign');
    if (points.length === 0) continue;
    const index = result.groups.length;
    const own = { id: `foreign:${id}`, kind: 'foreign', ref: id, points, whole: count(nodes, 'foreign') } as const;
    result.groups.push({ ...own, layers, exact, averageMs, ...(device && { device }), color: 0 });
    for (const point of points) if (result.groupOf[point] === -1) result.groupOf[point] = index;
    const kernels = layers.filter((layer) => layerOf(report, layer)?.kind !== 'foreign');
    result.kernelCounts.set(id, kernels.filter((layer) => layerOf(report, layer)?.kind === 'kernel').length);
    for (const layer of kernels) {
      const members = pointsOf(graph, layerOf(report, layer)?.nodes ?? []).filter(
        (point) => result.groupOf[point] === index,
      );
      if (members.length > 0) result.kernels.push({ layer, group: index, points: members });
    }
  }
}

function addLayers(graph: GraphIndex, report: FusionReport, result: FusionGroups, count: Count): void {
  for (const layer of report.layers) {
    if (layer.foreignNode !== null || layer.nodes.length === 0) continue;
    const points = pointsOf(graph, layer.nodes).filter(
      (point) => result.fateOf[point] === 'fused' || result.fateOf[point] === 'single',
    );
    if (points.length === 0) continue;
    const whole = count(layer.nodes, 'fused', 'single');
    const index = result.groups.length;
    result.groups.push({
      id: `layer:${layer.id}`,
      kind: whole > 1 ? 'fused' : 'single',
      ref: layer.id,
      points,
      whole,
      layers: [layer.id],
      exact: !layer.evidence.includes('reach'),
      averageMs: layer.averageMs,
      color: 0,
    });
    for (const point of points) if (result.groupOf[point] === -1) result.groupOf[point] = index;
  }
}

/** Which blocks of repetitions TensorRT treated differently from most of their siblings. */
export interface Outliers {
  /** Positions of modules: blocks that differ. */
  blocks: Set<number>;
  /** For each `repeat` how many of its blocks differ. */
  counts: Map<number, number>;
}

/**
 * Compares the blocks of every repetition: the same operators with the same fates, sharing kernels and groups in the
 * same way, are alike. The pattern of most blocks is the rule, the earlier one of two that are equally frequent.
 */
export function findOutliers(
  hierarchy: Hierarchy,
  ops: (point: number) => string,
  fusion: FusionGroups,
  kernelOf: Int32Array,
): Outliers {
  const result: Outliers = { blocks: new Set(), counts: new Map() };
  const { modules } = hierarchy;
  modules.forEach((module, index) => {
    // A run inside a repetition is judged with it.
    if (module.kind !== 'repeat' || modules[module.parent]?.kind === 'repeat') return;
    const blocks = blocksOf(hierarchy, index);
    const patterns = blocks.map((block) => patternOf(hierarchy, block, ops, fusion, kernelOf));
    const counts = new Map<string, number>();
    for (const pattern of patterns) counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
    let usual = '';
    for (const [pattern, count] of counts) if (count > (counts.get(usual) ?? 0)) usual = pattern;
    blocks.forEach((block, i) => {
      if (patterns[i] !== usual) result.blocks.add(block);
    });
  });
  modules.forEach(({ kind }, index) => {
    if (kind === 'repeat')
      result.counts.set(index, blocksOf(hierarchy, index).filter((block) => result.blocks.has(block)).length);
  });
  return result;
}

/** The blocks of a repetition, those in runs included, in order. */
export function blocksOf({ modules }: Pick<Hierarchy, 'modules'>, index: number): number[] {
  return modules[index]!.modules.flatMap((child) =>
    modules[child]!.kind === 'repeat' ? blocksOf({ modules }, child) : [child],
  );
}

function patternOf(
  hierarchy: Hierarchy,
  block: number,
  ops: (point: number) => string,
  fusion: FusionGroups,
  kernelOf: Int32Array,
): string {
  const { start, end } = hierarchy.modules[block]!;
  const kernels = new Map<number, number>();
  const groups = new Map<number, number>();
  const local = (map: Map<number, number>, value: number): number => {
    if (value < 0) return -1;
    const known = map.get(value) ?? map.size;
    map.set(value, known);
    return known;
  };
  const points = hierarchy.sequence.slice(start, end).sort();
  const parts: string[] = [];
  for (const point of points) {
    parts.push(
      `${ops(point)} ${fusion.fateOf[point] ?? ''} ${local(groups, fusion.groupOf[point]!)} ${local(kernels, kernelOf[point]!)}`,
    );
  }
  return parts.join('\n');
}

/** Closed loops of corners (x, y in turn) around an area; loops around holes run the other way round. */
export type Outline = number[][];

/** Sides of boxes that are closer together than this become one side: no steps too small to mean anything. */
const snap = 6;

interface Span {
  from: number;
  to: number;
}

/**
 * The outline of the union of boxes (x, y, width, height in turn), each enlarged by a margin on all sides. All sides
 * are horizontal or vertical; corners follow each other clockwise.
 */
export function unionOutline(boxes: ArrayLike<number>, margin: number): Outline {
  const [lefts, tops, rights, bottoms]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let i = 0; i < boxes.length; i += 4) {
    lefts.push(boxes[i]! - margin);
    tops.push(boxes[i + 1]! - margin);
    rights.push(boxes[i]! + boxes[i + 2]! + margin);
    bottoms.push(boxes[i + 1]! + boxes[i + 3]! + margin);
  }
  const outward = [snapped(lefts, -1), snapped(tops, -1), snapped(rights, 1), snapped(bottoms, 1)] as const;
  return loops(sides(...outward));
}

/** Moves values that are nearly the same to the outermost of them; `sign` says where out is. */
function snapped(values: number[], sign: 1 | -1): number[] {
  const order = values.map((_, i) => i).sort((a, b) => sign * (values[b]! - values[a]!));
  const result = [...values];
  let outermost = Number.NaN;
  for (const i of order) {
    if (!(Math.abs(values[i]! - outermost) < snap)) outermost = values[i]!;
    result[i] = outermost;
  }
  return result;
}

type Side = [x0: number, y0: number, x1: number, y1: number];

/** The sides of the union, directed so that the area is on their right. */
function sides(lefts: number[], tops: number[], rights: number[], bottoms: number[]): Side[] {
  const heights = [...new Set([...tops, ...bottoms])].sort((a, b) => a - b);
  const byTop = tops.map((_, i) => i).sort((a, b) => tops[a]! - tops[b]!);
  const result: Side[] = [];
  let active: number[] = [];
  let next = 0;
  let above: Span[] = [];
  for (const [strip, top] of heights.entries()) {
    active = active.filter((box) => bottoms[box]! > top);
    for (; next < byTop.length && tops[byTop[next]!]! <= top; next++) active.push(byTop[next]!);
    const spans = merged(active.map((box) => ({ from: lefts[box]!, to: rights[box]! })));
    for (const { from, to } of without(spans, above)) result.push([from, top, to, top]);
    for (const { from, to } of without(above, spans)) result.push([to, top, from, top]);
    const bottom = heights[strip + 1];
    if (bottom !== undefined) {
      for (const { from, to } of spans) result.push([from, bottom, from, top], [to, top, to, bottom]);
    }
    above = spans;
  }
  return result;
}

function merged(spans: Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.sort((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else result.push({ ...span });
  }
  return result;
}

/** What of some spans is in none of others; both sorted and apart. */
function without(spans: Span[], others: Span[]): Span[] {
  const result: Span[] = [];
  for (const { from, to } of spans) {
    let at = from;
    for (const other of others) {
      if (other.to <= at || other.from >= to) continue;
      if (other.from > at) result.push({ from: at, to: other.from });
      at = other.to;
    }
    if (at < to) result.push({ from: at, to });
  }
  return result;
}

/** Puts directed sides together to loops, without corners in the middle of a straight side. */
function loops(all: Side[]): Outline {
  const leaving = new Map<string, Side[]>();
  const key = (x: number, y: number) => `${x} ${y}`;
  for (const side of all) {
    const at = key(side[0], side[1]);
    addTo(leaving, at, side);
  }
  const result: Outline = [];
  for (const first of all) {
    const loop: number[] = [];
    for (let side: Side | undefined = first; side !== undefined;) {
      const from: Side[] = leaving.get(key(side[0], side[1]))!;
      const taken = from.indexOf(side);
      if (taken < 0) break;
      from.splice(taken, 1);
      loop.push(side[0], side[1]);
      side = next(side, leaving.get(key(side[2], side[3])) ?? []);
    }
    if (loop.length > 0) result.push(straightened(loop));
  }
  return result;
}

/** Where two areas touch in a corner, the turn to the right stays with its own area. */
function next([x0, y0, x1, y1]: Side, onward: Side[]): Side | undefined {
  const turn = ([a, b, c, d]: Side): number => Math.sign((x1 - x0) * (d - b) - (y1 - y0) * (c - a));
  return onward.toSorted((a, b) => turn(b) - turn(a))[0];
}

function straightened(loop: number[]): number[] {
  const result: number[] = [];
  for (let i = 0; i < loop.length; i += 2) {
    const [x, y] = [loop[i]!, loop[i + 1]!];
    const [px, py] = [loop.at(i - 2)!, loop.at(i - 1)!];
    const [nx, ny] = [loop[(i + 2) % loop.length]!, loop[(i + 3) % loop.length]!];
    if (!((px === x && nx === x) || (py === y && ny === y))) result.push(x, y);
  }
  return result;
}

/** Longest value of a layer's parameter that is shown. */
const longestValue = 120;

/** Names of nodes that an attribute lists. */
const mostNodes = 12;

/**
 * An engine in the form that the views draw models in: each layer is a node of the graph, each tensor of the engine an
 * edge. In the report for the views, `nodes` and `accounting` are therefore those layers, not ONNX nodes; everything
 * else, `subject` too, is the engine's report. Modules come from the names that TensorRT gives for each layer.
 */
export function engineGraph({ report, layers, bindings }: EngineReport): { graph: GraphData; report: FusionReport } {
  const tensors = new Map<string, GraphTensor>();
  const written = new Set<string>();
  for (const layer of layers) {
    for (const tensor of [...layer.outputs, ...layer.inputs])
      if (!tensors.has(tensor.name)) tensors.set(tensor.name, graphTensor(tensor));
    for (const { name } of layer.outputs) written.add(name);
  }
  const ports = (names: readonly string[]) =>
    names.map((name): GraphTensor => tensors.get(name) ?? { name, type: null, shape: null, initializer: false });
  const graph: GraphData = {
    name: report.model.file,
    nodes: layers.map((layer, index) => graphNode(layer, report.layers[index]!)),
    inputs: ports(bindings.filter((name) => !written.has(name) && tensors.has(name))),
    outputs: ports(bindings.filter((name) => written.has(name))),
    tensors: [...tensors.values()],
    inExecutionOrder: true,
  };
  const nodes = report.layers.map((layer, index) => reportNode(layer, graph.nodes[index]!));
  return { graph, report: withNodes(report, nodes) };
}

function withNodes(report: FusionReport, nodes: ReportNode[]): FusionReport {
  const count = (fate: Fate) => nodes.filter((node) => node.fate === fate).length;
  return {
    ...report,
    model: { ...report.model, nodes: nodes.length },
    layers: report.layers.map((layer) => ({
      ...layer,
      kind: layer.kind === 'other' ? 'single' : layer.kind,
      nodes: [String(layer.id)],
    })),
    foreignNodes: report.foreignNodes.map((foreign) => ({
      ...foreign,
      nodes: foreign.layers.map(String),
      exact: true,
    })),
    nodes,
    accounting: { ...report.accounting, total: nodes.length, foreign: count('foreign'), single: count('single') },
  };
}

function reportNode({ id, name, foreignNode, metadata }: ReportLayer, { op }: GraphNode): ReportNode {
  return {
    id: String(id),
    name,
    op,
    fate: foreignNode === null ? 'single' : 'foreign',
    layers: [id],
    foreignNode,
    exact: true,
    reason:
      metadata === undefined
        ? 'TensorRT does not say which ONNX nodes it computes.'
        : `TensorRT names the ONNX nodes that it computes: ${listed(layerOrigin({ name, metadata }).nodes)}.`,
  };
}

const listed = (names: readonly string[]): string =>
  names.length <= mostNodes
    ? names.join(', ')
    : `${names.slice(0, mostNodes).join(', ')} and ${names.length - mostNodes} more`;

function graphNode(layer: EngineLayer, { id, kind }: ReportLayer): GraphNode {
  const { scope, label } = layerOrigin(layer);
  const attributes = [
    ...formatsOf('Input', layer.inputs),
    ...formatsOf('Output', layer.outputs),
    ...(layer.streamId === null ? [] : [{ name: 'Stream', value: String(layer.streamId) }]),
    ...Object.entries(layer.extra).map(([name, value]) => ({ name, value: valueText(value) })),
  ];
  return {
    id: String(id),
    name: layer.name,
    op: layer.type !== '' ? layer.type : typeNames[kind],
    domain: '',
    inputs: [...new Set(layer.inputs.map(({ name }) => name))],
    outputs: [...new Set(layer.outputs.map(({ name }) => name))],
    attributes,
    scope,
    label,
  };
}

/** For layers of which only the name was recorded. */
const typeNames: Readonly<Record<ReportLayer['kind'], string>> = {
  single: 'Layer',
  fused: 'Layer',
  foreign: 'ForeignNode',
  kernel: 'Kernel',
  reformat: 'Reformat',
  shape: 'Shape',
  constant: 'Constant',
  other: 'Layer',
};

/** `Input 0 format: Row major linear FP16 format`, where a format says more than the type. */
const formatsOf = (side: string, tensors: readonly EngineTensor[]): { name: string; value: string }[] =>
  tensors.flatMap(({ format, type }, index) =>
    format === null || format === type ? [] : [{ name: `${side} ${index} format`, value: format }],
  );

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length <= longestValue ? text : `${text.slice(0, longestValue - 1)}…`;
}

const graphTensor = ({ name, dims, type, format }: EngineTensor): GraphTensor => ({
  name,
  type: type ?? format,
  shape: dims === null ? null : dims.map((size) => (size < 0 ? null : size)),
  initializer: false,
  ...(format !== null && format !== type && { format }),
});
