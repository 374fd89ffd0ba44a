import protobuf from 'protobufjs/minimal.js';
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
  reader: protobuf.Reader;
}

/**
 * A place in a protobuf file of any size, of which some windows are in memory. Positions count from the file's start.
 * What reads throws `MISSING` where the bytes are not in memory, and `WireError` where they are wrong.
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
  private readonly texts = new TextCache();
  private reader = new protobuf.Reader(new Uint8Array(0));
  private base = 0;
  private wire = 0;
  private windows: Window[] = [];

  constructor(fileSize: number) {
    this.fileSize = fileSize;
  }

  get pos(): number {
    return this.base + this.reader.pos;
  }

  /** End of the window that the cursor is or was in. */
  get windowEnd(): number {
    return this.base + this.reader.len;
  }

  /** After `field`: where the field ends. */
  get payloadEnd(): number {
    return this.wire === 2 ? this.pos + this.size : this.pos;
  }

  /** Adds a window that begins at `offset`, and goes there. */
  load(offset: number, bytes: Uint8Array): void {
    this.base = offset;
    this.reader = new protobuf.Reader(bytes);
    this.windows.push({ base: offset, reader: this.reader });
  }

  /** Forgets all windows but the current one: what they held has been read for good. */
  release(): void {
    if (this.windows.length > 1) this.windows = [{ base: this.base, reader: this.reader }];
  }

  /** Goes to any place of the file, in memory or not. */
  seek(offset: number): void {
    this.reader.pos = offset - this.base;
  }

  /** True when the next `bytes` bytes are in memory, or all that the file still has. */
  holds(bytes: number): boolean {
    const { reader } = this;
    if (reader.pos >= 0 && reader.pos + bytes <= reader.len) return true;
    const { pos } = this;
    if (pos >= this.fileSize) return true;
    const end = Math.min(pos + bytes, this.fileSize);
    for (const window of this.windows) {
      if (pos < window.base || end > window.base + window.reader.len) continue;
      this.base = window.base;
      this.reader = window.reader;
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
    this.require(HEAD);
    const { reader } = this;
    this.at = this.base + reader.pos;
    if (this.at >= this.fileSize) throw this.truncated();
    try {
      const tag = reader.tag();
      this.wire = tag & 7;
      if (tag >>> 3 === 0) throw new WireError('malformed', 'a field has the number 0', this.at);
      if (this.wire === 0) this.value = this.signed();
      else if (this.wire === 2) this.size = this.length(limit);
      else if (this.wire === 5) this.value = reader.float();
      else if (this.wire === 1) this.value = reader.double();
      else throw new WireError('malformed', `a field has the wire type ${this.wire}, which ONNX never uses`, this.at);
      if (this.base + reader.pos > limit) throw this.overrun();
      return tag;
    } catch (error) {
      throw this.explained(error);
    }
  }

  /** A varint outside a field's head: an element of a packed list that ends at `limit`. */
  packedInt(limit: number): number {
    this.require(HEAD);
    this.at = this.pos;
    const value = this.signed();
    if (this.pos > limit) throw this.overrun();
    return value;
  }

  /** A 32-bit float of a packed list. */
  packedFloat(): number {
    this.require(HEAD);
    this.at = this.pos;
    try {
      return this.reader.float();
    } catch (error) {
      throw this.explained(error);
    }
  }

  /** A copy of the current field's payload. */
  copy(): Uint8Array {
    this.require(this.size);
    const { reader } = this;
    if (reader.pos + this.size > reader.len) throw this.truncated();
    return reader.buf.slice(reader.pos, (reader.pos += this.size));
  }

  /** How many varints end in the next `length` bytes; passes over them. */
  countInts(length: number): number {
    this.require(length);
    const { reader } = this;
    const end = reader.pos + length;
    if (end > reader.len) throw this.truncated();
    let count = 0;
    for (; reader.pos < end; reader.pos++) if (reader.buf[reader.pos]! < 128) count++;
    return count;
  }

  /** Passes over the field whose head was read. */
  skip(): void {
    if (this.wire !== 2) return;
    const end = this.pos + this.size;
    if (end > this.fileSize) throw this.truncated();
    this.seek(end);
  }

  /** The payload of the current field as text: UTF-8, at most `limit` bytes of it. */
  text(limit = TEXT_LIMIT): string {
    const { size } = this;
    const length = Math.min(size, limit);
    const end = this.pos + size;
    if (end > this.fileSize) throw this.truncated();
    this.require(length);
    const { reader } = this;
    const start = reader.pos;
    // The source may have ended before its announced size.
    if (start + length > reader.len) throw this.truncated();
    const cut = length < size ? characterStart(reader.buf, start + length) : start + length;
    const text = this.texts.read(reader.buf, start, cut);
    this.seek(end);
    return text;
  }

  truncated(): WireError {
    return new WireError('truncated', `the file ends at byte ${this.fileSize}`, Math.min(this.at, this.fileSize));
  }

  private require(bytes: number): void {
    const { reader } = this;
    if ((reader.pos >= 0 && reader.pos + bytes <= reader.len) || this.holds(bytes)) return;
    this.missing = bytes;
    throw MISSING;
  }

  private overrun(): WireError {
    return new WireError('malformed', 'a value runs past the end of the message that it is in', this.at);
  }

  /** A 64-bit varint as a number. protobufjs makes a Long of it, which is slow, and axes of -1 are everywhere. */
  private signed(): number {
    const { reader } = this;
    const { buf } = reader;
    let low = 0;
    let high = 0;
    for (let index = 0; index < 10; index++) {
      if (reader.pos >= reader.len) throw this.truncated();
      const byte = buf[reader.pos++]!;
      const bits = byte & 0x7f;
      if (index < 4) low |= bits << (7 * index);
      else if (index === 4) {
        low |= bits << 28;
        high = bits >> 4;
      } else high |= bits << (7 * index - 32);
      if (byte < 128) return high === 0 ? low >>> 0 : high * 2 ** 32 + (low >>> 0);
    }
    throw new WireError('malformed', 'a number is longer than ten bytes', this.at);
  }

  private length(limit: number): number {
    const length = this.signed();
    if (length < 0 || this.pos + length > limit) {
      const size = length < 0 ? 'a negative length' : `a length of ${length} bytes`;
      throw new WireError('malformed', `${size} runs past the end of the message that it is in`, this.at);
    }
    return length;
  }

  /** protobufjs says RangeError where the bytes end, and Error where they are wrong. */
  private explained(error: unknown): WireError {
    if (error instanceof WireError) return error;
    if (error instanceof RangeError) return this.truncated();
    const reason = error instanceof Error ? error.message : String(error);
    return new WireError('malformed', reason, this.at);
  }
}

/** The last position at or before `end` where a UTF-8 character begins, so that a cut leaves no half character. */
function characterStart(bytes: Uint8Array, end: number): number {
  let start = end;
  while (start > end - 3 && start > 0 && (bytes[start]! & 0xc0) === 0x80) start--;
  return start;
}
