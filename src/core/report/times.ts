import type { FusionReport, ReportLayer } from '../fusion/fusionReport.ts';

/** Milliseconds of all layers that were measured; null if none was. */
export function totalMs(layers: readonly Pick<ReportLayer, 'averageMs'>[]): number | null {
  let sum: number | null = null;
  for (const { averageMs } of layers) if (averageMs !== null) sum = (sum ?? 0) + averageMs;
  return sum;
}

/** Every share asks for the whole; a report never changes. */
const engineTimes = new WeakMap<FusionReport, number | null>();

/**
 * Milliseconds of the whole engine, the base of every share: its layers, and ForeignNodes that were measured only as
 * a whole. null without a profile.
 */
export function engineMs(report: FusionReport): number | null {
  const known = engineTimes.get(report);
  if (known !== undefined) return known;
  let sum = totalMs(report.layers);
  const measured = new Set<number>();
  for (const { foreignNode, averageMs } of report.layers) {
    if (foreignNode !== null && averageMs !== null) measured.add(foreignNode);
  }
  for (const { id, averageMs } of report.foreignNodes) {
    if (averageMs !== null && !measured.has(id)) sum = (sum ?? 0) + averageMs;
  }
  engineTimes.set(report, sum);
  return sum;
}

/** 0 … 1 of the engine's time; null if nothing was measured. */
export function shareOf(report: FusionReport, ms: number | null): number | null {
  const whole = engineMs(report);
  return ms === null || whole === null || whole <= 0 ? null : ms / whole;
}
