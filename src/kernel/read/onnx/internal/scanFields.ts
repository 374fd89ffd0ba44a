import type { ByteSource } from '../../../base/problem.ts';
import type { ByteSpan } from '../onnxModel.ts';
import { HEAD, WireCursor } from './wireCursor.ts';

/** A field of a message: its tag and where it is; `offset` and `length` are those of its payload. */
export interface Field extends ByteSpan {
  tag: number;
  /** Of a varint or float. */
  value: number;
}

/** As much as is read at once: most messages that are looked into are smaller. */
const WINDOW = 4096;

/**
 * The fields of a message, in order, without what is in them.
 * @throws WireError where the message is damaged, and what the source throws
 */
export async function scanFields(source: ByteSource, { offset, length }: ByteSpan): Promise<Field[]> {
  const cursor = new WireCursor(source.size);
  const end = offset + length;
  const fields: Field[] = [];
  cursor.seek(offset);
  while (cursor.pos < end) {
    if (!cursor.holds(HEAD)) {
      const start = cursor.pos;
      cursor.load(start, await source.read(start, Math.min(WINDOW, source.size - start)));
      cursor.release();
    }
    const tag = cursor.field(end);
    const bytes = (tag & 7) === 2 ? cursor.size : 0;
    fields.push({ tag, value: cursor.value, at: cursor.at, offset: cursor.pos, length: bytes });
    cursor.skip();
  }
  return fields;
}

/** Where a field ends. */
export const fieldEnd = ({ offset, length }: ByteSpan): number => offset + length;
