import type { Timing } from './profile.ts';
import type { Read } from '../text/problem.ts';
import { isRecord, numberOr, readJsonDocuments } from './readJson.ts';

/**
 * Reads `--exportTimes`: one row per inference. Versions before 8.2 write fewer members. `value` is undefined if the
 * text contains no row with a compute time.
 */
export function readTiming(text: string): Read<Timing> {
  const { documents, problems } = readJsonDocuments(text, {});
  const timing: Timing = { rows: [] };
  for (const entry of documents.flat()) {
    if (!isRecord(entry)) continue;
    const computeMs = numberOr(entry['computeMs']);
    if (computeMs === null) continue;
    timing.rows.push({
      computeMs,
      latencyMs: numberOr(entry['latencyMs']),
      h2dMs: numberOr(entry['h2dMs'] ?? entry['inMs']),
      d2hMs: numberOr(entry['d2hMs'] ?? entry['outMs']),
    });
  }
  if (timing.rows.length > 0) return { value: timing, problems };
  problems.push({
    severity: 'error',
    code: 'no-timing',
    message: 'Not a list of inference times: no entry has "computeMs". Use the file that trtexec --exportTimes writes.',
  });
  return { value: undefined, problems };
}

/** Average and percentiles (nearest rank) of one part of all inferences, milliseconds. */
export interface TimeDistribution {
  averageMs: number;
  p50: number;
  p90: number;
  p99: number;
}

/** By part of an inference; one that was not recorded is omitted. */
export type TimingSummary = Partial<Record<keyof Timing['rows'][number], TimeDistribution>>;

export function summarizeTiming({ rows }: Timing): TimingSummary {
  const summary: TimingSummary = {};
  for (const part of ['computeMs', 'latencyMs', 'h2dMs', 'd2hMs'] as const) {
    const sorted = Float64Array.from(rows.flatMap((row) => row[part] ?? [])).toSorted();
    if (sorted.length === 0) continue;
    const at = (percent: number): number => sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)]!;
    const averageMs = sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length;
    summary[part] = { averageMs, p50: at(50), p90: at(90), p99: at(99) };
  }
  return summary;
}
