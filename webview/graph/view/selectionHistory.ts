/** The way back and forward through what was selected, as in a browser: a new selection forgets what was ahead. */
export class SelectionHistory<T> {
  readonly #entries: T[] = [];
  readonly #same: (a: T, b: T) => boolean;
  #at = -1;

  constructor(same: (a: T, b: T) => boolean) {
    this.#same = same;
  }

  /** Adds what is selected now, unless it is the same as before. The oldest of more than 200 are forgotten. */
  push(entry: T): void {
    const now = this.#entries[this.#at];
    if (now !== undefined && this.#same(now, entry)) return;
    this.#entries.splice(this.#at + 1, this.#entries.length, entry);
    if (this.#entries.length > most) this.#entries.shift();
    this.#at = this.#entries.length - 1;
  }

  /** One step back (-1) or forward (1); undefined at the end. */
  step(by: -1 | 1): T | undefined {
    const entry = this.#entries[this.#at + by];
    if (entry !== undefined) this.#at += by;
    return entry;
  }

  clear(): void {
    this.#entries.length = 0;
    this.#at = -1;
  }
}

const most = 200;
