import { type NumberColumn, type ColumnMemory, orderOf } from './columns.ts';
import type { SqliteFile } from './sqliteFile.ts';
import type { SqliteRow } from './sqliteRecord.ts';

export const kernelTable = 'CUPTI_ACTIVITY_KIND_KERNEL';
export const callTable = 'CUPTI_ACTIVITY_KIND_RUNTIME';
export const rangeTable = 'NVTX_EVENTS';

/** Calls that launch one kernel each: a CUDA graph that is being captured has them, but their kernels run later. */
const kernelLaunch = /^cu(?:da)?Launch(?:Cooperative)?Kernel/;

/** Calls of the CUDA runtime or driver that may launch kernels. Times in nanoseconds. */
export interface LaunchRows {
  start: NumberColumn;
  /** How long the host was in it. */
  duration: NumberColumn;
  thread: NumberColumn;
  /** Process and correlation id in one number; -1: it has no id. */
  key: NumberColumn;
  /** Rows that do not launch one kernel, as those that launch a CUDA graph. */
  others: Set<number>;
}

/** NVTX ranges that have an end. */
export interface RangeRows {
  start: NumberColumn;
  end: NumberColumn;
  thread: NumberColumn;
  /** Index in `names`. */
  name: NumberColumn;
  names: string[];
}

/** Kernels of a trace. Times in nanoseconds. */
export interface KernelRows {
  start: NumberColumn;
  duration: NumberColumn;
  /** Row of the call that launched it; -1: none is known. */
  call: NumberColumn;
  /** Index in `graphNodes`; -1: no CUDA graph ran it. */
  graphNode: NumberColumn;
  graphNodes: CapturedNode[];
  /** Index in `streams`. */
  stream: NumberColumn;
  streams: { device: number; id: number }[];
}

/** A kernel's node of a CUDA graph. */
export interface CapturedNode {
  /** CUPTI's: the graph's id in the upper 32 bits, its nodes count below. */
  id: number;
  /** When it ran first. */
  start: number;
}

/** Small numbers for values, in the order in which they come. */
class Numbered {
  readonly #numbers = new Map<number, number>();

  of(value: number): number {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    this.#numbers.set(value, this.#numbers.size);
    return this.#numbers.size - 1;
  }
}

/** Numbers for the threads of all processes: their global ids have 64 bits, of which the lowest 24 are the thread's. */
export class Threads {
  readonly #byProcess = new Map<number, Map<number, number>>();
  #count = 0;

