import { type NumberColumn, type ColumnMemory, orderOf } from './columns.ts';
import type { KernelTrace, TimedKernels } from '../buildOutput.ts';
import type { LaunchRows, RangeRows } from './nsysRows.ts';

/** Where each call was made. */
export interface PlacedLaunches {
  places: Places;
  /** By row of a call: its place, and its pass through an engine; -1: in no range. */
  place: NumberColumn;
  pass: NumberColumn;
  /** When each pass began, nanoseconds. */
  starts: number[];
  /** Rows of calls in the order of time; undefined: they are in order. */
  order: Uint32Array | undefined;
  occurrences: KernelTrace['occurrences'];
}

/** One pass through an engine on one thread. */
interface Pass {
  start: number;
  /** By name of a range: how many there were. */
  turns: Map<number, number>;
  /** Number among the passes with calls; -1: none yet. */
  number: number;
}

const enqueue = /^(?:TensorRT:)?ExecutionContext::enqueue/;
export const nowhere = -1;

/** Ranges within ranges, as a tree: each place is a name, which of its name in the pass it is, and the place around. */
export class Places {
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
    for (let at = place; at !== nowhere; at = this.#around[at]!)
      ranges.push({ name: this.#names[this.#name[at]!]!, turn: this.#turn[at]! });
    return ranges;
  }
}

/** Ranges that are open on one thread, innermost last. They may overlap without being nested. */
class OpenRanges {
  depth = 0;
  readonly ends: number[] = [];
  readonly places: number[] = [];
  readonly passes: Pass[] = [];

  push(end: number, place: number, pass: Pass): void {
    this.ends[this.depth] = end;
    this.places[this.depth] = place;
    this.passes[this.depth++] = pass;
  }
}

/**
 * Puts each call into the NVTX ranges around it, by time and thread: goes through ranges and calls in the order of time.
 * The rows of ranges are released.
 */
export function placeLaunches(calls: LaunchRows, ranges: RangeRows, memory: ColumnMemory): PlacedLaunches {
  const places = new Places(ranges.names);
  const place = memory.narrow().fill(calls.start.length, nowhere);
  const pass = memory.narrow().fill(calls.start.length, nowhere);
  const starts: number[] = [];
  const least = new Map<number, number>();
  const most = new Map<number, number>();
  const open: OpenRanges[] = [];
  const endPass = ({ turns }: Pass): void => {
    for (const [name, count] of turns) {
      least.set(name, Math.min(least.get(name) ?? count, count));
      most.set(name, Math.max(most.get(name) ?? count, count));
    }
  };
  const openAt = (thread: number, time: number): OpenRanges => {
    const stack = (open[thread] ??= new OpenRanges());
    while (stack.depth > 0 && stack.ends[stack.depth - 1]! < time) {
      const ended = stack.passes[--stack.depth]!;
      if (stack.depth === 0 || stack.passes[stack.depth - 1] !== ended) endPass(ended);
    }
    return stack;
  };
  const isEnqueue = ranges.names.map((name) => enqueue.test(name));
  const begin = (row: number): void => {
    const start = ranges.start.at(row);
    const name = ranges.name.at(row);
    const stack = openAt(ranges.thread.at(row), start);
    const isNew = stack.depth === 0 || isEnqueue[name]!;
    const within = isNew ? { start, turns: new Map<number, number>(), number: -1 } : stack.passes[stack.depth - 1]!;
    const turn = within.turns.get(name) ?? 0;
    within.turns.set(name, turn + 1);
    const around = stack.depth === 0 ? nowhere : stack.places[stack.depth - 1]!;
    stack.push(ranges.end.at(row), places.inside(around, name, isNew ? 0 : turn), within);
  };
  const launch = (row: number): void => {
    const start = calls.start.at(row);
    const stack = openAt(calls.thread.at(row), start);
    // The innermost is the last that has not ended.
    let inside = stack.depth - 1;
    while (inside >= 0 && !(stack.ends[inside]! >= start)) inside--;
    if (inside < 0) return;
    const within = stack.passes[inside]!;
    if (within.number < 0) within.number = starts.push(within.start) - 1;
    place.set(row, stack.places[inside]!);
    pass.set(row, within.number);
  };
  const rangeOrder = orderOf(ranges.start, ranges.end);
  const order = orderOf(calls.start);
  let next = 0;
  for (let at = 0; at < calls.start.length; at++) {
    const call = order ? order[at]! : at;
    for (; next < ranges.start.length; next++) {
      const range = rangeOrder ? rangeOrder[next]! : next;
      if (ranges.start.at(range) > calls.start.at(call)) break;
      begin(range);
    }
    launch(call);
  }
  for (const stack of open) if (stack) for (const ended of new Set(stack.passes.slice(0, stack.depth))) endPass(ended);
  for (const column of [ranges.start, ranges.end, ranges.thread, ranges.name, calls.start, calls.thread])
    column.release();
  const occurrences: KernelTrace['occurrences'] = new Map(
    [...least].map(([name, count]) => [ranges.names[name]!, { least: count, most: most.get(name)! }]),
  );
  return { places, place, pass, starts, order, occurrences };
}
