import protobuf from 'protobufjs/minimal.js';
import type { ByteSource } from '../text/byteSource.ts';
import { convertElements, elementBytes, type RealElement } from './convertElements.ts';
import type { MessagePatch } from './messagePatch.ts';
import { ENTRY, TENSOR } from './onnxFields.ts';
import type { OnnxTensor } from './onnxModel.ts';
import { type Field, fieldEnd, scanFields } from './scanFields.ts';
import type { Segment } from './segment.ts';
import { byteLength, dataTypeNumber } from './tensorTypes.ts';

/** Places in the file that takes the converted external data; made once for all tensors of an edit. */
export class ExternalData {
  /** As the model will name it. */
  readonly location: string;
  readonly segments: Segment[] = [];
  size = 0;
  private readonly placed = new Map<string, number>();

  constructor(location: string) {
    this.location = location;
  }

  /** Adds bytes and returns their offset; the same bytes (tied weights) are added once. Large ones begin on a page. */
  place(segment: Segment, size: number): number {
    const key = JSON.stringify(segment);
    const known = this.placed.get(key);
    if (known !== undefined) return known;
    const alignment = size >= 1 << 20 ? 4096 : 64;
    const offset = Math.ceil(this.size / alignment) * alignment;
    if (offset > this.size) this.segments.push({ bytes: new Uint8Array(offset - this.size) });
    this.segments.push(segment);
    this.size = offset + size;
    this.placed.set(key, offset);
    return offset;
  }
}

const dataTags = new Set<number>([
  TENSOR.rawData,
  TENSOR.floatData,
  TENSOR.int32Data,
  TENSOR.doubleData,
  TENSOR.float1,
  TENSOR.int32,
  TENSOR.double1,
]);

/** Lists of numbers are converted while the edit is planned: as much of them in memory at a time, at most. */
const LIST_LIMIT = 1 << 24;

/** A tensor cannot be converted; the message says why, without the tensor's name. */
export class UnfitTensor extends Error {}

/**
 * Changes a tensor's type, and describes how its elements become the new ones; they end up as raw data, or in
 * `external` where they are outside the model.
 * @throws UnfitTensor, WireError, and what the source throws
 */
export async function retypeTensor(
  source: ByteSource,
  patch: MessagePatch,
  tensor: OnnxTensor,
  { from, to }: { from: RealElement; to: RealElement },
  external: ExternalData,
): Promise<void> {
  if (tensor.type !== from) throw new UnfitTensor(`it is ${tensor.type}, not ${from}`);
  if (tensor.sparse) throw new UnfitTensor('it is sparse');
  const fields = await scanFields(source, patch.span);
  for (const { tag, at, offset } of fields) {
    if (tag !== TENSOR.dataType) continue;
    const number = dataTypeNumber(to)!;
    patch.replace(at, offset, { bytes: protobuf.Writer.create().uint32(TENSOR.dataType).uint32(number).finish() });
  }
  const size = byteLength(from, tensor.shape)!;
  const newSize = (size / elementBytes[from]) * elementBytes[to];
  if (tensor.data && 'external' in tensor.data) {
    moveExternal(patch, fields, tensor.data.external, { from, to, size, newSize }, external);
    return;
  }
  const data = fields.filter(({ tag }) => dataTags.has(tag));
  if (!tensor.data || data.length === 0) return;
  const [field] = data;
  if (data.length > 1 || !field || (field.tag & 7) !== 2) {
    throw new UnfitTensor('its elements are stored in several fields');
  }
  const head: Segment = { bytes: protobuf.Writer.create().uint32(TENSOR.rawData).uint32(newSize).finish() };
  if (field.tag === TENSOR.int32Data) {
    const bytes = convertElements(await bitsOfInts(source, field, size), from, to);
    patch.replace(field.at, fieldEnd(field), head, { bytes });
    return;
  }
  // Stripped of its elements, as a weightless model is: there is nothing to convert.
  if (field.length === 0) return;
  if (field.length !== size) throw new UnfitTensor(`its data has ${field.length} bytes, but its shape needs ${size}`);
  patch.replace(field.at, fieldEnd(field), head, { convert: { offset: field.offset, length: field.length, from, to } });
}

/** Lets a tensor point to its converted elements in the new file of external data. */
function moveExternal(
  patch: MessagePatch,
  fields: Field[],
  entries: Record<string, string>,
  { from, to, size, newSize }: { from: RealElement; to: RealElement; size: number; newSize: number },
  external: ExternalData,
): void {
  const offset = Number(entries['offset'] ?? 0);
  const length = Number(entries['length'] ?? size);
  if (!entries['location'] || !Number.isSafeInteger(offset) || offset < 0) {
    throw new UnfitTensor('the location of its external data cannot be read');
  }
  if (length !== size) throw new UnfitTensor(`its external data has ${length} bytes, but its shape needs ${size}`);
  const place = external.place({ convert: { file: entries['location'], offset, length, from, to } }, newSize);
  const changed: Record<string, string> = {
    location: external.location,
    offset: String(place),
    length: String(newSize),
  };
  // A checksum would be that of the old bytes.
  const kept = Object.entries(entries).filter(([key]) => key !== 'checksum' && !Object.hasOwn(changed, key));
  const writer = protobuf.Writer.create();
  for (const [key, value] of [...Object.entries(changed), ...kept]) {
    writer.uint32(TENSOR.externalData).fork().uint32(ENTRY.key).string(key).uint32(ENTRY.value).string(value).ldelim();
  }
  const old = fields.filter(({ tag }) => tag === TENSOR.externalData);
  for (const [index, field] of old.entries()) {
    patch.replace(field.at, fieldEnd(field), ...(index === 0 ? [{ bytes: writer.finish() }] : []));
  }
}

/** 16-bit floats that are written as a list of numbers, as their bytes. */
async function bitsOfInts(source: ByteSource, field: Field, size: number): Promise<Uint8Array> {
  if (field.length > LIST_LIMIT) throw new UnfitTensor('its list of elements is too long to convert');
  const reader = new protobuf.Reader(await source.read(field.offset, field.length));
  const bits: number[] = [];
  try {
    while (reader.pos < reader.len) bits.push(reader.uint32() & 0xffff);
  } catch {
    throw new UnfitTensor('its elements cannot be read');
  }
  if (bits.length * 2 !== size)
    throw new UnfitTensor(`it has ${bits.length} elements, but its shape needs ${size / 2}`);
  return Uint8Array.from(bits.flatMap((value) => [value & 0xff, value >> 8]));
}
