import type { ByteSource } from '../../text/byteSource.ts';
import type { Problem, Read } from '../../text/problem.ts';
import { float64Column, int32Column } from './growingColumn.ts';
import { joinLaunches, type LaunchRows, type RangeRows } from './nsysLaunches.ts';
import { readMemory } from './nsysMemory.ts';
import type { Profile } from '../profile.ts';
import { SqliteFile } from './sqliteFile.ts';
import type { SqliteValue } from './sqliteRecord.ts';

const KERNELS = 'CUPTI_ACTIVITY_KIND_KERNEL';
const CALLS = 'CUPTI_ACTIVITY_KIND_RUNTIME';
const RANGES = 'NVTX_EVENTS';

/** Calls that launch one kernel each: a CUDA graph that is being captured has them, but their kernels run later. */
const LAUNCH = /^cu(?:da)?Launch(?:Cooperative)?Kernel/;

/**
 * Reads the export of an Nsight Systems trace (`nsys export --type sqlite`, the schema of its documentation): each
 * kernel with the NVTX ranges around its launch. `value` is undefined, with the reason, if the file is not such a trace
 * or has no kernels.
 */
export async function readNsysTrace(source: ByteSource): Promise<Read<Profile>> {
  const { value: file, problems } = await SqliteFile.open(source);
  if (file === undefined) return { value: undefined, problems };
  if (!file.has(KERNELS)) return { value: undefined, problems: [...problems, noKernels(file)] };
  const kernels = await readKernels(file);
  const names = await readNames(file);
  const calls = await readCalls(file, kernels.keys, names);
  const ranges = await readRanges(file, names);
  const missing = [CALLS, RANGES].filter((table) => !file.has(table)).map(noTable);
  const { trace, problems: unmatched } = joinLaunches(kernels, calls, ranges);
  const memory = await readMemory(file);
  return {
    value: { iterations: trace.passes, rows: [], trace: memory.length === 0 ? trace : { ...trace, memory } },
    problems: [...file.problems(), ...missing, ...unmatched],
  };
}

const noKernels = (file: SqliteFile): Problem => ({
  severity: 'error',
  code: 'no-profile',
  message: file.has('StringIds')
    ? 'The trace has no kernels: record it with nsys profile --trace=cuda,nvtx while the engine runs.'
    : 'The SQLite file is not a trace of Nsight Systems. Use the file that nsys export --type sqlite writes.',
});

const noTable = (table: string): Problem => ({
  severity: 'warning',
  code: 'trace-table',
  message: `The trace has no table ${table}, so that its kernels cannot be assigned to layers: record it with nsys profile --trace=cuda,nvtx.`,
});

const numberOf = (value: SqliteValue | undefined): number =>
  typeof value === 'number' ? value : value === null || value === undefined ? Number.NaN : Number(value);

async function readNames(file: SqliteFile): Promise<Map<number, string>> {
  const names = new Map<number, string>();
  await file.rows('StringIds', ['id', 'value'], ([id, value]) => {
    if (typeof value === 'string') names.set(numberOf(id), value);
  });
  return names;
}

/** Kernels of a trace, by row. */
export interface KernelRows {
  /** Nanoseconds. */
  duration: Float64Array;
  /** Index in `keys`; -1: no call is known. */
  key: Int32Array;
  /** Index in `graphNodes`; -1: no CUDA graph ran it. */
  graphNode: Int32Array;
  graphNodes: CapturedNode[];
  /** The distinct calls that the kernels come from, ascending. */
  keys: CallKeys;
}

/** A kernel's node of a CUDA graph. */
export interface CapturedNode {
  /** CUPTI's: the graph's id in the upper 32 bits, its nodes count below. */
  id: number;
  /** When it ran first. */
  start: number;
}

/** Correlation ids count in each process: the key of a call is both, as one number. */
export class CallKeys {
  readonly sorted: Float64Array;
  readonly #processes: Interned<SqliteValue>;

  constructor(all: Float64Array, processes: Interned<SqliteValue>) {
    this.#processes = processes;
    const sorted = all.slice().sort();
    let count = 0;
    for (const key of sorted) if (key >= 0 && (count === 0 || sorted[count - 1] !== key)) sorted[count++] = key;
    this.sorted = sorted.subarray(0, count);
  }

  /** Index of a call among the sorted ones; -1: no kernel comes from it. */
  find(process: SqliteValue, correlation: number): number {
    const known = this.#processes.find(process);
    return known === undefined ? -1 : this.indexOf(keyOf(known, correlation));
  }

