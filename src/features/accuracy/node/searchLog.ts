import { TradeCurve } from '../smallestFix.ts';

/** A run of a search that was made. */
interface MadeTrial {
  /** The nodes that were exact. */
  exact: number[];
  /** All other nodes, where there is only one; null: there are several. */
  only: number | null;
  error: number;
  /** It was over all samples; otherwise it ended at the first one that misses the tolerance. */
  whole: boolean;
}

/** What a search has found so far. */
export class SearchLog {
  readonly curve = new TradeCurve();
  /** Error of the outputs with only this node in low precision, where that misses the tolerance. */
  readonly alone = new Map<number, number>();
  /** The best that is worth a look: a half of the error before, or fewer nodes that pass. */
  best: { nodes: number; error: number } | undefined;
  readonly #tolerance: number;
  readonly #first: number;

  /** `first`: the error with no node exact. */
  constructor(tolerance: number, first: number) {
    this.#tolerance = tolerance;
    this.#first = first;
    this.curve.add([], first);
  }

  /** Takes a run; true: there is a new best. */
  add({ exact, only, error, whole }: MadeTrial): boolean {
    const passes = error <= this.#tolerance;
    if (only !== null && !passes) this.alone.set(only, error);
    if (!whole && !passes) return false;
    this.curve.add(
      exact.toSorted((a, b) => a - b),
      error,
    );
    const isBetter = error < (this.best?.error ?? this.#first) / 2;
    const isSmaller = passes && exact.length < (this.best?.nodes ?? Infinity);
    if (!isBetter && !isSmaller) return false;
    this.best = { nodes: exact.length, error };
    return true;
  }
}
