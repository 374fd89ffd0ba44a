import protobuf from 'protobufjs/minimal.js';
import { TextCache } from './textCache.ts';

/** A part of the reader: yields how many bytes it needs at the cursor, and goes on when the cursor holds them. */
export type Reading<T = void> = Generator<number, T, void>;

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

/**
 * A place in a protobuf file of any size, of which a window is in memory. Positions count from the file's start.
 * Nothing here waits: whoever reads asks `lacks` first and yields the number of bytes that it needs.
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
  private readonly texts = new TextCache();
  private reader = new protobuf.Reader(new Uint8Array(0));
  private base = 0;
  private wire = 0;

  constructor(fileSize: number) {
    this.fileSize = fileSize;
  }

  get pos(): number {
    return this.base + this.reader.pos;
  }

  /** End of the bytes in memory. */
  get windowEnd(): number {
    return this.base + this.reader.len;
  }

  /** After `field`: where the field ends. */
  get payloadEnd(): number {
    return this.wire === 2 ? this.pos + this.size : this.pos;
  }

  /** True when the next `bytes` bytes are not all in memory although the file has more. */
  lacks(bytes: number): boolean {
    const { reader } = this;
    return reader.pos + bytes > reader.len && this.base + reader.len < this.fileSize;
  }

  /** Puts the window to `offset`, which becomes the position. */
  load(offset: number, bytes: Uint8Array): void {
    this.base = offset;
    this.reader = new protobuf.Reader(bytes);
  }

  /** Goes to any place of the file, in memory or not. */
  seek(offset: number): void {
    this.reader.pos = offset - this.base;
  }

  /**
   * Reads a field's head, and its value where that is a scalar; `limit` is the end of the message that it is in.
   * Returns the tag: field number and wire type. Throws where no field can be.
   */
  field(limit: number): number {
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
    this.at = this.pos;
    try {
      const value = this.signed();
      if (this.pos > limit) throw this.overrun();
      return value;
    } catch (error) {
      throw this.explained(error);
    }
  }

  /** A 32-bit float of a packed list. */
  packedFloat(): number {
    this.at = this.pos;
    try {
      return this.reader.float();
    } catch (error) {
      throw this.explained(error);
    }
  }

  /** A copy of the next `length` bytes, which must be in memory. */
  copy(length: number): Uint8Array {
    const { reader } = this;
    if (reader.pos + length > reader.len) throw this.truncated();
    return reader.buf.slice(reader.pos, (reader.pos += length));
  }

  /** How many varints end in the next `length` bytes, which must be in memory; passes over them. */
  countInts(length: number): number {
    const { reader } = this;
    const end = Math.min(reader.pos + length, reader.len);
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
  *longText(limit = TEXT_LIMIT): Reading<string> {
    const length = Math.min(this.size, limit);
    const end = this.pos + this.size;
    if (end > this.fileSize) throw this.truncated();
    if (this.lacks(length)) yield length;
    const { reader } = this;
    if (reader.pos + length > reader.len) throw this.truncated();
    const cut = length < this.size ? characterStart(reader.buf, reader.pos + length) : reader.pos + length;
    const text = this.texts.read(reader.buf, reader.pos, cut);
    this.seek(end);
    return text;
  }

  /** True when the payload of the current field is in memory: `text` gives it then, without the cost of a generator. */
  get hasText(): boolean {
    return this.reader.pos + this.size <= this.reader.len && this.size <= TEXT_LIMIT;
  }

  text(): string {
    const { reader } = this;
    const start = reader.pos;
    reader.pos += this.size;
    return this.texts.read(reader.buf, start, reader.pos);
  }

  truncated(): WireError {
    return new WireError('truncated', `the file ends at byte ${this.fileSize}`, Math.min(this.at, this.fileSize));
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
