import {
  bitsPerElement,
  byteLength,
  convertElements,
  dataTypeName,
  elementCount,
  type InlineData,
  isIntegerType,
  isRealElement,
  isSignedType,
  type OnnxTensor,
} from '../onnxModel.ts';
import { readEntry } from './modelReading.ts';
import { SPARSE_TENSOR, TENSOR } from './onnxFields.ts';
import type { WireCursor } from './wireCursor.ts';
import { appended } from '../../../base/addTo.ts';

/** Tensors of numbers up to this many elements are kept with their values. */
const KEPT_LIMIT = 64;
/** Bytes that so many elements can take: eight each in raw data, ten as varints. */
const RAW_LIMIT = KEPT_LIMIT * 8;
const PACKED_LIMIT = KEPT_LIMIT * 10;

/** What was met of a tensor's elements. */
interface Contents {
  inline: InlineData | null;
  /** Raw data, or the packed floats, where they are small. */
  raw: Uint8Array | null;
  /** Elements of the integer fields, where they are few. */
  ints: number[];
  external: { key: string; value: string }[] | undefined;
  isExternal: boolean;
}

const dataFields = new Map<number, InlineData['field']>([
  [TENSOR.rawData, undefined],
  [TENSOR.floatData, 'float'],
  [TENSOR.float1, 'float'],
  [TENSOR.int32Data, 'int32'],
  [TENSOR.int32, 'int32'],
  [TENSOR.int64Data, 'int64'],
  [TENSOR.int64, 'int64'],
  [TENSOR.uint64Data, 'uint64'],
  [TENSOR.uint64, 'uint64'],
  [TENSOR.doubleData, 'double'],
  [TENSOR.double1, 'double'],
  [TENSOR.stringData, 'string'],
]);

const none: number[] = [];

/** A tensor of which nothing has been read yet. */
export const newTensor = (): OnnxTensor => ({ name: '', type: dataTypeName(0), shape: [], data: null });

/** Fills a tensor from the TensorProto in the field at the cursor: everything but its elements, which are skipped. */
export function readTensor(cursor: WireCursor, tensor: OnnxTensor): void {
  const end = cursor.payloadEnd;
  const contents: Contents = { inline: null, raw: null, ints: none, external: undefined, isExternal: false };
  while (cursor.pos < end) {
    const tag = cursor.field(end);
    if (tag === TENSOR.dim) tensor.shape = appended(tensor.shape, cursor.value);
    else if (tag === TENSOR.dims) tensor.shape = readInts(cursor, tensor.shape);
    else if (tag === TENSOR.dataType) tensor.type = dataTypeName(cursor.value);
    else if (tag === TENSOR.name) tensor.name = cursor.text();
    else if (tag === TENSOR.location) contents.isExternal = cursor.value === 1;
    else if (tag === TENSOR.externalData) (contents.external ??= []).push(readEntry(cursor));
    else if (dataFields.has(tag)) readData(cursor, tag, contents);
    else cursor.skip();
  }
  finish(tensor, contents);
}

/** Fills a tensor from a SparseTensorProto: dense shape, and type, name and place of the values that are not zero. */
export function readSparseTensor(cursor: WireCursor, tensor: OnnxTensor): void {
  const end = cursor.payloadEnd;
  const values = newTensor();
  let shape: number[] = [];
  while (cursor.pos < end) {
    const tag = cursor.field(end);
    if (tag === SPARSE_TENSOR.values) readTensor(cursor, values);
    else if (tag === SPARSE_TENSOR.dim) shape = appended(shape, cursor.value);
    else if (tag === SPARSE_TENSOR.dims) shape = readInts(cursor, shape);
    else cursor.skip();
  }
  const { name, type, data } = values;
  Object.assign(tensor, { name, type, shape, data, sparse: true });
}

/** `list` and the elements of the packed list in the field at the cursor; beyond `limit` elements they are skipped. */
function readInts(cursor: WireCursor, list: number[], limit = Infinity): number[] {
  const end = cursor.payloadEnd;
  let all = list;
  while (cursor.pos < end && all.length < limit) all = appended(all, cursor.packedInt(end));
  cursor.seek(end);
  return all;
}

