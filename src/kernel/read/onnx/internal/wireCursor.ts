import { TextCache } from './textCache.ts';

/**
 * A part of the reader that may have to wait: yields how many bytes it needs at the cursor, and goes on when they are
 * loaded. Single fields are read without waiting: where bytes are missing they throw `MISSING`, and are read again
 * from their beginning once the bytes are there.
 */
export type Reading = Generator<number, void, void>;

/** Thrown where bytes are not in memory; `cursor.missing` says how many are needed at the cursor. */
export const MISSING: unique symbol = Symbol('bytes are not in memory');

/** As many bytes as a field's head can take: tag, and length or scalar value. */
export const HEAD = 20;

/** Longer texts are cut: names are short, and a text of gigabytes must not fill the memory. */
const TEXT_LIMIT = 1 << 20;

/** Reading cannot go on in this message; `where` is told from the inside out by those who read. */
export class WireError extends Error {
  readonly kind: 'truncated' | 'malformed' | 'too-deep' | 'too-many';
  readonly offset: number;
  readonly where: string[] = [];
  node: string | undefined;

  constructor(kind: WireError['kind'], message: string, offset: number) {
    super(message);
    this.kind = kind;
    this.offset = offset;
  }
}

/** `number << 3 | wire type`, as `WireCursor.field` returns it. */
export const varintTag = (number: number): number => number << 3;
export const bytesTag = (number: number): number => (number << 3) | 2;
export const floatTag = (number: number): number => (number << 3) | 5;

/** A piece of the file in memory. */
interface Window {
  base: number;
  bytes: Uint8Array;
}

/**
 * A place in a protobuf file of any size, of which some windows are in memory. Positions count from the file's start.
 * What reads throws `MISSING` where the bytes are not in memory, and `WireError` where they are wrong. (protobufjs
 * wants a message's bytes all in memory, stops at 2 GiB, and makes objects of 64-bit numbers.)
 */
export class WireCursor {
  /** Bytes in the file; less than announced when the source ends early. */
  fileSize: number;
  /** Where the field begins whose head was read last. */
  at = 0;
  /** After `field`: the payload's length of a length-delimited field, which begins at `pos`. */
  size = 0;
  /** After `field`: the value of a varint (signed, exact up to 2^53), float or double. */
  value = 0;
  /** When `MISSING` was thrown: so many bytes are needed at `pos`. */
  missing = 0;
  /** The window that the cursor is or was in: the bytes from `base` on. */
  bytes: Uint8Array = new Uint8Array(0);
  base = 0;
  /** Made when it is needed: an edit has a cursor for each message that it looks into. */
  private lazyTexts: TextCache | undefined;
  /** Position in `bytes`; outside it where the window does not have the place. */
  private index = 0;
  private wire = 0;
  private windows: Window[] = [];

  constructor(fileSize: number) {
    this.fileSize = fileSize;
  }

  get pos(): number {
    return this.base + this.index;
  }

  /** End of the window that the cursor is or was in. */
  get windowEnd(): number {
    return this.base + this.bytes.length;
  }

  /** After `field`: where the field ends. */
  get payloadEnd(): number {
    return this.wire === 2 ? this.base + this.index + this.size : this.base + this.index;
  }

  /** Adds a window that begins at `offset`, and goes there. */
  load(offset: number, bytes: Uint8Array): void {
    this.base = offset;
    this.bytes = bytes;
    this.index = 0;
    this.windows.push({ base: offset, bytes });
  }

  /** Forgets all windows but the current one: what they held has been read for good. */
  release(): void {
    if (this.windows.length > 1) this.windows = [{ base: this.base, bytes: this.bytes }];
  }

  /** Forgets all windows. @returns the memory of the current one */
  forget(): Uint8Array {
    this.windows = [];
    return this.bytes;
  }

  /** Goes to any place of the file, in memory or not. */
  seek(offset: number): void {
    this.index = offset - this.base;
  }

  /** True when the next `bytes` bytes are in memory, or all that the file still has. */
  holds(bytes: number): boolean {
    const { pos } = this;
    if ((this.index >= 0 && this.index + bytes <= this.bytes.length) || pos >= this.fileSize) return true;
    const end = Math.min(pos + bytes, this.fileSize);
    for (const window of this.windows) {
      if (pos < window.base || end > window.base + window.bytes.length) continue;
      this.base = window.base;
      this.bytes = window.bytes;
      this.seek(pos);
      return true;
    }
    return false;
  }

  /**
   * Reads a field's head, and its value where that is a scalar; `limit` is the end of the message that it is in.
   * Returns the tag: field number and wire type.
   */
  field(limit: number): number {
    if (this.index < 0 || this.index + HEAD > this.bytes.length) this.require(HEAD);
    this.at = this.base + this.index;
    if (this.at >= this.fileSize) throw this.truncated();
    const { bytes, index } = this;
    const first = bytes[index]!;
    const second = bytes[index + 1]!;
    // Nearly every field: a tag of one byte, and a length or number of one byte.
    if (first < 128 && second < 128 && first > 7) {
      this.wire = first & 7;
      this.index = index + 2;
      if (this.wire === 2) {
        this.size = second;
        if (this.base + index + 2 + second <= limit) return first;
      } else if (this.wire === 0) {
        this.value = second;
        if (this.base + index + 2 <= limit) return first;
      }
      this.index = index;
    }
    return this.longField(limit);
  }

