import type { Problem } from '../../../base/problem.ts';
import { counted } from '../../../base/text.ts';
import type { KernelTrace, TimedKernels } from '../buildOutput.ts';
import { type NumberColumn, type ColumnMemory, orderOf } from './columns.ts';
import { type Capture, graphLaunches } from './nsysGraphs.ts';
import { nowhere, type PlacedLaunches } from './nsysLaunches.ts';
import type { KernelRows, LaunchRows } from './nsysRows.ts';

/** Where each kernel belongs, and when the passes ran on the GPU. */
interface PlacedKernels {
  /** How many passes ran kernels. */
  passes: number;
  /** By kernel: its place and its pass; -1: in none. */
  place: NumberColumn;
  pass: NumberColumn;
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
  const spans = spansOf(kernels, placed);
  addMedianPass(kernels, placed, groups, spans);
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
    spansNs: spans.spansNs,
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
  { place, pass, passes: allPasses }: PlacedKernels,
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
  const callNs = new Float32Array(all);
  const later = new Map<TimedKernels, number>();
  const groups = new Map<number, TimedKernels>();
  let from = 0;
  for (const [at, count] of counts) {
    const part = {
      passes: passes.subarray(from, from + count),
      passNs: passNs.subarray(from, from + count),
      laterCallNs: callNs.subarray(from, from + count),
    };
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
    const took = calls.duration.at(kernels.call.at(kernel));
    group.calls++;
    group.callNs += took;
    if (pass.at(kernel) === 0 && allPasses > 1) continue;
    const count = later.get(group) ?? 0;
    group.laterCallNs[count] = took;
    later.set(group, count + 1);
  }
  for (const group of groups.values()) group.laterCallNs = group.laterCallNs.subarray(0, later.get(group) ?? 0);
  return groups;
}

/** What the passes took on the GPU, from the start of their first kernel to the end of their last. */
function spansOf(kernels: KernelRows, { passes, pass }: PlacedKernels): { first: Float64Array; spansNs: Float64Array } {
  const first = new Float64Array(passes).fill(Number.POSITIVE_INFINITY);
  const spansNs = new Float64Array(passes);
  for (let kernel = 0; kernel < pass.length; kernel++) {
    const of = pass.at(kernel);
    if (of < 0) continue;
    const start = kernels.start.at(kernel);
    first[of] = Math.min(first[of]!, start);
    spansNs[of] = Math.max(spansNs[of]!, start + kernels.duration.at(kernel));
  }
  for (let of = 0; of < passes; of++) spansNs[of]! -= first[of]!;
  return { first, spansNs };
}

/**
 * When the kernels of the median pass ran, and how long none ran before each of them: the time since the end of every
 * earlier one on its device, whatever it belongs to.
 */
function addMedianPass(
  kernels: KernelRows,
  { place, pass }: PlacedKernels,
  groups: ReadonlyMap<number, TimedKernels>,
  { first, spansNs }: ReturnType<typeof spansOf>,
): void {
  const median = Uint32Array.from(spansNs.keys()).toSorted((a, b) => spansNs[a]! - spansNs[b]!)[
    Math.ceil(spansNs.length / 2) - 1
  ];
  if (median === undefined) return;
  const devices = [...new Set(kernels.streams.map(({ device }) => device))];
  const deviceOf = kernels.streams.map(({ device }) => devices.indexOf(device));
  const busyUntil = new Float64Array(devices.length).fill(Number.NaN);
  const order = orderOf(kernels.start);
  const longest = new Map<TimedKernels, number>();
  for (let at = 0; at < place.length; at++) {
    const kernel = order ? order[at]! : at;
    const start = kernels.start.at(kernel);
    const took = kernels.duration.at(kernel);
    const device = deviceOf[kernels.stream.at(kernel)]!;
    const until = busyUntil[device]!;
    if (!(until >= start + took)) busyUntil[device] = start + took;
    if (pass.at(kernel) !== median) continue;
    const group = groups.get(place.at(kernel))!;
    if (start > first[median]! && start > until) group.gapNs += start - until;
    const startNs = start - first[median]!;
    const isLongest = took > (longest.get(group) ?? -1);
    if (isLongest) longest.set(group, took);
    const { ran } = group;
    group.ran = {
      startNs: Math.min(ran?.startNs ?? startNs, startNs),
      endNs: Math.max(ran?.endNs ?? 0, startNs + took),
      stream: ran && !isLongest ? ran.stream : kernels.streams[kernels.stream.at(kernel)]!.id,
    };
  }
}
