import { nodesInTogether, savedBy } from './fusionSavings.ts';
import { type FusionReport, nodeTimes, type ReportLayer, type ReportNode } from '../fusionReport.ts';

/**
 * A report with what the fusion in each layer saved: launches and bytes as `findSavings` counts them, and time, against a
 * profile of a build in which the same nodes are in more kernels, such as one with marked tensors. The time of a kernel
 * there is divided equally among its nodes; a layer that shares a node with another has no time.
 */
export function withMarkedTimes(report: FusionReport, marked: FusionReport): FusionReport {
  const apart = timedNodes(marked);
  const nodes = new Map(report.nodes.map((node) => [node.id, node]));
  const saved = savedBy(report);
  return {
    ...report,
    layers: report.layers.map((layer) => {
      const own = nodesInTogether(layer, nodes);
      if (own.length < 2) return layer;
      const { launches, bytes } = saved(layer, own.length);
      return { ...layer, saved: { launches, bytes, ms: timeSaved(layer, own, apart) } };
    }),
  };
}

/** Nodes with their times, by name, of names that only one has; null: a layer that computes the node was not timed. */
function timedNodes(report: FusionReport): ReadonlyMap<string, { ms: number | null; layers: readonly number[] }> {
  const timed = new Set(report.layers.flatMap(({ id, averageMs }) => (averageMs === null ? [] : [id])));
  const times = nodeTimes(report);
  const found = new Map<string, { ms: number | null; layers: readonly number[] }>();
  const twice = new Set(['']);
  for (const [position, { name, layers }] of report.nodes.entries()) {
    if (found.has(name)) twice.add(name);
    // What no kernel computes costs nothing.
    const ms = layers.length === 0 ? 0 : layers.every((layer) => timed.has(layer)) ? times[position]! : null;
    found.set(name, { ms, layers });
  }
  for (const name of twice) found.delete(name);
  return found;
}

/**
 * null: this layer or one of its nodes in the other build was not timed, a node is in several layers here, or one layer
 * computes all of them there, too: what differs then is no effect of fusion.
 */
function timeSaved(
  { averageMs }: ReportLayer,
  own: readonly ReportNode[],
  apart: ReturnType<typeof timedNodes>,
): number | null {
  if (averageMs === null || own.some(({ layers }) => layers.length !== 1)) return null;
  const found = own.map(({ name }) => apart.get(name));
  const kernels = new Set(found.flatMap((node) => node?.layers ?? []));
  const times = found.map((node) => node?.ms ?? null);
  if (kernels.size < 2 || times.includes(null)) return null;
  return times.reduce<number>((sum, ms) => sum + ms!, 0) - averageMs;
}
