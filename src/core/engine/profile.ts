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
  /** Launches that were made inside NVTX ranges, those of CUDA graphs included. */
  groups: TimedKernels[];
  /** How often a range of each name occurs in a pass that has any: as seen from all passes. */
  occurrences: Map<string, { least: number; most: number }>;
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
