import { counted } from '../../base/text.ts';
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
  const { ratio, layers: same } = pace(report, apart, nodes);
  const scale = Math.abs(ratio - 1) > steady ? ratio : 1;
  const problems: FusionReport['problems'] =
    scale === 1
      ? []
      : [
          {
            severity: 'warning',
            code: 'other-pace',
            message: `Layers that are the same in both builds take ${ratio.toFixed(2)} times as long in the other one (median of ${counted(same, 'layer')}): its GPU, clock or load differs. Its times are divided by that. Profile both on the same idle GPU to be sure.`,
          },
        ];
  const types = otherTypes(report, marked);
  if (types !== null)
    problems.push({
      severity: 'warning',
      code: 'other-types',
      message: `Most tensors that both builds write have other types there (${types}): the times compare precisions, not only what the fusion saves. Mark tensors in a build with the same options.`,
    });
  return {
    ...report,
    problems: [...report.problems, ...problems],
    layers: report.layers.map((layer) => {
      const own = nodesInTogether(layer, nodes);
      if (own.length < 2) return layer;
      const { launches, bytes } = saved(layer, own.length);
      return { ...layer, saved: { launches, bytes, ms: timeSaved(layer, own, apart, scale) } };
    }),
  };
}

/** The types of the first tensor that differs, `Half and Float`, where most of those that both builds write do; null: they don't. */
function otherTypes(report: FusionReport, marked: FusionReport): string | null {
  const typesIn = ({ layers }: FusionReport) =>
    new Map(
      layers.flatMap(({ outputs }) => outputs.flatMap(({ name, type }) => (type === null ? [] : [[name, type]]))),
    );
  const there = typesIn(marked);
  const both = [...typesIn(report)].filter(([name]) => there.has(name));
  const different = both.filter(([name, type]) => there.get(name) !== type);
  const [first] = different;
  return first === undefined || different.length * 2 <= both.length ? null : `${first[1]} and ${there.get(first[0])!}`;
}

/** Times of the same layers differ by no more where nothing but chance does. */
const steady = 0.1;
/** Fewer layers say nothing of the GPU. */
const enoughLayers = 5;

/** How much longer the other build takes for layers that compute the same nodes in both: the median. 1: not known. */
function pace(
  { layers }: FusionReport,
  timed: ReadonlyMap<string, Apart>,
  nodes: ReadonlyMap<string, ReportNode>,
): { ratio: number; layers: number } {
  const ratios = layers.flatMap(({ averageMs, nodes: own }) => {
    const apart = own.map((id) => timed.get(nodes.get(id)?.name ?? ''));
    const there = new Set(apart.flatMap((one) => one?.layers ?? []));
    const [first] = apart;
    if (!averageMs || there.size !== 1 || first?.together !== own.length) return [];
    const sum = apart.reduce((all, one) => all + (one?.ms ?? Number.NaN), 0);
    return sum > 0 ? [sum / averageMs] : [];
  });
  const sorted = ratios.toSorted((a, b) => a - b);
  return { ratio: sorted.length < enoughLayers ? 1 : sorted[sorted.length >> 1]!, layers: sorted.length };
}

/** Of a node in the other build. */
interface Apart {
  /** null: a layer that computes it was not timed. */
  ms: number | null;
  layers: readonly number[];
  /** How many nodes the first of them computes. */
  together: number;
}

/** Nodes with their times, by name, of names that only one has. */
function timedNodes(report: FusionReport): ReadonlyMap<string, Apart> {
  const layersById = new Map(report.layers.map((layer) => [layer.id, layer]));
  const times = nodeTimes(report);
  const found = new Map<string, Apart>();
  const twice = new Set(['']);
  for (const [position, { name, layers }] of report.nodes.entries()) {
    if (found.has(name)) twice.add(name);
    const own = layers.map((layer) => layersById.get(layer));
    const isTimed = own.every((layer) => typeof layer?.averageMs === 'number');
    // What no kernel computes costs nothing.
    const ms = own.length === 0 ? 0 : isTimed ? times[position]! : null;
    found.set(name, { ms, layers, together: own[0]?.nodes.length ?? 0 });
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
  apart: ReadonlyMap<string, Apart>,
  scale: number,
): number | null {
  if (averageMs === null || own.some(({ layers }) => layers.length !== 1)) return null;
  const found = own.map(({ name }) => apart.get(name));
  const kernels = new Set(found.flatMap((node) => node?.layers ?? []));
  const times = found.map((node) => node?.ms ?? null);
  if (kernels.size < 2 || times.includes(null)) return null;
  return times.reduce<number>((sum, ms) => sum + ms!, 0) / scale - averageMs;
}
