import type { ProfileRow } from './buildLog.ts';

/** `--exportProfile`: one row per layer that ran, in engine order. Times in milliseconds. */
export interface Profile {
  iterations: number | null;
  rows: ProfileRow[];
}

/** `--exportTimes`: one row per inference, milliseconds. */
export interface Timing {
  rows: { computeMs: number; latencyMs: number | null; h2dMs: number | null; d2hMs: number | null }[];
}
