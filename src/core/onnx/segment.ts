import type { ByteSource } from '../text/byteSource.ts';
import { type ConversionLoss, convertElements, elementBytes, type RealElement } from './convertElements.ts';

/**
 * A piece of a file that is written again: bytes that already exist (in the model, or in the file of its external
 * data that `file` names as the model does), new ones, or elements of another type.
 */
export type Segment =
  | { copy: { file?: string; offset: number; length: number } }
  | { bytes: Uint8Array }
  | { convert: { file?: string; offset: number; length: number; from: RealElement; to: RealElement } };

/** Pieces of this many bytes are in memory at a time. A multiple of every element's size. */
const PIECE = 1 << 20;

/** Bytes that a segment becomes. */
export function segmentSize(segment: Segment): number {
  if ('bytes' in segment) return segment.bytes.length;
  if ('copy' in segment) return segment.copy.length;
  const { length, from, to } = segment.convert;
  return (length / elementBytes[from]) * elementBytes[to];
}

/** Bytes that a list of segments becomes. */
export const segmentsSize = (segments: Segment[]): number =>
  segments.reduce((size, segment) => size + segmentSize(segment), 0);

/** Neighbours joined: copied ranges that follow on one another, and new bytes. */
export function joinSegments(segments: Segment[]): Segment[] {
  const joined: Segment[] = [];
  let fresh: Uint8Array[] = [];
  const joinBytes = (): void => {
    if (fresh.length > 0) joined.push({ bytes: fresh.length === 1 ? fresh[0]! : concatenated(fresh) });
    fresh = [];
  };
  for (const segment of segments) {
    if (segmentSize(segment) === 0) continue;
    if ('bytes' in segment) {
      fresh.push(segment.bytes);
      continue;
    }
    joinBytes();
    const last = joined.at(-1);
    if (last && 'copy' in last && 'copy' in segment && continues(last.copy, segment.copy)) {
      joined[joined.length - 1] = { copy: { ...last.copy, length: last.copy.length + segment.copy.length } };
    } else joined.push(segment);
  }
  joinBytes();
  return joined;
}

function concatenated(pieces: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

type Range = { file?: string; offset: number; length: number };
const continues = (before: Range, after: Range): boolean =>
  before.file === after.file && before.offset + before.length === after.offset;

/**
 * The bytes that segments stand for, in pieces of at most some megabytes.
 * @param open gives the model (undefined) or the file of external data of that name, which is the model's word and may
 * lead anywhere; asked once for each
 * @param loss counts what conversions could not keep
 * @throws what `open` and its sources throw, and an Error where a source ends early
 */
export async function* segmentBytes(
  segments: Segment[],
  open: (file?: string) => ByteSource | Promise<ByteSource>,
  loss: ConversionLoss = { clamped: 0, vanished: 0 },
): AsyncGenerator<Uint8Array> {
  const sources = new Map<string | undefined, ByteSource>();
  for (const segment of segments) {
    if ('bytes' in segment) {
      yield segment.bytes;
      continue;
    }
    const { file, offset, length } = 'copy' in segment ? segment.copy : segment.convert;
    const before = { ...loss };
    const source = sources.get(file) ?? (await open(file));
    sources.set(file, source);
    for (let done = 0; done < length; done += PIECE) {
      const wanted = Math.min(PIECE, length - done);
      const bytes = await source.read(offset + done, wanted);
      if (bytes.length < wanted) {
        throw new Error(`${file ?? 'the model'} ends at byte ${offset + done + bytes.length}; expected ${wanted} more`);
      }
      yield 'copy' in segment ? bytes : convertElements(bytes, segment.convert.from, segment.convert.to, loss);
    }
    const [clamped, vanished] = [loss.clamped - before.clamped, loss.vanished - before.vanished];
    if (clamped + vanished > 0)
      (loss.where ??= []).push({ ...(file !== undefined && { file }), offset, clamped, vanished });
  }
}
