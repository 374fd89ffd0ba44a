import type { ProgressState } from './buildProgress.ts';

/**
 * A running build in one line, for a terminal or a status bar:
 * `timing tactics: 12 of 23, layer conv1 + relu, 172 from the timing cache, 13 tactics skipped, 34 s, about 20 s left`.
 */
export function progressLine(state: ProgressState): string {
  const { phase, done, of, layer, stage, cacheHits, skippedTotal, warnings, elapsedMs, remainingMs } = state;
  const counted = of !== null && of > 1 ? `: ${done ?? 0} of ${of}` : done !== null && of === null ? `: ${done}` : '';
  const parts = [`${phase}${counted}`];
  if (layer !== null && stage === 'tactics') parts.push(`layer ${shortName(layer)}`);
  if (cacheHits > 0) parts.push(`${cacheHits} from the timing cache`);
  if (skippedTotal > 0) parts.push(`${skippedTotal} tactics skipped`);
  if (warnings.count > 0) parts.push(`${warnings.count} ${warnings.count === 1 ? 'warning' : 'warnings'}`);
  parts.push(duration(elapsedMs));
  if (remainingMs !== null) parts.push(`about ${duration(remainingMs)} left`);
  return parts.join(', ');
}

/** A layer's name without what a line cannot show, both ends kept: a ForeignNode is known by them. */
export function shortName(name: string, length = 60): string {
  // eslint-disable-next-line no-control-regex
  const plain = name.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ');
  if (plain.length <= length) return plain;
  const half = Math.floor((length - 1) / 2);
  return `${plain.slice(0, half)}…${plain.slice(-half)}`;
}

/** Milliseconds of a stage, which may be short: `< 0.1 s`, `3.4 s`, from ten seconds on as `duration` has it. */
export const stageDuration = (ms: number): string =>
  ms < 50 ? '< 0.1 s' : ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms);

/** Milliseconds as `34 s`, `2 min 5 s`, `1 h 3 min`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min${seconds % 60 ? ` ${seconds % 60} s` : ''}`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ''}`;
}
