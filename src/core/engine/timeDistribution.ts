/** Average and percentiles (nearest rank) of one part of all inferences, milliseconds. */
export interface TimeDistribution {
  averageMs: number;
  p50: number;
  p90: number;
  p99: number;
}

/** The distribution of at least one time; sorts the times in place. @param perMs how many of their unit are a millisecond */
export function timeDistribution(times: Float64Array, perMs: number): TimeDistribution {
  times.sort();
  const at = (percent: number): number => times[Math.max(0, Math.ceil((percent / 100) * times.length) - 1)]! / perMs;
  return { averageMs: sumOfTimes(times) / times.length / perMs, p50: at(50), p90: at(90), p99: at(99) };
}

/** A loop: `reduce` makes an object for each number, and a trace has millions. */
export function sumOfTimes(times: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < times.length; index++) sum += times[index]!;
  return sum;
}
