import type { AccuracyOutput } from './accuracyReport.ts';

/** How far one tensor is from the reference; see `compare_tensors.py`. */
export interface ComparedOutput {
  name: string;
  kind: 'float' | 'other';
  shape: number[];
  /** Largest magnitude of the reference. */
  max: number | null;
  /** max|difference| / max|reference|; for other types than floating point the share of elements that differ. */
  error: number | null;
  /** Finite where the reference is. */
  finite: boolean;
  /** The shapes of the reference and of this tensor, where they differ. */
  shapes?: [number[], number[]];
  nan?: number;
  inf?: number;
}

/** A number as a report gives it; null: not finite. */
export const finiteOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** Whether an error is within a tolerance; null, not finite, is not. */
export const isWithin = (error: number | null, tolerance: number): boolean => error !== null && error <= tolerance;

/** Which outputs count for the tolerance: those of floating-point types, all, or those with these names. */
export type JudgedOutputs = 'float' | 'all' | readonly string[];

export const isJudged = ({ name, kind }: ComparedOutput, judged: JudgedOutputs): boolean =>
  typeof judged === 'string' ? kind === 'float' || judged === 'all' : judged.includes(name);

/** The worst error of all samples' outputs that count; Infinity: not finite. */
export function trialError(samples: readonly ComparedOutput[][], judged: JudgedOutputs): number {
  const counted = samples.flat().filter((output) => isJudged(output, judged));
  return Math.max(0, ...counted.map(({ finite, error }) => (finite && error !== null ? error : Infinity)));
}

/** Each output over its samples (at least one), which have the same outputs in the same order. */
export function outputErrors(samples: readonly ComparedOutput[][], judged: JudgedOutputs): AccuracyOutput[] {
  return samples[0]!.map((first, i) => {
    const all = samples.map((sample) => sample[i]!);
    const finite = all.every((one) => one.finite);
    const errors = all.map(({ error }) => error ?? 0);
    const sum = errors.reduce((a, b) => a + b, 0);
    return {
      name: first.name,
      max: first.kind === 'float' ? Math.max(...all.map(({ max }) => max ?? 0)) : null,
      error: finite ? Math.max(...errors) : null,
      finite,
      ...(all.some(({ shapes }) => shapes) && { shapeDiffers: true as const }),
      judged: isJudged(first, judged),
      mean: finite ? sum / errors.length : null,
    };
  });
}

/** The worst error of the outputs that count; null: not finite. */
export function worstError(outputs: readonly AccuracyOutput[]): number | null {
  const judged = outputs.filter((output) => output.judged);
  return judged.some(({ finite }) => !finite) ? null : Math.max(0, ...judged.map(({ error }) => error ?? 0));
}
