import { endText } from '../../accuracy/accuracyText.ts';
import { overflowFrom } from '../../accuracy/measures.ts';
import type { NodeAccuracy } from '../panel/viewData.ts';

/** Takes what one point is: key and label of its line in the legend, paint, meaning. */
type Put = (point: number, key: string, label: string, paint: number, meaning: string) => void;

/** The paints of core/scene/graph/overlay.ts that are used here. */
interface Paints {
  time: number;
  derived: number;
  grey: number;
  unknown: number;
}

/** Upper ends of the steps of errors; above the last one, or not finite, is the seventh step. */
const errorBounds = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 1e-1];

/** The step of an error on the time scale; null: not finite. */
export function errorStep(error: number | null): number {
  const found = errorBounds.findIndex((bound) => (error ?? Infinity) <= bound);
  return found < 0 ? errorBounds.length : found;
}

const exact = ['exact', 'Not in low precision'] as const;

/**
 * Local errors in low precision on the time scale's steps; culprits and what they spoiled have colours of their own.
 * @param judged by point; undefined: not in low precision
 * @returns keys of the legend's lines, in their order
 */
export function paintErrors(put: Put, judged: readonly (NodeAccuracy | undefined)[], paints: Paints): string[] {
  for (const [point, node] of judged.entries()) {
    if (node === undefined) put(point, ...exact, paints.grey, 'stays as it is');
    else if (node.role === 'root')
      put(point, 'root', 'To blame', 1, 'its loss alone makes an output miss the tolerance');
    else if (node.role === 'victim')
      put(point, 'victim', 'Spoiled', paints.derived + 1, 'reads a value that overflowed or was spoiled before');
    else {
      const step = errorStep(node.localError);
      const label = step === errorBounds.length ? `over ${errorBounds.at(-1)!}` : `up to ${errorBounds[step]!}`;
      put(point, `error:${step}`, label, paints.time + step, 'local error: what the node alone loses');
    }
  }
  const steps = errorBounds.map((_, i) => `error:${i}`);
  return ['root', 'victim', `error:${errorBounds.length}`, ...steps.toReversed(), ...exact.slice(0, 1)];
}

/** Upper ends of the steps of ranges, as shares of the largest number of the type; the last step ends at that number. */
const rangeBounds = [1e-4, 1e-3, 1e-2, 1e-1, 0.5];

/**
 * The largest result of each node in FP32, as a share of the largest number of its low type. INT8 and FP8 have a scale
 * instead of an end, so they have no range here.
 * @param judged by point; undefined: not in low precision
 * @returns keys of the legend's lines, in their order
 */
export function paintRanges(put: Put, judged: readonly (NodeAccuracy | undefined)[], paints: Paints): string[] {
  for (const [point, node] of judged.entries()) {
    const end = node === undefined ? Infinity : overflowFrom[node.type];
    if (node === undefined) put(point, ...exact, paints.grey, 'stays as it is');
    else if (node.notJudged !== undefined || end === Infinity)
      put(point, 'unknown', 'Range unknown', paints.unknown, 'was not measured, or its type has a scale');
    // Measured, and not finite in FP32 already.
    else if (node.max === null || node.max >= end)
      put(point, 'over', `Over ${endText(node.type)}`, 1, 'becomes infinity in low precision');
    else {
      const share = node.max / end;
      const found = rangeBounds.findIndex((bound) => share <= bound);
      const step = found < 0 ? rangeBounds.length : found;
      const percent = (bound: number) => `${Number((100 * bound).toPrecision(2))} %`;
      const label = found < 0 ? `over ${percent(rangeBounds.at(-1)!)}` : `up to ${percent(rangeBounds[step]!)}`;
      const meaning = `largest result in FP32, of the ${endText(node.type)} at which the low precision ends`;
      put(point, `range:${step}`, label, paints.time + step, meaning);
    }
  }
  const steps = Array.from({ length: rangeBounds.length + 1 }, (_, i) => `range:${i}`);
  return ['over', ...steps.toReversed(), 'unknown', ...exact.slice(0, 1)];
}
