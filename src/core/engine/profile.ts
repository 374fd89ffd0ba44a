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
  /** The passes in which there are any, and their time in each in nanoseconds; a pass may come twice. */
  passes: number[];
  passNs: number[];
}

/** `--exportTimes`: one row per inference, milliseconds. */
export interface Timing {
  rows: { computeMs: number; latencyMs: number | null; h2dMs: number | null; d2hMs: number | null }[];
}
