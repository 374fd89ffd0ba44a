import { counted } from '../../base/text.ts';
import { nodesInTogether, savedBy } from './fusionSavings.ts';
import type { FusionReport, ReportLayer, ReportNode } from '../fusionReport.ts';

/**
 * A report with what the fusion in each layer saved: launches and bytes as `findSavings` counts them, and time, against a
 * profile of a build in which the same nodes are in more kernels, such as one with marked tensors. The time of a kernel
 * there is divided equally among its nodes; a layer that shares a node with another has no time.
 */
export function withMarkedTimes(report: FusionReport, marked: FusionReport): FusionReport {
  const share = timeOfNodes(marked);
  const nameOf = namesIn(marked);
  const nodes = new Map(report.nodes.map((node) => [node.id, node]));
  const saved = savedBy(report);
  const { ratio, layers: same } = pace(report, share, nameOf, nodes);
  const scale = Math.abs(ratio - 1) > steady ? ratio : 1;
  const problems: FusionReport['problems'] =
    scale === 1
      ? []
      : [
          {
            severity: 'warning',
            code: 'other-pace',
            message: `Layers that are the same in both builds take ${ratio.toFixed(2)} times as long in the other one (median of ${counted(same, 'layer')}): its GPU, clock or load is another. Its times are divided by that. Profile both on the same idle GPU to be sure.`,
          },
        ];
  return {
    ...report,
    problems: [...report.problems, ...problems],
    layers: report.layers.map((layer) => {
      const own = nodesInTogether(layer, nodes);
      if (own.length < 2) return layer;
      const { launches, bytes } = saved(layer, own.length);
      return { ...layer, saved: { launches, bytes, ms: timeSaved(layer, own, { share, nameOf, scale }) } };
    }),
  };
}

/** Times of the same layers differ by no more where nothing but chance does. */
const steady = 0.1;
/** Fewer layers say nothing of the GPU. */
const enoughLayers = 5;

/** How much longer the other build takes for layers that compute the same nodes in both: the median. 1: not known. */
function pace(
  { layers }: FusionReport,
  share: ReadonlyMap<string, Apart>,
  nameOf: ReadonlyMap<string, string>,
  nodes: ReadonlyMap<string, ReportNode>,
): { ratio: number; layers: number } {
  const ratios = layers.flatMap(({ averageMs, nodes: own }) => {
    const apart = own.map((id) => share.get(nameOf.get(nodes.get(id)?.name ?? '') ?? ''));
    const there = new Set(apart.flatMap((one) => [...(one?.layers ?? [])]));
    const [first] = apart;
    if (!averageMs || there.size !== 1 || first?.together !== own.length) return [];
    const sum = apart.reduce((all, one) => all + (one?.ms ?? Number.NaN), 0);
    return Number.isFinite(sum) ? [sum / averageMs] : [];
  });
  const sorted = ratios.toSorted((a, b) => a - b);
  return { ratio: sorted.length < enoughLayers ? 1 : sorted[sorted.length >> 1]!, layers: sorted.length };
}

/** Of a node in the other build: its time, and the layers that compute it. */
interface Apart {
  ms: number;
  layers: Set<number>;
  /** How many nodes the first of them computes. */
  together: number;
}

/** By id; NaN: a layer that computes it was not timed. */
function timeOfNodes({ layers }: FusionReport): ReadonlyMap<string, Apart> {
  const times = new Map<string, Apart>();
  const untimed = new Set<string>();
  for (const { id: layer, nodes, averageMs } of layers)
    for (const id of nodes) {
      const apart = times.get(id) ?? { ms: 0, layers: new Set<number>(), together: nodes.length };
      apart.layers.add(layer);
      times.set(id, apart);
      if (averageMs === null) untimed.add(id);
      else apart.ms += averageMs / nodes.length;
    }
  for (const id of untimed) times.get(id)!.ms = Number.NaN;
  return times;
}

/** Ids by the name of a node, of names that only one has. */
function namesIn({ nodes }: FusionReport): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const twice = new Set<string>();
  for (const { id, name } of nodes) {
    if (ids.has(name)) twice.add(name);
    ids.set(name, id);
  }
  for (const name of [...twice, '']) ids.delete(name);
  return ids;
}

/**
 * null: this layer or one of its nodes in the other build was not timed, a node is in several layers here, or one layer
 * computes all of them there, too: what differs then is no effect of fusion.
 */
function timeSaved(
  { averageMs }: ReportLayer,
  own: readonly ReportNode[],
  { share, nameOf, scale }: { share: ReadonlyMap<string, Apart>; nameOf: ReadonlyMap<string, string>; scale: number },
): number | null {
  if (averageMs === null || own.some(({ layers }) => layers.length !== 1)) return null;
  let sum = 0;
  const apart = new Set<number>();
  for (const { name } of own) {
    const id = nameOf.get(name);
    if (id === undefined) return null;
    // What no kernel computes there costs nothing.
    const found = share.get(id);
    sum += found?.ms ?? 0;
    for (const layer of found?.layers ?? []) apart.add(layer);
  }
  return apart.size < 2 || Number.isNaN(sum) ? null : sum / scale - averageMs;
}
