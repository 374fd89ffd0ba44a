import { durationText } from '../text/numbers.ts';
import { shorten } from '../text/oneLine.ts';
import type { ProgressState } from './buildProgress.ts';

/**
 * A running build in one line, for a terminal or a status bar:
 * `timing tactics: 12 of 23, layer conv1 + relu, 172 from the timing cache, 13 tactics skipped, 34 s, about 20 s left`.
 */
export function progressLine(state: ProgressState): string {
  const { phase, done, of, layer, stage, cacheHits, skippedTotal, warnings, elapsedMs, remainingMs } = state;
  const counted = of !== null && of > 1 ? `: ${done ?? 0} of ${of}` : done !== null && of === null ? `: ${done}` : '';
  const parts = [`${phase}${counted}`];
  if (layer !== null && stage === 'tactics') parts.push(`layer ${shorten(layer)}`);
  if (cacheHits > 0) parts.push(`${cacheHits} from the timing cache`);
  if (skippedTotal > 0) parts.push(`${skippedTotal} tactics skipped`);
  if (warnings.count > 0) parts.push(`${warnings.count} ${warnings.count === 1 ? 'warning' : 'warnings'}`);
  parts.push(durationText(elapsedMs));
  if (remainingMs !== null) parts.push(`about ${durationText(remainingMs)} left`);
  return parts.join(', ');
}
