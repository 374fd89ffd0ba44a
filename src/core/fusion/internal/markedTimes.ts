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
  return {
    ...report,
    layers: report.layers.map((layer) => {
      const own = nodesInTogether(layer, nodes);
      if (own.length < 2) return layer;
      const { launches, bytes } = saved(layer, own.length);
      return { ...layer, saved: { launches, bytes, ms: timeSaved(layer, own, share, nameOf) } };
    }),
  };
}

/** Of a node in the other build: its time, and the layers that compute it. */
interface Apart {
  ms: number;
  layers: Set<number>;
}

/** By id; NaN: a layer that computes it was not timed. */
function timeOfNodes({ layers }: FusionReport): ReadonlyMap<string, Apart> {
  const times = new Map<string, Apart>();
  const untimed = new Set<string>();
  for (const { id: layer, nodes, averageMs } of layers)
    for (const id of nodes) {
      const apart = times.get(id) ?? { ms: 0, layers: new Set() };
      apart.layers.add(layer);
      times.set(id, apart);
      if (averageMs === null) untimed.add(id);
      else apart.ms += averageMs / nodes.length;
    }
  for (const id of untimed) times.set(id, { ms: Number.NaN, layers: times.get(id)!.layers });
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
  share: ReadonlyMap<string, Apart>,
  nameOf: ReadonlyMap<string, string>,
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
  return apart.size < 2 || Number.isNaN(sum) ? null : sum - averageMs;
}