  /** @param place of the global id in the row */
  of(row: SqliteRow, place: number): number {
    const process = row.above24(place);
    let threads = this.#byProcess.get(process);
    if (!threads) this.#byProcess.set(process, (threads = new Map()));
    const id = row.lowest24(place);
    let known = threads.get(id);
    if (known === undefined) threads.set(id, (known = this.#count++));
    return known;
  }
}

/** Correlation ids count in each process: the key of a call is both. */
export class CallKeys {
  readonly #processes = new Numbered();
  /** Old exports do not say the process of a kernel. */
  readonly #byProcess: boolean;

  constructor(file: SqliteFile) {
    this.#byProcess = file.hasColumn(kernelTable, 'globalPid');
  }

  of(row: SqliteRow, correlation: number, process: number): number {
    const id = row.number(correlation);
    if (!(id >= 0 && id < 2 ** 32)) return -1;
    return (this.#byProcess ? this.#processes.of(row.above24(process)) : 0) * 2 ** 32 + id;
  }
}

/** Finds calls by their key: in the order in which kernels come, the next one is nearly always the next call. */
export class CallIndex {
  readonly #keys: NumberColumn;
  readonly #order: Uint32Array | undefined;
  #last = -1;

  constructor(keys: NumberColumn) {
    this.#keys = keys;
    this.#order = orderOf(keys);
  }

  /** Row of a call with this key; -1: there is none. */
  find(key: number): number {
    if (key < 0) return -1;
    const next = this.#last + 1;
    if (next < this.#keys.length && this.#keyAt(next) === key) this.#last = next;
    else {
      let low = 0;
      let high = this.#keys.length - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.#keyAt(middle) < key) low = middle + 1;
        else high = middle;
      }
      if (high < 0 || this.#keyAt(low) !== key) return -1;
      this.#last = low;
    }
    return this.#order ? this.#order[this.#last]! : this.#last;
  }

  #keyAt(place: number): number {
    return this.#keys.at(this.#order ? this.#order[place]! : place);
  }
}

export async function readNames(file: SqliteFile): Promise<Map<number, string>> {
  const names = new Map<number, string>();
  await file.rows('StringIds', ['id', 'value'], (row) => {
    const value = row.text(1);
    if (value !== null) names.set(row.number(0), value);
  });
  return names;
}

/** Calls whose name says that they launch something, and those without a name. */
export async function readCalls(
  file: SqliteFile,
  names: ReadonlyMap<number, string>,
  { keys, threads, memory }: { keys: CallKeys; threads: Threads; memory: ColumnMemory },
): Promise<LaunchRows> {
  const calls: LaunchRows = {
    start: memory.wide(),
    duration: memory.wide(),
    thread: memory.narrow(),
    key: memory.wide(),
    others: new Set(),
  };
  const columns = ['start', 'end', 'globalTid', 'correlationId', 'nameId'];
  await file.rows(callTable, columns, (row) => {
    const name = names.get(row.number(4));
    if (name !== undefined && !name.includes('Launch')) return;
    if (name === undefined || !kernelLaunch.test(name)) calls.others.add(calls.start.length);
    calls.start.push(row.number(0));
    const took = row.number(1) - row.number(0);
    calls.duration.push(took >= 0 && took < 2 ** 53 ? took : 0);
    calls.thread.push(threads.of(row, 2));
    calls.key.push(keys.of(row, 3, 2));
  });
  return calls;
}

export async function readRanges(
  file: SqliteFile,
  names: ReadonlyMap<number, string>,
  { threads, memory }: { threads: Threads; memory: ColumnMemory },
): Promise<RangeRows> {
  const ranges: RangeRows = {
    start: memory.wide(),
    end: memory.wide(),
    thread: memory.narrow(),
    name: memory.narrow(),
    names: [],
  };
  const places = new Map<string, number>();
  const placeOf = (name: string): number => {
    let place = places.get(name);
    if (place === undefined) places.set(name, (place = ranges.names.push(name) - 1));
    return place;
  };
  /** By id of a registered text. */
  const registered = new Map<number, number>();
  await file.rows(rangeTable, ['start', 'end', 'text', 'textId', 'globalTid'], (row) => {
    if (!(row.number(1) >= row.number(0))) return;
    const id = row.number(3);
    let place = row.isNull(2) ? registered.get(id) : undefined;
    if (place === undefined) {
      const name = row.text(2) ?? names.get(id);
      if (name === undefined) return;
      place = placeOf(name);
      if (row.isNull(2)) registered.set(id, place);
    }
    ranges.start.push(row.number(0));
    ranges.end.push(row.number(1));
    ranges.thread.push(threads.of(row, 4));
    ranges.name.push(place);
  });
  return ranges;
}

export async function readKernels(
  file: SqliteFile,
  calls: CallIndex,
  { keys, memory }: { keys: CallKeys; memory: ColumnMemory },
): Promise<KernelRows> {
  const kernels: KernelRows = {
    start: memory.wide(),
    duration: memory.wide(),
    call: memory.narrow(),
    graphNode: memory.narrow(),
    graphNodes: [],
    stream: memory.narrow(),
    streams: [],
  };
  const nodes = new Numbered();
  const streams = new Numbered();
  const columns = ['start', 'end', 'correlationId', 'globalPid', 'graphNodeId', 'deviceId', 'streamId'];
  await file.rows(kernelTable, columns, (row) => {
    const start = row.number(0);
    const took = row.number(1) - start;
    if (!(took >= 0 && took < 2 ** 53)) return;
    kernels.start.push(start);
    kernels.duration.push(took);
    kernels.call.push(calls.find(keys.of(row, 2, 3)));
    const device = row.number(5) || 0;
    const id = row.number(6) || 0;
    const stream = streams.of(device * 2 ** 32 + id);
    if (stream === kernels.streams.length) kernels.streams.push({ device, id });
    kernels.stream.push(stream);
    const node = row.isNull(4) ? -1 : nodes.of(row.number(4));
    kernels.graphNode.push(node);
    if (node < 0) return;
    const known = (kernels.graphNodes[node] ??= { id: row.number(4), start });
    known.start = Math.min(known.start, start);
  });
  return kernels;
}