  private longField(limit: number): number {
    const tag = this.varint();
    // A tag of more than 32 bits is none; read as one it would be taken for another field.
    if (tag < 8 || tag > 0xffffffff) throw this.malformed('a field has an invalid number');
    this.wire = tag & 7;
    if (this.wire === 0) this.value = this.varint();
    else if (this.wire === 2) this.size = this.length(limit);
    else if (this.wire === 5 || this.wire === 1) this.value = this.float(this.wire);
    else throw this.malformed(`a field has the wire type ${this.wire}, which ONNX never uses`);
    if (this.base + this.index > limit) throw this.overrun();
    return tag;
  }

  /** A varint outside a field's head: an element of a packed list that ends at `limit`. */
  packedInt(limit: number): number {
    this.require(HEAD);
    this.at = this.pos;
    const value = this.varint();
    if (this.pos > limit) throw this.overrun();
    return value;
  }

  /** A 32-bit float of a packed list. */
  packedFloat(): number {
    this.require(HEAD);
    this.at = this.pos;
    return this.float(5);
  }

  /** A copy of the current field's payload. */
  copy(): Uint8Array {
    this.require(this.size);
    const start = this.index;
    this.advance(this.size);
    return this.bytes.slice(start, this.index);
  }

  /** How many varints end in the next `length` bytes; skips them. */
  countInts(length: number): number {
    this.require(length);
    let at = this.index;
    this.advance(length);
    let count = 0;
    for (; at < this.index; at++) if (this.bytes[at]! < 128) count++;
    return count;
  }

  /** Skips the field whose head was read. */
  skip(): void {
    if (this.wire !== 2) return;
    const end = this.pos + this.size;
    if (end > this.fileSize) throw this.truncated();
    this.seek(end);
  }

  /** The payload of the current field as text: UTF-8, at most `limit` bytes of it. */
  text(limit = TEXT_LIMIT): string {
    const { size, index, bytes } = this;
    if (index >= 0 && size <= limit && index + size <= bytes.length) {
      this.index = index + size;
      return this.texts().read(bytes, index, index + size);
    }
    const length = size < limit ? size : limit;
    const end = this.pos + size;
    if (end > this.fileSize) throw this.truncated();
    this.require(length);
    const start = this.index;
    this.advance(length);
    const cut = length < size ? characterStart(this.bytes, start + length) : start + length;
    const text = this.texts().read(this.bytes, start, cut);
    this.seek(end);
    return text;
  }

  private texts(): TextCache {
    return (this.lazyTexts ??= new TextCache());
  }

  truncated(): WireError {
    return new WireError('truncated', `the file ends at byte ${this.fileSize}`, Math.min(this.at, this.fileSize));
  }

  private malformed(reason: string): WireError {
    return new WireError('malformed', reason, this.at);
  }

  private overrun(): WireError {
    return this.malformed('a value extends past the end of its message');
  }

  private require(bytes: number): void {
    if ((this.index >= 0 && this.index + bytes <= this.bytes.length) || this.holds(bytes)) return;
    this.missing = bytes;
    throw MISSING;
  }

  /** Goes over bytes that are in memory; where they are not, the source has ended before its announced size. */
  private advance(bytes: number): void {
    if (this.index + bytes > this.bytes.length) throw this.truncated();
    this.index += bytes;
  }

  /** A 64-bit varint as a signed number. */
  private varint(): number {
    const { bytes } = this;
    const { length } = bytes;
    let low = 0;
    let high = 0;
    for (let count = 0; count < 10; count++) {
      if (this.index >= length) throw this.truncated();
      const byte = bytes[this.index++]!;
      if (count === 0 && byte < 128) return byte;
      const bits = byte & 0x7f;
      if (count < 4) low |= bits << (7 * count);
      else if (count === 4) {
        low |= bits << 28;
        high = bits >> 4;
      } else high |= bits << (7 * count - 32);
      if (byte < 128) return high === 0 ? low >>> 0 : high * 2 ** 32 + (low >>> 0);
    }
    throw this.malformed('a number is longer than ten bytes');
  }

  private length(limit: number): number {
    const length = this.varint();
    if (length >= 0 && this.pos + length <= limit) return length;
    const size = length < 0 ? 'a negative length' : `a length of ${length} bytes`;
    throw this.malformed(`${size} extends past the end of its message`);
  }

  /** Wire type 5 is a float, 1 a double. */
  private float(wire: number): number {
    const start = this.index;
    this.advance(wire === 5 ? 4 : 8);
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + start);
    return wire === 5 ? view.getFloat32(0, true) : view.getFloat64(0, true);
  }
}

/** The last position at or before `end` where a UTF-8 character begins, so that a cut leaves no half character. */
function characterStart(bytes: Uint8Array, end: number): number {
  let start = end;
  while (start > end - 3 && start > 0 && (bytes[start]! & 0xc0) === 0x80) start--;
  return start;
}
