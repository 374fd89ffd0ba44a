import type { Constant } from '../../subject.ts';

/** Integers below this are exact in FP32, and so are their sums. */
export const exactLimit = 2 ** 24;

/** Weights minus their zero point, which may be one for each column, or for each output channel of a convolution. */
export function centeredWeights(
  { values, shape }: Constant,
  zero: Constant | null,
  isConv: boolean,
): Float64Array | null {
  if (!zero || zero.values.length === 1) return values.map((value) => value - (zero?.values[0] ?? 0));
  const channels = isConv ? shape[0]! : shape.at(-1)!;
  if (zero.values.length !== channels) return null;
  const inner = isConv ? values.length / channels : 1;
  return values.map((value, index) => value - zero.values[isConv ? Math.floor(index / inner) : index % channels]!);
}

/** The largest sum of magnitudes that goes into one result. */
export function largestSum(values: Float64Array, shape: readonly number[], isConv: boolean): number {
  const channels = isConv ? shape[0]! : shape.length > 1 ? shape.at(-1)! : 1;
  const inner = isConv ? values.length / channels : 1;
  // Of a stack of matrices the columns of all are added: more than needed, never less.
  const stack = isConv ? 1 : shape.slice(0, -2).reduce((size, dim) => size * dim, 1);
  const sums = new Float64Array(channels * stack);
  const matrix = values.length / stack;
  for (const [index, value] of values.entries()) {
    const channel = isConv ? Math.floor(index / inner) : Math.floor(index / matrix) * channels + (index % channels);
    sums[channel]! += Math.abs(value);
  }
  return sums.reduce((most, sum) => Math.max(most, sum), 0);
}
