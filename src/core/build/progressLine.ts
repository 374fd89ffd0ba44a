import { counted, durationText, thousands } from '../text/numbers.ts';
import { shorten } from '../text/oneLine.ts';
import type { ProgressState } from './buildProgress.ts';

/**
 * A running build in one line, for a terminal or a status bar:
 * `timing tactics: 12 of 23, layer conv1 + relu, 172 from the timing cache, 13 tactics skipped, 34 s, about 20 s left`.
 */
export function progressLine(state: ProgressState): string {
  const { phase, done, of, layer, stage, cacheHits, skippedTotal, warnings, elapsedMs, remainingMs } = state;
  const share =
    of !== null && of > 1
      ? `: ${thousands(done ?? 0)} of ${thousands(of)}`
      : done !== null && of === null
        ? `: ${thousands(done)}`
        : '';
  const parts = [`${phase}${share}`];
  if (layer !== null && stage === 'tactics') parts.push(`layer ${shorten(layer)}`);
  if (cacheHits > 0) parts.push(`${thousands(cacheHits)} from the timing cache`);
  if (skippedTotal > 0) parts.push(`${thousands(skippedTotal)} tactics skipped`);
  if (warnings.count > 0) parts.push(counted(warnings.count, 'warning'));
  parts.push(durationText(elapsedMs));
  if (remainingMs !== null) parts.push(`about ${durationText(remainingMs)} left`);
  return parts.join(', ');
}
