import type { Problem } from '../../text/problem.ts';
import { counted } from '../../text/numbers.ts';
import type { KernelTrace, TimedKernels } from '../profile.ts';
import { type Column, type ColumnMemory, orderOf } from './columns.ts';
import { type Capture, graphLaunches } from './nsysGraphs.ts';
import { nowhere, type PlacedLaunches } from './nsysLaunches.ts';
import type { KernelRows, LaunchRows } from './nsysRows.ts';

/** Where each kernel belongs, and when the passes ran on the GPU. */
interface PlacedKernels {
  /** How many passes ran kernels. */
  passes: number;
  /** By kernel: its place and its pass; -1: in none. */
  place: Column;
  pass: Column;
  /** Kernels of CUDA graphs that belong nowhere. */
  lost: number;
}

/**
 * Adds up kernels by the NVTX ranges around their launch. Kernels of a CUDA graph take those of the launches from which
 * the graph was captured, in order.
 */
export function joinKernels(
  kernels: KernelRows,
  calls: LaunchRows,
  launches: PlacedLaunches,
  memory: ColumnMemory,
): { trace: KernelTrace; problems: Problem[] } {
  const placed = placeKernels(kernels, calls, launches, memory);
  const groups = groupsOf(kernels, calls, launches, placed);
  const spans = addGaps(kernels, placed, groups);
  const problems: Problem[] = [];
  if (placed.lost > 0)
    problems.push({
      severity: 'warning',
      code: 'trace-graph',
      message: `${counted(placed.lost, 'kernel')} of CUDA graphs cannot be assigned to layers: the trace does not have the pass that captured the graph. Record from the start with --cuda-graph-trace=node, or run without CUDA graphs.`,
    });
  let ns = 0;
  for (let kernel = 0; kernel < kernels.duration.length; kernel++) ns += kernels.duration.at(kernel);
  const trace: KernelTrace = {
    kernels: kernels.duration.length,
    ms: ns / 1e6,
    passes: placed.passes,
    ...spans,
    groups: [...groups.values()],
    occurrences: launches.occurrences,
  };
  return { trace, problems };
}

function placeKernels(
  kernels: KernelRows,
  calls: LaunchRows,
  launches: PlacedLaunches,
  memory: ColumnMemory,
): PlacedKernels {
  const ran = new Uint8Array(launches.starts.length);
  for (let kernel = 0; kernel < kernels.call.length; kernel++) {
    const call = kernels.call.at(kernel);
    const pass = call < 0 ? nowhere : launches.pass.at(call);
    if (pass >= 0) ran[pass] = 1;
  }
  // Passes without kernels captured a graph: the others get the numbers.
  let passes = 0;
  const numbers = Int32Array.from(ran, (has) => (has === 1 ? passes++ : nowhere));
  const captures = passes === ran.length ? [] : capturesOf(ran, calls, launches);
  const graphs = graphLaunches(kernels, captures, passes);
  const place = memory.narrow();
  const pass = memory.narrow();
  let lost = 0;
  for (let kernel = 0; kernel < kernels.call.length; kernel++) {
    const graph = graphs.of(kernel);
    const call = kernels.call.at(kernel);
    const at = graph?.place ?? (call < 0 ? nowhere : launches.place.at(call));
    place.push(at);
    pass.push(at === nowhere ? nowhere : (graph?.pass ?? numbers[launches.pass.at(call)]!));
    if (at === nowhere && kernels.graphNode.at(kernel) >= 0) lost++;
  }
  return { passes: graphs.passes, place, pass, lost };
}

/** The launches of each pass that ran no kernel. */
function capturesOf(ran: Uint8Array, calls: LaunchRows, { place, pass, starts, order }: PlacedLaunches): Capture[] {
  const captures = new Map<number, Capture>();
  for (let at = 0; at < pass.length; at++) {
    const call = order ? order[at]! : at;
    const of = pass.at(call);
    if (of < 0 || ran[of] === 1 || calls.others.has(call)) continue;
    const capture = captures.get(of);
    if (capture) capture.places.push(place.at(call));
    else captures.set(of, { start: starts[of]!, places: [place.at(call)] });
  }
  return [...captures.values()];
}

