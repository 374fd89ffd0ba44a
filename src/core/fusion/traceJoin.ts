import type { EngineLayer } from '../engine/engineLayer.ts';
import type { TimedKernels, KernelTrace } from '../engine/profile.ts';
import { counted } from '../text/numbers.ts';
import { quote } from './namedMembers.ts';
import type { ProfileJoin } from './profileJoin.ts';
import { withoutKernelPlace } from '../model/layerNameParts.ts';

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
    for (const time of group.passNs) ns += time;
  }
  const times = groupsOf.map((groups) => (groups.length === 0 ? undefined : timesOf(groups)));
  const whole = times.reduce((sum, time) => sum + (time?.averageMs ?? 0), 0);
  const join: ProfileJoin = {
    averageMs: times.map((time) => time?.averageMs ?? null),
    percent: times.map((time) => (time && whole > 0 ? (100 * time.averageMs) / whole : null)),
    traced: {
      layers: times.map((time) => time && { p50: time.p50, p90: time.p90, p99: time.p99, launches: time.launches }),
      profile: {
        source: 'nsys',
        kernels: trace.kernels,
        attributed,
        otherMs: Math.max(0, Math.round(trace.ms * 1e6 - ns) / 1e6),
        ...(trace.memory && { memory: trace.memory }),
        passes: trace.passes,
      },
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
  const add = (name: string, index: number): void => {
    const known = byName.get(name);
    if (known) known.push(index);
    else byName.set(name, [index]);
  };
  layers.forEach(({ name }, index) => {
    add(name, index);
    const short = withoutPlace(name);
    if (short !== name) add(short, index);
  });
  return byName;
}

/** The times of the passes in which a layer launched kernels. */
function timesOf(groups: readonly TimedKernels[]): {
  averageMs: number;
  p50: number;
  p90: number;
  p99: number;
  launches: number;
} {
  const byPass = new Map<number, number>();
  let launches = 0;
  for (const group of groups) {
    launches += group.launches;
    for (const [index, pass] of group.passes.entries())
      byPass.set(pass, (byPass.get(pass) ?? 0) + group.passNs[index]!);
  }
  const sorted = Float64Array.from(byPass.values()).sort();
  const at = (percent: number): number => sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)]! / 1e6;
  const ns = sorted.reduce((sum, time) => sum + time, 0);
  return { averageMs: ns / sorted.length / 1e6, p50: at(50), p90: at(90), p99: at(99), launches };
}
