import { decodeUtf8 } from '../../text/utf8Decoder.ts';

/**
 * A value of a row. Integers beyond 2⁵³ are bigints, so that they stay distinct; blobs are null: no one asks for one.
 */
export type SqliteValue = number | bigint | string | null;

/** Decodes the wanted columns of one record after the other. */
export class SqliteRecord {
  /** The values of the last record that was read, in the order of the wanted columns. */
  readonly values: SqliteValue[];
  /** By column of the table: at which places it is wanted. */
  readonly #places: (number[] | undefined)[] = [];

  /** @param wanted indices of the columns; -1: always null */
  constructor(wanted: readonly number[]) {
    this.values = wanted.map(() => null);
    wanted.forEach((column, place) => {
      if (column >= 0) (this.#places[column] ??= []).push(place);
    });
  }

  /** Reads a record; false if it is damaged: values outside it are null. */
  read(record: Uint8Array): boolean {
    this.values.fill(null);
    const head = varintAt(record, 0);
    if (head > record.length) return false;
    let at = varintLength(record, 0);
    let data = head;
    for (let column = 0; at < head && column < this.#places.length; column++) {
      const type = varintAt(record, at);
      at += varintLength(record, at);
      const length = lengthOf(type);
      if (data + length > record.length) return false;
      const places = this.#places[column];
      if (places) {
        const value = valueAt(record, data, type, length);
        for (const place of places) this.values[place] = value;
      }
      data += length;
    }
    return true;
  }
}

function lengthOf(type: number): number {
  if (type >= 12) return Math.floor((type - 12) / 2);
  if (type <= 4) return type;
  return type === 5 ? 6 : type <= 7 ? 8 : 0;
}

function valueAt(bytes: Uint8Array, at: number, type: number, length: number): SqliteValue {
  if (type === 0) return null;
  if (type === 8) return 0;
  if (type === 9) return 1;
  if (type === 7) return new DataView(bytes.buffer, bytes.byteOffset + at, 8).getFloat64(0);
  if (type === 6) {
    const high = integerAt(bytes, at, 4, true);
    if (high < -0x20_0000 || high >= 0x20_0000)
      return new DataView(bytes.buffer, bytes.byteOffset + at, 8).getBigInt64(0);
  }
  if (type <= 6) return integerAt(bytes, at, length, true);
  return type >= 13 && type % 2 === 1 ? decodeUtf8(bytes.subarray(at, at + length)) : null;
}

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
  const plain = sql.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ');
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
