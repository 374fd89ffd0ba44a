import type { Problem } from '../../text/problem.ts';
import { counted } from '../../text/numbers.ts';
import { orderOf } from './growingColumn.ts';
import { graphLaunches } from './nsysGraphs.ts';
import type { TimedKernels, KernelTrace } from '../profile.ts';
import type { KernelRows } from './readNsysTrace.ts';
import type { SqliteValue } from './sqliteRecord.ts';

/** Calls of the CUDA runtime that launched kernels, or would have, were a graph not being captured. */
export interface LaunchRows {
  start: Float64Array;
  thread: Int32Array;
  /** Index among the kernels' keys; -1: no kernel comes from it. */
  key: Int32Array;
  threadOf: (id: SqliteValue) => number | undefined;
}

/** NVTX ranges that have an end. */
export interface RangeRows {
  start: Float64Array;
  end: Float64Array;
  thread: Int32Array;
  threadIds: SqliteValue[];
  /** Index in `names`. */
  name: Int32Array;
  names: string[];
}

/** Launches of one pass whose kernels did not run then: a CUDA graph was captured. */
export interface Capture {
  start: number;
  /** The place of each launch. */
  places: number[];
}

/** One pass through an engine on one thread. */
interface Pass {
  start: number;
  /** By name of a range: how many there were. */
  turns: Map<number, number>;
  /** Number among the passes that ran kernels; -1: none yet. */
  number: number;
  /** Places of launches without kernels. */
  captured: number[];
}

interface OpenRange {
  end: number;
  place: number;
  pass: Pass;
}

const ENQUEUE = /^(?:TensorRT:)?ExecutionContext::enqueue/;
const NOWHERE = -1;

/**
 * Puts each kernel into the NVTX ranges around its launch: by correlation id to the call, by time and thread to the
 * ranges. Kernels of a CUDA graph take those of the launches from which the graph was captured, in order.
 */
export function joinLaunches(
  kernels: KernelRows,
  calls: LaunchRows,
  ranges: RangeRows,
): { trace: KernelTrace; problems: Problem[] } {
  const places = new Places(ranges.names);
  const found = sweep(kernels.keys.sorted.length, calls, ranges, places);
  const graphs = graphLaunches(kernels, found.captures, found.passes);
  const groups = new Map<number, TimedKernels>();
  const problems: Problem[] = [];
  let ns = 0;
  let lost = 0;
  for (const [kernel, duration] of kernels.duration.entries()) {
    ns += duration;
    const key = kernels.key[kernel]!;
    const graph = graphs.of(kernel);
    const place = graph?.place ?? (key < 0 ? NOWHERE : found.place[key]!);
    const pass = graph?.pass ?? (key < 0 ? NOWHERE : found.pass[key]!);
    if (place === NOWHERE) {
      if (kernels.graphNode[kernel]! >= 0) lost++;
      continue;
    }
    let group = groups.get(place);
    if (!group) groups.set(place, (group = { ranges: places.ranges(place), launches: 0, passes: [], passNs: [] }));
    group.launches++;
    const last = group.passes.length - 1;
    if (last >= 0 && group.passes[last] === pass) group.passNs[last]! += duration;
    else {
      group.passes.push(pass);
      group.passNs.push(duration);
    }
  }
  if (lost > 0)
    problems.push({
      severity: 'warning',
      code: 'trace-graph',
      message: `${counted(lost, 'kernel')} of CUDA graphs cannot be assigned to layers: the trace does not have the pass that captured the graph. Record from the start with --cuda-graph-trace=node, or run without CUDA graphs.`,
    });
  const trace: KernelTrace = {
    kernels: kernels.duration.length,
    ms: ns / 1e6,
    passes: graphs.passes,
    groups: [...groups.values()],
    occurrences: found.occurrences(ranges.names),
  };
  return { trace, problems };
}

/** Ranges within ranges, as a tree: each place is a name, which of its name in the pass it is, and the place around. */
class Places {
  readonly #names: string[];
  readonly #around: number[] = [];
  readonly #name: number[] = [];
  readonly #turn: number[] = [];
  readonly #inside = new Map<number, Map<number, number>>();

