import type { EngineLayer, ProfileRow } from '../../read/tensorrt/buildOutput.ts';
import type { ReportLayer, TracedProfile } from '../fusionReport.ts';
import type { Problem } from '../../base/problem.ts';
import { counted, percentText, thousands } from '../../base/text.ts';
import { quote } from './namedMembers.ts';
import { isForeignNodeName, kernelRegion, withoutKernelNumber } from '../../network/layerName.ts';

/** What only a trace says of a layer. */
export type TracedTimes = Pick<
  ReportLayer,
  'p10' | 'p50' | 'p90' | 'p99' | 'launches' | 'gapMs' | 'launchMs' | 'launchP50' | 'launchP90' | 'ran'
>;

/** A profile's times put to the engine's layers. */
export interface ProfileJoin {
  /** By index of the layer; null if no row is its. */
  averageMs: (number | null)[];
  percent: (number | null)[];
  /** What only a trace says, of each layer that launched kernels and of all. */
  traced?: { layers: (TracedTimes | undefined)[]; profile: TracedProfile };
  problems: Problem[];
}

/** Kernels count again where a branch or loop decides what runs, and repeat their number with the region's. */
const withoutCount = withoutKernelNumber;

/**
 * Rows and layers are the same names in the same order, except with an If or a Loop: then only what ran has a row.
 * Rows of kernels whose ForeignNode is one opaque layer here are added up for it, by its place
 * among the engine's layers, which the kernels' names carry.
 */
export function joinProfile(layers: readonly EngineLayer[], rows: readonly ProfileRow[]): ProfileJoin {
  const join: ProfileJoin = {
    averageMs: layers.map(() => null),
    percent: layers.map(() => null),
    problems: [],
  };
  const put = (layer: number, row: ProfileRow): void => {
    join.averageMs[layer] = (join.averageMs[layer] ?? 0) + row.averageMs;
    join.percent[layer] = (join.percent[layer] ?? 0) + row.percentage;
  };
  if (rows.length === layers.length && rows.every(({ name }, i) => name === layers[i]!.name)) {
    rows.forEach((row, i) => put(i, row));
    return join;
  }
  const left = byTurns(layers, rows, put, (name) => name);
  const later = byTurns(layers, left, put, withoutCount, join.averageMs);
  const lost = byRegion(layers, later, put);
  if (lost.length > 0) {
    const share = lost.reduce((sum, { percentage }) => sum + percentage, 0);
    join.problems.push({
      severity: 'warning',
      code: 'profile-mismatch',
      message:
        `${thousands(lost.length)} of ${counted(rows.length, 'profile row')} (${percentText(share)} of the time) match no layer, ` +
        `the first is ${quote(lost[0]!.name)}. Check that profile and layers are of the same engine.`,
    });
  }
  return join;
}

/** Assigns each row to the next layer of its name that has none; returns the remaining rows. */
function byTurns(
  layers: readonly EngineLayer[],
  rows: readonly ProfileRow[],
  put: (layer: number, row: ProfileRow) => void,
  key: (name: string) => string,
  taken?: readonly (number | null)[],
): ProfileRow[] {
  const queues = new Map<string, { layers: number[]; next: number }>();
  layers.forEach(({ name }, index) => {
    if (taken && taken[index] !== null) return;
    const queue = queues.get(key(name));
    if (queue) queue.layers.push(index);
    else queues.set(key(name), { layers: [index], next: 0 });
  });
  return rows.filter((row) => {
    const queue = queues.get(key(row.name));
    const layer = queue?.layers[queue.next];
    if (layer === undefined) return true;
    queue!.next++;
    put(layer, row);
    return false;
  });
}

/**
 * `_myl2_14` is a kernel of the ForeignNode at place 2 of the engine's layers. Without profiling verbosity a native
 * layer's row is called by its place alone, `0`.
 */
function byRegion(
  layers: readonly EngineLayer[],
  rows: readonly ProfileRow[],
  put: (layer: number, row: ProfileRow) => void,
): ProfileRow[] {
  return rows.filter((row) => {
    const region = kernelRegion(row.name);
    const place = region ?? (/^\d{1,6}$/.test(row.name) ? Number(row.name) : -1);
    const layer = layers[place];
    if (layer === undefined || isForeignNodeName(layer.name) !== (region !== undefined)) return true;
    put(place, row);
    return false;
  });
}
