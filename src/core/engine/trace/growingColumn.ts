/** Rows of a block: a column grows without being copied. */
const blockRows = 1 << 16;

/** Numbers that come one after the other, in typed arrays: a tenth of the memory of an array of objects. */
export class GrowingColumn<T extends Float64Array | Int32Array> {
  #full: T[] = [];
  #block: T;
  #filled = 0;
  readonly #make: (length: number) => T;

  constructor(make: (length: number) => T) {
    this.#make = make;
    this.#block = make(blockRows);
  }

  push(value: number): void {
    if (this.#filled === blockRows) {
      this.#full.push(this.#block);
      this.#block = this.#make(blockRows);
      this.#filled = 0;
    }
    this.#block[this.#filled++] = value;
  }

  /** All of them in one array; the column is empty afterwards, so that they are in memory once. */
  take(): T {
    const all = this.#make(this.#full.length * blockRows + this.#filled);
    this.#full.forEach((block, index) => all.set(block, index * blockRows));
    all.set(this.#block.subarray(0, this.#filled), this.#full.length * blockRows);
    this.#full = [];
    this.#filled = 0;
    return all;
  }
}

export const float64Column = (): GrowingColumn<Float64Array> => new GrowingColumn((length) => new Float64Array(length));
export const int32Column = (): GrowingColumn<Int32Array> => new GrowingColumn((length) => new Int32Array(length));

/** The order of rows by start, of equal ones the one that ends last first. undefined: they are in order. */
export function orderOf(start: Float64Array, end?: Float64Array): Uint32Array | undefined {
  const before = (a: number, b: number): number => start[a]! - start[b]! || (end ? end[b]! - end[a]! : a - b);
  let sorted = true;
  for (let row = 1; row < start.length && sorted; row++) sorted = before(row - 1, row) <= 0;
  return sorted ? undefined : Uint32Array.from(start.keys()).sort(before);
}
