import { decodeUtf8 } from '../../../base/text.ts';

/** What a value is, as far as anyone asks. */
const [none, number, text] = [0, 1, 2];

/** Bytes of a value by its type; that of texts and blobs depends on the type. */
const lengths = Uint8Array.of(0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0);

/** The wanted columns of one row after the other, without an object for each value: a trace has millions. */
export class SqliteRow {
  /** By column of the table: at which place it is wanted; -1: nowhere. */
  readonly #places: Int32Array;
  readonly #kinds: Uint8Array;
  readonly #numbers: Float64Array;
  readonly #starts: Int32Array;
  readonly #lengths: Int32Array;
  #bytes: Uint8Array = new Uint8Array(0);

  /** @param wanted indices of the columns, all different; -1: always null */
  constructor(wanted: readonly number[]) {
    this.#places = new Int32Array(Math.max(0, ...wanted.map((column) => column + 1))).fill(-1);
    wanted.forEach((column, place) => {
      if (column >= 0) this.#places[column] = place;
    });
    this.#kinds = new Uint8Array(wanted.length);
    this.#numbers = new Float64Array(wanted.length);
    this.#starts = new Int32Array(wanted.length);
    this.#lengths = new Int32Array(wanted.length);
  }

  /** Reads the record between two places; false if it is damaged: values outside it are null. */
  read(bytes: Uint8Array, from: number, to: number): boolean {
    this.#bytes = bytes;
    this.#kinds.fill(none);
    const head = from + varintAt(bytes, from);
    if (head > to) return false;
    let at = from + varintLength(bytes, from);
    let data = head;
    for (let column = 0; at < head && column < this.#places.length; column++) {
      let type = bytes[at]!;
      if (type < 0x80) at++;
      else {
        type = varintAt(bytes, at);
        at += varintLength(bytes, at);
      }
      const length = type < 12 ? lengths[type]! : Math.floor((type - 12) / 2);
      if (data + length > to) return false;
      const place = this.#places[column]!;
      if (place >= 0 && type !== 0) this.#put(place, type, data, length);
      data += length;
    }
    return true;
  }

  #put(place: number, type: number, at: number, length: number): void {
    if (type >= 12) {
      if (type % 2 === 1) this.#kinds[place] = text;
    } else {
      this.#kinds[place] = number;
      this.#numbers[place] =
        type >= 8 ? type - 8 : type === 7 ? real(this.#bytes, at) : integerAt(this.#bytes, at, length, true);
    }
    this.#starts[place] = at;
    this.#lengths[place] = length;
  }

  /** Puts a number in a place, for a column that the record does not store. */
  put(place: number, value: number): void {
    this.#kinds[place] = number;
    this.#numbers[place] = value;
    this.#lengths[place] = 0;
  }

  isNull(place: number): boolean {
    return this.#kinds[place] === none;
  }

  /** NaN for what is not a number. An integer beyond 2⁵³ is rounded. */
  number(place: number): number {
    return this.#kinds[place] === number ? this.#numbers[place]! : Number.NaN;
  }

  /** null for what is not a text. */
  text(place: number): string | null {
    if (this.#kinds[place] !== text) return null;
    const start = this.#starts[place]!;
    return decodeUtf8(this.#bytes.subarray(start, start + this.#lengths[place]!));
  }

  /** An integer's bits above the lowest 24, exactly; NaN for what is not a number. */
  above24(place: number): number {
    const length = this.#lengths[place]!;
    if (length <= 3) return Math.floor(this.number(place) / 2 ** 24);
    return this.isNull(place) ? Number.NaN : integerAt(this.#bytes, this.#starts[place]!, length - 3, true);
  }

  /** An integer's lowest 24 bits; 0 for what is not a number. */
  lowest24(place: number): number {
    const length = this.#lengths[place]!;
    if (length > 3) return integerAt(this.#bytes, this.#starts[place]! + length - 3, 3, false);
    return this.isNull(place) ? 0 : this.number(place) & 0xff_ffff;
  }
}

const real = (bytes: Uint8Array, at: number): number =>
  new DataView(bytes.buffer, bytes.byteOffset + at, 8).getFloat64(0);

/** A big-endian integer of 1 to 8 bytes; what is beyond the end counts as 0. */
export function integerAt(bytes: Uint8Array, at: number, length: number, signed: boolean): number {
  let value = bytes[at] ?? 0;
  if (signed && value >= 0x80) value -= 0x100;
  for (let index = 1; index < length; index++) value = value * 0x100 + (bytes[at + index] ?? 0);
  return value;
}

/** SQLite's integer of variable length: seven bits a byte, the ninth byte counts whole. */
export function varintAt(bytes: Uint8Array, at: number): number {
  let value = 0;
  for (let index = 0; index < 8; index++) {
    const byte = bytes[at + index] ?? 0;
    value = value * 0x80 + (byte & 0x7f);
    if (byte < 0x80) return value;
  }
  return value * 0x100 + (bytes[at + 8] ?? 0);
}

export function varintLength(bytes: Uint8Array, at: number): number {
  for (let index = 0; index < 8; index++) if ((bytes[at + index] ?? 0) < 0x80) return index + 1;
  return 9;
}

/** The columns that a CREATE TABLE statement declares, in order. */
export function sqliteColumns(sql: string): { name: string; isRowNumber: boolean }[] {
  const plain = sql.replaceAll(/--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, ' ');
  const columns: { name: string; isRowNumber: boolean }[] = [];
  for (const part of partsOf(plain.slice(plain.indexOf('(') + 1, plain.lastIndexOf(')')))) {
    const [, quoted, bare] = /^\s*(?:["[`]([^"\]`]*)["\]`]|(\w+))/.exec(part) ?? [];
    const name = quoted ?? bare;
    if (name === undefined) continue;
    if (quoted === undefined && /^(?:constraint|primary|unique|check|foreign)$/i.test(name)) continue;
    columns.push({ name, isRowNumber: /\binteger\s+(?:not\s+null\s+)?primary\s+key\b/i.test(part) });
  }
  return columns;
}

/** Splits at commas outside brackets. */
function partsOf(list: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < list.length; at++) {
    const char = list[at];
    if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === ',' && depth === 0) {
      parts.push(list.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(list.slice(start));
  return parts;
}