  indexOf(key: number): number {
    let low = 0;
    let high = this.sorted.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.sorted[middle]!;
      if (found === key) return middle;
      if (found < key) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }
}

const keyOf = (process: number, correlation: number): number =>
  correlation >= 0 && correlation < 2 ** 32 ? process * 2 ** 32 + correlation : -1;

/** Small numbers for values, in the order in which they come. */
class Interned<T> {
  readonly #numbers = new Map<T, number>();

  find(value: T): number | undefined {
    return this.#numbers.get(value);
  }

  of(value: T): number {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    this.#numbers.set(value, this.#numbers.size);
    return this.#numbers.size - 1;
  }
}

/** The process in a thread's or a process's global id: all but the 24 bits of the thread. */
function processOf(id: SqliteValue | undefined): SqliteValue {
  if (typeof id === 'bigint') return Number(id >> 24n);
  return typeof id === 'number' ? Math.floor(id / 2 ** 24) : null;
}

async function readKernels(file: SqliteFile): Promise<KernelRows> {
  const [duration, key, graphNode] = [float64Column(), float64Column(), int32Column()];
  const nodes = new Interned<number>();
  const graphNodes: CapturedNode[] = [];
  const processes = new Interned<SqliteValue>();
  const byProcess = file.hasColumn(KERNELS, 'globalPid');
  const columns = ['start', 'end', 'correlationId', 'globalPid', 'graphNodeId'];
  await file.rows(KERNELS, columns, ([from, to, correlation, process, node]) => {
    const began = numberOf(from);
    const took = numberOf(to) - began;
    if (!(took >= 0 && took < 2 ** 53)) return;
    duration.push(took);
    key.push(keyOf(processes.of(byProcess ? processOf(process) : null), numberOf(correlation)));
    const index = node === null || node === undefined ? -1 : nodes.of(numberOf(node));
    graphNode.push(index);
    if (index < 0) return;
    const known = (graphNodes[index] ??= { id: numberOf(node), start: began });
    known.start = Math.min(known.start, began);
  });
  const allKeys = key.take();
  const keys = new CallKeys(allKeys, processes);
  return {
    duration: duration.take(),
    key: Int32Array.from(allKeys, (one) => keys.indexOf(one)),
    graphNode: graphNode.take(),
    graphNodes,
    keys,
  };
}

async function readCalls(file: SqliteFile, keys: CallKeys, names: ReadonlyMap<number, string>): Promise<LaunchRows> {
  const [start, thread, key] = [float64Column(), int32Column(), int32Column()];
  const byProcess = file.hasColumn(KERNELS, 'globalPid');
  const launches = new Set<number>();
  for (const [id, name] of names) if (LAUNCH.test(name)) launches.add(id);
  const threads = new Interned<SqliteValue>();
  const columns = ['start', 'globalTid', 'correlationId', 'nameId'];
  await file.rows(CALLS, columns, ([from, id = null, correlation, name]) => {
    const found = keys.find(byProcess ? processOf(id) : null, numberOf(correlation));
    if (found < 0 && !launches.has(numberOf(name))) return;
    start.push(numberOf(from));
    thread.push(threads.of(id));
    key.push(found);
  });
  return {
    start: start.take(),
    thread: thread.take(),
    key: key.take(),
    threadOf: (id) => threads.find(id),
  };
}

async function readRanges(file: SqliteFile, names: ReadonlyMap<number, string>): Promise<RangeRows> {
  const [start, end] = [float64Column(), float64Column()];
  const [thread, name] = [int32Column(), int32Column()];
  const threads = new Interned<SqliteValue>();
  const texts = new Interned<string>();
  const words: string[] = [];
  const ids: SqliteValue[] = [];
  const columns = ['start', 'end', 'text', 'textId', 'globalTid'];
  await file.rows(RANGES, columns, ([from, to, text, textId, id = null]) => {
    const word = typeof text === 'string' ? text : names.get(numberOf(textId));
    const until = numberOf(to);
    if (word === undefined || !(until >= numberOf(from))) return;
    start.push(numberOf(from));
    end.push(until);
    const number = threads.of(id);
    ids[number] = id;
    thread.push(number);
    const place = texts.of(word);
    words[place] = word;
    name.push(place);
  });
  return {
    start: start.take(),
    end: end.take(),
    thread: thread.take(),
    threadIds: ids,
    name: name.take(),
    names: words,
  };
}
