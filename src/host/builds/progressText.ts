import type { BuildProgress } from '../../builder/driverEvent.ts';

/** A step of a build in a few words: `Timing tactics 12 of 40`. */
export function progressText({ phase, step, steps, finished }: BuildProgress): string {
  if (finished === true || steps === undefined || steps === null || steps <= 1) return phase;
  return `${phase} ${step ?? 0}/${steps}`;
}
