/** Average and percentiles (nearest rank) of one part of all inferences, milliseconds. */
export interface TimeDistribution {
  averageMs: number;
  p50: number;
  p90: number;
  p99: number;
}

/** The distribution of at least one time. @param perMs how many of the times' unit are a millisecond */
export function timeDistribution(times: Float64Array, perMs: number): TimeDistribution {
  const sorted = times.toSorted();
  const at = (percent: number): number => sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)]! / perMs;
  const averageMs = sorted.reduce((sum, time) => sum + time, 0) / sorted.length / perMs;
  return { averageMs, p50: at(50), p90: at(90), p99: at(99) };
}