function readData(cursor: WireCursor, tag: number, contents: Contents): void {
  const field = dataFields.get(tag);
  const packed = (tag & 7) === 2;
  notePlace(cursor, contents, field, packed && field !== 'string');
  const isRaw = field === undefined || (packed && (field === 'float' || field === 'double'));
  if (isRaw && cursor.size <= RAW_LIMIT) contents.raw = cursor.copy();
  else if (field !== 'int32' && field !== 'int64' && field !== 'uint64') cursor.skip();
  else if (!packed) {
    if (contents.ints.length <= KEPT_LIMIT) contents.ints = appended(contents.ints, cursor.value);
  } else if (cursor.size <= PACKED_LIMIT) contents.ints = readInts(cursor, contents.ints, KEPT_LIMIT + 1);
  else cursor.skip();
}

/** Notes where the elements in the field at the cursor are: one block of them, or one element of many. */
function notePlace(cursor: WireCursor, contents: Contents, field: InlineData['field'], block: boolean): void {
  const { inline } = contents;
  const offset = block ? cursor.pos : cursor.at;
  const end = cursor.payloadEnd;
  if (inline && inline.length > 0) {
    if (end === offset) return;
    inline.length = end - inline.offset;
    inline.scattered = true;
  } else {
    contents.inline = { offset, length: end - offset, ...(field && { field }), ...(!block && { scattered: true }) };
  }
}

function finish(tensor: OnnxTensor, contents: Contents): void {
  const { inline, external = [] } = contents;
  if (contents.isExternal || (!inline && external.length > 0)) {
    tensor.data = { external: Object.fromEntries(external.map(({ key, value }) => [key, value])) };
  } else if (inline) {
    tensor.data = { inline };
    const ints = smallInts(tensor, contents);
    if (ints) tensor.ints = ints;
    const floats = smallFloats(tensor, contents);
    if (floats) tensor.floats = floats;
  } else if (elementCount(tensor.shape) === 0 && isIntegerType(tensor.type)) tensor.ints = [];
}

/** Values of a small integer tensor; undefined otherwise, or when its elements do not fit its shape. */
function smallInts(tensor: OnnxTensor, { inline, raw, ints }: Contents): number[] | undefined {
  const count = elementCount(tensor.shape);
  if (count > KEPT_LIMIT || !isIntegerType(tensor.type) || (inline?.scattered && !inline.field)) return undefined;
  if (!inline?.field) {
    return raw && raw.length === byteLength(tensor.type, tensor.shape) ? unpack(raw, tensor.type, count) : undefined;
  }
  if (bitsPerElement(tensor.type) < 8) {
    const bytes = Uint8Array.from(ints);
    return bytes.length === byteLength(tensor.type, tensor.shape) ? unpack(bytes, tensor.type, count) : undefined;
  }
  if (ints.length !== count) return undefined;
  return tensor.type === 'uint64' ? ints.map((value) => (value < 0 ? value + 2 ** 64 : value)) : ints;
}

/** Values of a small tensor of floating-point numbers; undefined otherwise, or when its elements do not fit its shape. */
function smallFloats({ type, shape }: OnnxTensor, { inline, raw, ints }: Contents): number[] | undefined {
  const count = elementCount(shape);
  if (count > KEPT_LIMIT || !isRealElement(type) || inline?.scattered) return undefined;
  // Of 16 bits, each element is in a varint.
  const bytes = inline?.field === 'int32' ? new Uint8Array(Uint16Array.from(ints).buffer) : raw;
  if (!bytes || bytes.length !== byteLength(type, shape)) return undefined;
  const doubles = type === 'double' ? bytes : convertElements(bytes, type, 'double');
  const view = new DataView(doubles.buffer, doubles.byteOffset, doubles.byteLength);
  return Array.from({ length: count }, (_, index) => view.getFloat64(index * 8, true));
}

/** Little-endian integers of 2 to 64 bits. */
function unpack(bytes: Uint8Array, type: string, count: number): number[] {
  const bits = bitsPerElement(type);
  const signed = isSignedType(type);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: count }, (_, index) => integerIn(view, index, bits, signed));
}

/** A little-endian integer of 2 to 64 bits; of those of less than a byte, the first is in its lowest bits. */
export function integerIn(view: DataView, index: number, bits: number, signed: boolean): number {
  if (bits < 8) {
    const at = index * bits;
    const value = (view.getUint8(at >> 3) >> (at & 7)) & ((1 << bits) - 1);
    return signed && value >> (bits - 1) ? value - (1 << bits) : value;
  }
  const at = (index * bits) / 8;
  if (bits === 8) return signed ? view.getInt8(at) : view.getUint8(at);
  if (bits === 16) return signed ? view.getInt16(at, true) : view.getUint16(at, true);
  if (bits === 32) return signed ? view.getInt32(at, true) : view.getUint32(at, true);
  return Number(signed ? view.getBigInt64(at, true) : view.getBigUint64(at, true));
}
