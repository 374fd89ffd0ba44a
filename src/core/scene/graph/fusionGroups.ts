import type { Fate, FusionReport } from '../../fusion/fusionReport.ts';
import { layerOf } from '../../report/layers.ts';
import type { PanelSelection } from '../panel/fusionPanel.ts';
import { colourGroups } from './colourGroups.ts';
import type { GraphIndex } from './graphIndex.ts';

/** Nodes that TensorRT computes as one: a boundary to draw. */
export interface FusionGroup {
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
  /** 0 … 7 a hue, 8 … 15 its other shade; never the same for two groups that an edge joins. */
  colour: number;
}

/** Nodes of one kernel inside a ForeignNode. */
export interface KernelGroup {
  layer: number;
  group: number;
  points: number[];
}

export interface FusionGroups {
  /** ForeignNodes first, then layers, both in the report's order. */
  groups: FusionGroup[];
  /** The group of each point, -1 for none. */
  groupOf: Int32Array;
  kernels: KernelGroup[];
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
  const colours = colourGroups(graph, result.groups, result.groupOf);
  result.groups.forEach((group, i) => (group.colour = colours[i]!));
  return result;
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
  for (const { id, nodes, exact, layers, averageMs } of report.foreignNodes) {
    const points = pointsOf(graph, nodes).filter((point) => result.fateOf[point] === 'foreign');
    if (points.length === 0) continue;
    const index = result.groups.length;
    const own = { id: `foreign:${id}`, kind: 'foreign', ref: id, points, whole: count(nodes, 'foreign') } as const;
    result.groups.push({ ...own, layers, exact, averageMs, colour: 0 });
    for (const point of points) if (result.groupOf[point] === -1) result.groupOf[point] = index;
    const kernels = layers.filter((layer) => layerOf(report, layer)?.kind !== 'foreign');
    result.kernelCounts.set(id, kernels.length);
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
      colour: 0,
    });
    for (const point of points) if (result.groupOf[point] === -1) result.groupOf[point] = index;
  }
}
