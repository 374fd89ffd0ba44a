import type { Timing } from './profile.ts';
import type { Read } from '../text/problem.ts';
import { isRecord, numberOr, readJsonDocuments } from './readJson.ts';
import { type TimeDistribution, timeDistribution } from './timeDistribution.ts';

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

/** By part of an inference; one that was not recorded is omitted. */
export type TimingSummary = Partial<Record<keyof Timing['rows'][number], TimeDistribution>>;

export function summarizeTiming({ rows }: Timing): TimingSummary {
  const summary: TimingSummary = {};
  for (const part of ['computeMs', 'latencyMs', 'h2dMs', 'd2hMs'] as const) {
    const times = Float64Array.from(rows.flatMap((row) => row[part] ?? []));
    if (times.length > 0) summary[part] = timeDistribution(times, 1);
  }
  return summary;
}
