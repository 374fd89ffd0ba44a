import type { FusionReport, ReportLayer } from '../../src/kernel/fusion/fusionReport.ts';
import { savingOf, savingText, shareOf } from '../../src/kernel/report/words.ts';
import { timeText } from '../../src/kernel/base/text.ts';
import { strings } from '../shared/strings.ts';

const texts = strings.fusion.details;

/** One thing that is known of what is selected. */
export interface Fact {
  name: string;
  value: string;
}

/** Time, with its share of the engine's; nothing where it was not measured. */
export function timeFact(report: FusionReport, ms: number | null): Fact[] {
  if (ms === null) return [];
  const share = shareOf(report, ms);
  return [{ name: texts.time, value: timeText(ms) + (share === null ? '' : ` · ${texts.ofAll(share * 100)}`) }];
}

/** What only a trace says of a layer. */
export function tracedFacts({ p50, p90, p99, launches, launchP50, launchP90, gapMs }: ReportLayer): Fact[] {
  if (p50 === undefined || p90 === undefined || p99 === undefined || launches === undefined) return [];
  return [
    { name: texts.percentiles, value: [p50, p90, p99].map(timeText).join(', ') },
    { name: texts.launches, value: texts.launched(launches, launchP50, launchP90) },
    ...(gapMs === undefined ? [] : [{ name: texts.gap, value: timeText(gapMs) }]),
  ];
}

/** What fusion saved in a group; nothing where it is not known. */
export function savedFact(report: FusionReport, group: { foreignNode: number } | { layer: number }): Fact[] {
  const saving = savingOf(report, group);
  return saving === undefined ? [] : [{ name: texts.saved, value: savingText(saving) }];
}
