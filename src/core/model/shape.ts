/** One dimension: its size, the name that the model gives it, or null if it is not known. */
export type Dim = number | string | null;
/** null: not even the rank is known. */
export type Shape = readonly Dim[] | null;

export const unknownDims = (rank: number): Dim[] => Array<Dim>(rank).fill(null);

export const isKnown = (dims: readonly Dim[]): dims is readonly number[] =>
  dims.every((dim) => typeof dim === 'number');

/** An axis from 0; undefined outside the rank. */
export function axisOf(axis: number, rank: number): number | undefined {
  const from = axis < 0 ? axis + rank : axis;
  return from >= 0 && from < rank ? from : undefined;
}

/** The shape of an elementwise result, by NumPy's rules. A size that may be 1 or the other's is not known. */
export function broadcast(shapes: readonly Shape[]): Shape {
  let result: Shape = [];
  for (const shape of shapes) {
    if (shape === null) return null;
    if (result.length === 0) result = shape;
    else if (shape !== result) result = broadcastPair(result, shape);
  }
  return result;
}

function broadcastPair(a: readonly Dim[], b: readonly Dim[]): readonly Dim[] {
  const rank = Math.max(a.length, b.length);
  const result: Dim[] = [];
  let same = rank === a.length;
  for (let i = 0; i < rank; i++) {
    const dim = joined(a[i - rank + a.length], b[i - rank + b.length]);
    same &&= dim === a[i];
    result.push(dim);
  }
  // Thousands of tensors have the shape of the one before.
  return same ? a : result;
}

function joined(a: Dim | undefined, b: Dim | undefined): Dim {
  if (a === undefined) return b ?? null;
  if (b === undefined || b === 1 || a === b) return a;
  if (a === 1) return b;
  if (typeof a === 'number') return typeof b === 'number' ? null : a;
  return typeof b === 'number' ? b : null;
}

/** What two shapes have in common: of a tensor that may have either. */
export function common(a: Shape, b: Shape): Shape {
  if (a === null || b === null || a.length !== b.length) return null;
  return a.map((dim, i) => (dim === b[i] ? dim : null));
}

/** A declared shape, its open dimensions filled from what was inferred. */
export function refined(declared: Shape, inferred: Shape): Shape {
  if (declared === null) return inferred;
  if (inferred === null || inferred.length !== declared.length || isKnown(declared)) return declared;
  return declared.map((dim, i) =>
    typeof dim === 'number' ? dim : typeof inferred[i] === 'number' ? inferred[i] : (dim ?? inferred[i]!),
  );
}

/** Product of dimensions; null if it is neither a number nor one name alone. */
export function product(dims: readonly Dim[]): Dim {
  let size = 1;
  let name: string | null = null;
  let open = 0;
  for (const dim of dims) {
    if (typeof dim === 'number') size *= dim;
    else if (dim === null || ++open > 1) return null;
    else name = dim;
  }
  if (name === null) return size;
  return size === 1 ? name : size === 0 ? 0 : null;
}

/** The product of some dimensions divided by that of others, without names that occur in both; null: not known. */
export function quotient(over: readonly Dim[], under: readonly Dim[]): Dim {
  const rest = [...over];
  const divisor: Dim[] = [];
  for (const dim of under) {
    const at = typeof dim === 'string' ? rest.indexOf(dim) : -1;
    if (at >= 0) rest.splice(at, 1);
    else divisor.push(dim);
  }
  if (!isKnown(divisor)) return null;
  const by = divisor.reduce<number>((size, dim) => size * Number(dim), 1);
  if (by === 0 || rest.includes(null)) return null;
  const size = rest.reduce<number>((all, dim) => (typeof dim === 'number' ? all * dim : all), 1) / by;
  const names = rest.filter((dim) => typeof dim === 'string');
  if (names.length === 0) return Number.isInteger(size) ? size : null;
  return names.length === 1 && size === 1 ? names[0]! : null;
}

/** The shape that Reshape makes: 0 copies a dimension, -1 takes what is left. */
export function reshaped(from: Shape, to: readonly Dim[], allowZero: boolean): Shape {
  const result = to.map((dim, i) => (dim === 0 && !allowZero ? (from?.[i] ?? null) : dim));
  const open = result.indexOf(-1);
  if (open < 0) return result;
  const others = result.filter((_, i) => i !== open);
  const isCopied = (i: number) => to[i] === 0 && !allowZero;
  // What is copied divides out, whether its size is known or not.
  const over = from?.filter((_, i) => !isCopied(i)) ?? [null];
  result[open] = quotient(
    over,
    others.filter((_, i) => !isCopied(i < open ? i : i + 1)),
  );
  return result;
}
