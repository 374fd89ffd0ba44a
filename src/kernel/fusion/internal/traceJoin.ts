import {
  type EngineLayer,
  type KernelTrace,
  sumOfTimes,
  timeDistribution,
  type TimedKernels,
} from '../../read/tensorrt/buildOutput.ts';
import { addTo } from '../../base/addTo.ts';
import { counted } from '../../base/text.ts';
import { quote } from './namedMembers.ts';
import type { ProfileJoin, TracedTimes } from './profileJoin.ts';
import { withoutKernelPlace } from '../../network/layerName.ts';

/** NVTX ranges of a kernel inside a ForeignNode lack the end of its layer's name. */
const withoutPlace = withoutKernelPlace;

/**
 * Puts each group of launches to the layer of the innermost range that a layer has its name from. Layers that share a
 * name take turns in the order of the engine, if each pass has a range for each of them; otherwise nothing says which
 * is which, and their kernels stay unattributed.
 */
export function joinTrace(layers: readonly EngineLayer[], trace: KernelTrace): ProfileJoin {
  const byName = layersByName(layers);
  const groupsOf: TimedKernels[][] = layers.map(() => []);
  const unclear = new Set<string>();
  let attributed = 0;
  let ns = 0;
  for (const group of trace.groups) {
    const range = group.ranges.find(({ name }) => byName.has(name));
    if (!range) continue;
    const candidates = byName.get(range.name)!;
    const { least, most } = trace.occurrences.get(range.name) ?? { least: 0, most: 0 };
    if (candidates.length > 1 && (least !== candidates.length || most !== candidates.length)) {
      unclear.add(range.name);
      continue;
    }
    groupsOf[candidates.length > 1 ? candidates[range.turn]! : candidates[0]!]!.push(group);
    attributed += group.launches;
    ns += sumOfTimes(group.passNs);
  }
  const scratch = scratchOf(trace.passes);
  const times = groupsOf.map((groups) => (groups.length === 0 ? undefined : timesOf(groups, scratch)));
  const whole = times.reduce((sum, time) => sum + (time?.averageMs ?? 0), 0);
  const join: ProfileJoin = {
    averageMs: times.map((time) => time?.averageMs ?? null),
    percent: times.map((time) => (time && whole > 0 ? (100 * time.averageMs) / whole : null)),
    traced: {
      layers: times.map((time) => time?.traced),
      profile: { ...profileOf(trace), attributed, otherMs: rest(trace, ns) },
    },
    problems: [],
  };
  const [first] = unclear;
  if (first !== undefined)
    join.problems.push({
      severity: 'warning',
      code: 'trace-order',
      message: `${counted(unclear.size, 'name')} of NVTX ranges, the first ${quote(first)}, are the names of several layers and do not occur once for each in every pass: their kernels count as other time. Record one engine, without control flow, per trace.`,
    });
  if (attributed === 0 && unclear.size === 0)
    join.problems.push({
      severity: 'warning',
      code: 'profile-mismatch',
      message: `None of the ${counted(trace.kernels, 'kernel')} was launched in an NVTX range with the name of a layer. Build with --profilingVerbosity=detailed, record with nsys profile --trace=cuda,nvtx, and check that trace and layers are of the same engine.`,
    });
  return join;
}

function layersByName(layers: readonly EngineLayer[]): Map<string, number[]> {
  const byName = new Map<string, number[]>();
  layers.forEach(({ name }, index) => {
    addTo(byName, name, index);
    const short = withoutPlace(name);
    if (short !== name) addTo(byName, short, index);
  });
  return byName;
}

/** Milliseconds of all kernels but those of layers. */
const rest = (trace: KernelTrace, ns: number): number => Math.max(0, Math.round(trace.ms * 1e6 - ns) / 1e6);

function profileOf({ kernels, passes, groups, memory, recorder, gpu, spansNs }: KernelTrace) {
  const calls = groups.reduce((sum, group) => sum + group.calls, 0);
  const gapNs = groups.reduce((sum, group) => sum + group.gapNs, 0);
  const callNs = groups.reduce((sum, group) => sum + group.callNs, 0);
  return {
    source: 'nsys' as const,
    ...(recorder !== undefined && { recorder }),
    ...(gpu && { gpu }),
    kernels,
    ...(memory && { memory }),
    passes,
    ...(spansNs && passes > 0 && { pass: { ...timeDistribution(spansNs.slice(), 1e6), gapMs: rounded(gapNs / 1e6) } }),
    ...(calls > 0 && { launches: { calls, ms: rounded(callNs / 1e6), ...launchTimes(groups) } }),
  };
}

/** Median and 90th percentile of the calls after the first pass; nothing where there are none. */
function launchTimes(groups: readonly TimedKernels[]): { p50?: number; p90?: number } {
  const all = new Float32Array(groups.reduce((sum, { laterCallNs }) => sum + laterCallNs.length, 0));
  let at = 0;
  for (const { laterCallNs } of groups) {
    all.set(laterCallNs, at);
    at += laterCallNs.length;
  }
  if (all.length === 0) return {};
  const { p50, p90 } = timeDistribution(all, 1e6);
  return { p50: rounded(p50), p90: rounded(p90) };
}

/** Memory by pass that serves one layer after the other: a trace may have a million passes. */
interface Scratch {
  /** All 0 between layers. */
  sums: Float64Array;
  seen: Int32Array;
  times: Float64Array;
}

const scratchOf = (passes: number): Scratch => ({
  sums: new Float64Array(passes),
  seen: new Int32Array(passes),
  times: new Float64Array(passes),
});

/** The times of the passes in which a layer launched kernels. */
function timesOf(
  groups: readonly TimedKernels[],
  { sums, seen, times }: Scratch,
): { averageMs: number; traced: TracedTimes } {
  let count = 0;
  const [launches, calls, gapNs, callNs] = [0, 0, 0, 0];
  const total = { launches, calls, gapNs, callNs };
  for (const group of groups) {
    for (const key of ['launches', 'calls', 'gapNs', 'callNs'] as const) total[key] += group[key];
    for (let index = 0; index < group.passes.length; index++) {
      const pass = group.passes[index]!;
      // Kernels take time: a sum of 0 has not been seen.
      if (sums[pass] === 0) seen[count++] = pass;
      sums[pass]! += Math.max(group.passNs[index]!, Number.MIN_VALUE);
    }
  }
  for (let index = 0; index < count; index++) {
    const pass = seen[index]!;
    times[index] = sums[pass]!;
    sums[pass] = 0;
  }
  const { averageMs, ...percentiles } = timeDistribution(times.subarray(0, count), 1e6);
  const ran = groups.flatMap((group) => group.ran ?? []);
  const first = ran.toSorted((a, b) => b.endNs - b.startNs - (a.endNs - a.startNs))[0];
  const launch = launchTimes(groups);
  const traced: TracedTimes = {
    ...percentiles,
    launches: total.launches,
    gapMs: rounded(total.gapNs / 1e6),
    ...(total.calls > 0 && { launchMs: rounded(total.callNs / total.calls / 1e6) }),
    ...(launch.p50 !== undefined && { launchP50: launch.p50, launchP90: launch.p90 }),
    ...(first && {
      ran: {
        startMs: Math.min(...ran.map(({ startNs }) => startNs)) / 1e6,
        endMs: Math.max(...ran.map(({ endNs }) => endNs)) / 1e6,
        stream: first.stream,
      },
    }),
  };
  return { averageMs, traced };
}

/** Nine digits after the point: without the noise of binary fractions. */
const rounded = (ms: number): number => Math.round(ms * 1e9) / 1e9;
