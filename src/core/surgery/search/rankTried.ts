import type { BuildDiff, Both } from '../../diff/buildDiff.ts';
import type { Candidate } from './candidates.ts';

/** What came of a change that was tried, and what it costs compared with the model as it is. null: not known. */
export interface Tried extends Pick<Candidate, 'option' | 'values' | 'results'> {
  /** null: it could not be built, or the build does not list what would tell. */
  reached: boolean | null;
  /** Why `reached` is null; otherwise null. */
  why: string | null;
  /** Kernels and layers more than without the change. */
  kernels: number | null;
  /** Reformat layers more. */
  reformats: number | null;
  /** Milliseconds more, of all layers, where both builds were timed. */
  ms: number | null;
}

/** What a change costs, from the comparison with the model as it is. */
export function costOf({ totals, time }: BuildDiff): Pick<Tried, 'kernels' | 'reformats' | 'ms'> {
  const more = ({ a, b }: Both) => (a === null || b === null ? null : b - a);
  return { kernels: more(totals.kernels), reformats: more(totals.reformats), ms: more({ a: time.aMs, b: time.bMs }) };
}

const resultsOrder: Candidate['results'][] = ['same', 'rounded', 'cut', 'other'];

/**
 * Changes in the order in which to consider them: what reaches the goal first; of these what leaves the values of the
 * model as they are; then by time, kernels and reformats. Ties stay in the order in which they were tried.
 */
export function rankTried(tried: readonly Tried[]): Tried[] {
  const verdict = ({ reached }: Tried) => (reached === null ? 1 : reached ? 0 : 2);
  return tried.toSorted(
    (a, b) =>
      verdict(a) - verdict(b) ||
      resultsOrder.indexOf(a.results) - resultsOrder.indexOf(b.results) ||
      less(a.ms, b.ms) ||
      less(a.kernels, b.kernels) ||
      less(a.reformats, b.reformats),
  );
}

/** What is not known comes last. */
const less = (a: number | null, b: number | null): number =>
  a === b ? 0 : (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY);