/** The kernels of each place, in one block of memory for all. */
function groupsOf(
  kernels: KernelRows,
  calls: LaunchRows,
  { places }: PlacedLaunches,
  { place, pass }: PlacedKernels,
): Map<number, TimedKernels> {
  const counts = new Map<number, number>();
  let all = 0;
  for (let kernel = 0; kernel < place.length; kernel++) {
    const at = place.at(kernel);
    if (at === nowhere) continue;
    counts.set(at, (counts.get(at) ?? 0) + 1);
    all++;
  }
  const passes = new Int32Array(all);
  const passNs = new Float64Array(all);
  const groups = new Map<number, TimedKernels>();
  let from = 0;
  for (const [at, count] of counts) {
    const part = { passes: passes.subarray(from, from + count), passNs: passNs.subarray(from, from + count) };
    groups.set(at, { ranges: places.ranges(at), launches: 0, ...part, gapNs: 0, calls: 0, callNs: 0 });
    from += count;
  }
  for (let kernel = 0; kernel < place.length; kernel++) {
    const group = groups.get(place.at(kernel));
    if (!group) continue;
    group.passes[group.launches] = pass.at(kernel);
    group.passNs[group.launches++] = kernels.duration.at(kernel);
    // One call launches all kernels of a graph.
    if (kernels.graphNode.at(kernel) >= 0) continue;
    group.calls++;
    group.callNs += calls.duration.at(kernels.call.at(kernel));
  }
  return groups;
}

/**
 * What the passes took on the GPU from their first kernel to their last, and how long no kernel ran in between: before
 * each kernel, the time since the end of every earlier one on its device, whatever it belongs to.
 */
function addGaps(
  kernels: KernelRows,
  { passes, place, pass }: PlacedKernels,
  groups: ReadonlyMap<number, TimedKernels>,
): Pick<KernelTrace, 'passSpans' | 'medianPass'> {
  const first = new Float64Array(passes).fill(Number.NaN);
  const last = new Float64Array(passes);
  const idle = new Float64Array(passes);
  const devices = [...new Set(kernels.streams.map(({ device }) => device))];
  const deviceOf = kernels.streams.map(({ device }) => devices.indexOf(device));
  const busyUntil = new Float64Array(devices.length).fill(Number.NaN);
  const order = orderOf(kernels.start);
  for (let at = 0; at < place.length; at++) {
    const kernel = order ? order[at]! : at;
    const start = kernels.start.at(kernel);
    const end = start + kernels.duration.at(kernel);
    const device = deviceOf[kernels.stream.at(kernel)]!;
    const until = busyUntil[device]!;
    const of = pass.at(kernel);
    if (of >= 0) {
      if (Number.isNaN(first[of]!)) first[of] = start;
      else if (start > until) {
        idle[of]! += start - until;
        groups.get(place.at(kernel))!.gapNs += start - until;
      }
      last[of] = Math.max(last[of]!, end);
    }
    if (!(until >= end)) busyUntil[device] = end;
  }
  const spanNs = last.map((end, of) => end - first[of]!);
  const median = Uint32Array.from(spanNs.keys()).toSorted((a, b) => spanNs[a]! - spanNs[b]!)[Math.ceil(passes / 2) - 1];
  if (median === undefined) return {};
  const longest = new Map<number, number>();
  for (let kernel = 0; kernel < place.length; kernel++) {
    if (pass.at(kernel) !== median) continue;
    const group = groups.get(place.at(kernel))!;
    const startNs = kernels.start.at(kernel) - first[median]!;
    const took = kernels.duration.at(kernel);
    const stream = kernels.streams[kernels.stream.at(kernel)]!.id;
    const { ran } = group;
    group.ran = {
      startNs: Math.min(ran?.startNs ?? startNs, startNs),
      endNs: Math.max(ran?.endNs ?? 0, startNs + took),
      stream: ran && longest.get(place.at(kernel))! >= took ? ran.stream : stream,
    };
    longest.set(place.at(kernel), Math.max(longest.get(place.at(kernel)) ?? 0, took));
  }
  return { passSpans: { spanNs, idleNs: idle }, medianPass: median };
}
