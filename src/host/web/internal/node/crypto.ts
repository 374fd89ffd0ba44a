// What the viewing path uses of `node:crypto`. The browser's own SHA-256 is asynchronous, so here is another one.
export const randomUUID = (): string => crypto.randomUUID();

export function randomBytes(length: number): { toString: (encoding: 'base64' | 'hex') => string } {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return { toString: (encoding) => textOf(bytes, encoding) };
}

/** A hash to which bytes are added: SHA-256 only. */
export function createHash(algorithm: string): Hash {
  if (algorithm !== 'sha256') throw new Error(`no ${algorithm} here`);
  return new Hash();
}

class Hash {
  readonly #state = Uint32Array.from([
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
  ]);
  readonly #block = new Uint8Array(64);
  #filled = 0;
  #length = 0;

  update(data: string | Uint8Array): this {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
    this.#length += bytes.length;
    for (let at = 0; at < bytes.length;) {
      const taken = bytes.subarray(at, at + 64 - this.#filled);
      this.#block.set(taken, this.#filled);
      this.#filled += taken.length;
      at += taken.length;
      if (this.#filled === 64) this.#mix();
    }
    return this;
  }

  digest(): Uint8Array;
  digest(encoding: 'base64' | 'hex'): string;
  digest(encoding?: 'base64' | 'hex'): Uint8Array | string {
    const bits = this.#length * 8;
    const end = new Uint8Array((this.#filled < 56 ? 64 : 128) - this.#filled);
    end[0] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(end.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(end.length - 4, bits);
    this.update(end);
    const bytes = new Uint8Array(32);
    this.#state.forEach((word, index) => new DataView(bytes.buffer).setUint32(4 * index, word));
    return encoding === undefined ? bytes : textOf(bytes, encoding);
  }

  #mix(): void {
    const view = new DataView(this.#block.buffer);
    for (let i = 0; i < 16; i += 1) words[i] = view.getUint32(4 * i);
    for (let i = 16; i < 64; i += 1) {
      const [a, b] = [words[i - 15]!, words[i - 2]!];
      const low = turned(a, 7) ^ turned(a, 18) ^ (a >>> 3);
      const high = turned(b, 17) ^ turned(b, 19) ^ (b >>> 10);
      words[i] = words[i - 16]! + low + words[i - 7]! + high;
    }
    let [a, b, c, d, e, f, g, h] = this.#state as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    for (let i = 0; i < 64; i += 1) {
      const one = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + constants[i]! + words[i]!;
      const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, index) => {
      this.#state[index]! += word;
    });
    this.#filled = 0;
  }
}

const words = new Uint32Array(64);
const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** The first bits of the cube roots of the first 64 primes. */
const constants = Uint32Array.from(
  Array.from({ length: 312 }, (_, number) => number)
    .filter(
      (number) => number > 1 && !Array.from({ length: number }, (_, d) => d).some((d) => d > 1 && number % d === 0),
    )
    .map((prime) => (Math.cbrt(prime) % 1) * 2 ** 32),
);

function textOf(bytes: Uint8Array, encoding: 'base64' | 'hex'): string {
  if (encoding === 'base64') return btoa(String.fromCharCode(...bytes));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
