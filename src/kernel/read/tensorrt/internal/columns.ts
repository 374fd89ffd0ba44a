/** Bytes of a block: a column grows without being copied, and any block serves any column. */
const blockBytes = 1 << 19;

/** Numbers that come one after the other, in typed arrays: a tenth of the memory of an array of objects. */
export class NumberColumn {
  length = 0;
  readonly #blocks: (Float64Array | Int32Array)[] = [];
  readonly #memory: ColumnMemory;
  readonly #isWide: boolean;
  readonly #shift: number;
  readonly #mask: number;

  constructor(memory: ColumnMemory, isWide: boolean) {
    this.#memory = memory;
    this.#isWide = isWide;
    this.#shift = isWide ? 16 : 17;
    this.#mask = (1 << this.#shift) - 1;
  }

  push(value: number): void {
    const row = this.length++;
    if ((row & this.#mask) === 0) {
      const buffer = this.#memory.take();
      this.#blocks.push(this.#isWide ? new Float64Array(buffer) : new Int32Array(buffer));
    }
    this.#blocks[row >> this.#shift]![row & this.#mask] = value;
  }

  at(row: number): number {
    return this.#blocks[row >> this.#shift]![row & this.#mask]!;
  }

  set(row: number, value: number): void {
    this.#blocks[row >> this.#shift]![row & this.#mask] = value;
  }

  /** Makes it so many rows of one value. */
  fill(length: number, value: number): this {
    while (this.length < length) this.push(value);
    return this;
  }

  /** Gives the memory to other columns; the column is empty afterwards. */
  release(): void {
    for (const { buffer } of this.#blocks) this.#memory.give(buffer as ArrayBuffer);
    this.#blocks.length = 0;
    this.length = 0;
  }
}

/** Makes columns from blocks that others released: freed memory is used at once, not after a collection of garbage. */
export class ColumnMemory {
  readonly #free: ArrayBuffer[] = [];

  /** A column of any numbers. */
  wide(): NumberColumn {
    return new NumberColumn(this, true);
  }

  /** A column of integers of 32 bits. */
  narrow(): NumberColumn {
    return new NumberColumn(this, false);
  }

  take(): ArrayBuffer {
    return this.#free.pop() ?? new ArrayBuffer(blockBytes);
  }

  give(buffer: ArrayBuffer): void {
    this.#free.push(buffer);
  }
}

/** The order of rows by a column, of equal ones the one with the larger `last` first. undefined: they are in order. */
export function orderOf(by: NumberColumn, last?: NumberColumn): Uint32Array | undefined {
  const before = (a: number, b: number): number => by.at(a) - by.at(b) || (last ? last.at(b) - last.at(a) : a - b);
  let sorted = true;
  for (let row = 1; row < by.length && sorted; row++) sorted = before(row - 1, row) <= 0;
  if (sorted) return undefined;
  const order = new Uint32Array(by.length);
  for (let row = 0; row < order.length; row++) order[row] = row;
  return order.sort(before);
}