  constructor(names: string[]) {
    this.#names = names;
  }

  inside(around: number, name: number, turn: number): number {
    let known = this.#inside.get(around);
    if (!known) this.#inside.set(around, (known = new Map()));
    const key = turn * 2 ** 24 + name;
    let place = known.get(key);
    if (place === undefined) {
      place = this.#name.length;
      known.set(key, place);
      this.#around.push(around);
      this.#name.push(name);
      this.#turn.push(turn);
    }
    return place;
  }

  /** Innermost first. */
  ranges(place: number): TimedKernels['ranges'] {
    const ranges: TimedKernels['ranges'] = [];
    for (let at = place; at !== NOWHERE; at = this.#around[at]!)
      ranges.push({ name: this.#names[this.#name[at]!]!, turn: this.#turn[at]! });
    return ranges;
  }
}

/** Goes through ranges and calls in the order of time, with the open ranges of each thread. */
function sweep(keys: number, calls: LaunchRows, ranges: RangeRows, places: Places) {
  const place = new Int32Array(keys).fill(NOWHERE);
  const pass = new Int32Array(keys).fill(NOWHERE);
  const captures: Capture[] = [];
  const least = new Map<number, number>();
  const most = new Map<number, number>();
  const open: OpenRange[][] = [];
  let passes = 0;
  const endPass = ({ start, captured, number, turns }: Pass): void => {
    if (number < 0 && captured.length > 0) captures.push({ start, places: captured });
    for (const [name, count] of turns) {
      least.set(name, Math.min(least.get(name) ?? count, count));
      most.set(name, Math.max(most.get(name) ?? count, count));
    }
  };
  const openAt = (thread: number, time: number): OpenRange[] => {
    const stack = (open[thread] ??= []);
    while (stack.length > 0 && stack.at(-1)!.end < time) {
      const { pass: ended } = stack.pop()!;
      if (stack.at(-1)?.pass !== ended) endPass(ended);
    }
    return stack;
  };
  const begin = (row: number): void => {
    const start = ranges.start[row]!;
    const name = ranges.name[row]!;
    const stack = openAt(ranges.thread[row]!, start);
    const around = stack.at(-1);
    const isNew = around === undefined || ENQUEUE.test(ranges.names[name]!);
    const within: Pass = isNew ? { start, turns: new Map(), number: -1, captured: [] } : around.pass;
    const turn = within.turns.get(name) ?? 0;
    within.turns.set(name, turn + 1);
    const at = places.inside(around?.place ?? NOWHERE, name, isNew ? 0 : turn);
    stack.push({ end: ranges.end[row]!, place: at, pass: within });
  };
  const threads = new Map(ranges.threadIds.map((id, number) => [calls.threadOf(id), number]));
  const launch = (row: number): void => {
    const thread = threads.get(calls.thread[row]!);
    if (thread === undefined) return;
    const start = calls.start[row]!;
    // Ranges may overlap without being nested: the innermost is the last that has not ended.
    const inside = openAt(thread, start).findLast((range) => range.end >= start);
    if (!inside) return;
    const key = calls.key[row]!;
    if (key < 0) {
      inside.pass.captured.push(inside.place);
      return;
    }
    if (inside.pass.number < 0) inside.pass.number = passes++;
    place[key] = inside.place;
    pass[key] = inside.pass.number;
  };
  const rangeOrder = orderOf(ranges.start, ranges.end);
  const callOrder = orderOf(calls.start);
  let next = 0;
  for (let at = 0; at < calls.start.length; at++) {
    const call = callOrder ? callOrder[at]! : at;
    for (; next < ranges.start.length; next++) {
      const range = rangeOrder ? rangeOrder[next]! : next;
      if (ranges.start[range]! > calls.start[call]!) break;
      begin(range);
    }
    launch(call);
  }
  for (const stack of open) if (stack) for (const ended of new Set(stack.map((range) => range.pass))) endPass(ended);
  const occurrences = (names: readonly string[]): KernelTrace['occurrences'] =>
    new Map([...least].map(([name, count]) => [names[name]!, { least: count, most: most.get(name)! }]));
  return { place, pass, passes, captures, occurrences };
}
