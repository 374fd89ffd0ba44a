import type { ProfileRow } from './buildLog.ts';

/** Layer times of `--exportProfile`, or the kernels of a trace. Times in milliseconds. */
export interface Profile {
  iterations: number | null;
  /** `--exportProfile`: one row per layer that ran, in engine order. */
  rows: ProfileRow[];
  /** Nsight Systems: its kernels, not yet put to layers. */
  trace?: KernelTrace;
}

/** The kernels of a trace, added up by the NVTX ranges that they were launched in. */
export interface KernelTrace {
  /** How many kernels ran, and their time altogether in milliseconds. */
  kernels: number;
  ms: number;
  /** How many passes through an engine there are: enqueues that ran kernels, and launches of CUDA graphs. */
  passes: number;
  /** Copies and memsets of the whole trace, one entry a kind; omitted: it recorded none. */
  memory?: MemoryOperations[];
  /** Launches that were made inside NVTX ranges, those of CUDA graphs included. */
  groups: TimedKernels[];
  /** How often a range of each name occurs in a pass that has any: as seen from all passes. */
  occurrences: Map<string, { least: number; most: number }>;
  /** By pass: nanoseconds from the start of its first kernel to the end of its last. */
  spansNs?: Float64Array;
  /** Version of the program that wrote the file, as `2023.4.4.54`. */
  recorder?: string;
  /** The GPU that ran the kernels. */
  gpu?: TracedGpu;
}

/** A GPU as a trace describes it; null: the trace does not say. */
export interface TracedGpu {
  /** Its name, as `NVIDIA H200`. */
  name: string;
  /** Bytes per second between the GPU and its memory, at most. */
  bytesPerSecond: number | null;
  /** Bytes of the last cache before the memory. */
  cacheBytes: number | null;
  /** Compute capability, as `9.0`. */
  computeCapability: string | null;
}

/** Memory operations of one kind in a whole trace, next to its kernels. */
export interface MemoryOperations {
  /** A copy by its direction, or a `memset`. */
  kind: 'host-to-device' | 'device-to-host' | 'device-to-device' | 'other-copy' | 'set';
  /** How many there were. */
  count: number;
  /** Their time altogether in milliseconds. */
  ms: number;
  /** Bytes that they copied or set. */
  bytes: number;
}

/** Kernels that were launched in the same place of each pass. */
export interface TimedKernels {
  /** The ranges around, innermost first, and which of its name in the pass each is, from 0. */
  ranges: { name: string; turn: number }[];
  launches: number;
  /** The pass and the time in nanoseconds of each kernel; a pass may come more than once. */
  passes: Int32Array;
  passNs: Float64Array;
  /** How long no kernel ran before those in the median pass, nanoseconds. */
  gapNs: number;
  /** How many calls of the host launched one each, and how long they took, nanoseconds. */
  calls: number;
  callNs: number;
  /** When and where those of the median pass ran, in nanoseconds from the start of its first kernel. */
  ran?: { startNs: number; endNs: number; stream: number };
}

/** `--exportTimes`: one row per inference, milliseconds. */
export interface Timing {
  rows: { computeMs: number; latencyMs: number | null; h2dMs: number | null; d2hMs: number | null }[];
}
