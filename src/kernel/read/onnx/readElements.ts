import protobuf from 'protobufjs/minimal.js';
import type { ByteSource } from '../../base/problem.ts';
import {
  bitsPerElement,
  byteLength,
  type ByteSpan,
  convertElements,
  type DataType,
  elementCount,
  isRealElement,
  isSignedType,
  type OnnxTensor,
} from './onnxModel.ts';
import { ATTRIBUTE, SPARSE_TENSOR, TENSOR } from './internal/onnxFields.ts';
import { integerIn } from './internal/readTensor.ts';

/** Larger tensors are not read into memory as numbers. */
export const MOST_ELEMENTS = 1 << 26;

/** Opens a file of external data by the name that the model gives it. */
export type OpenExternal = (location: string) => Promise<ByteSource>;

/**
 * The elements of a tensor as numbers, wherever and however they are stored. null: strings, complex numbers, 64-bit
 * integers beyond ±2^53, damaged or missing data, or more than `MOST_ELEMENTS`.
 * @param source the model's content; the tensor was read with spans
 */
export async function readElements(
  tensor: OnnxTensor,
  source: ByteSource,
  open: OpenExternal,
): Promise<Float64Array | null> {
  const count = elementCount(tensor.shape);
  if (tensor.ints?.length === count && tensor.ints.every(Number.isSafeInteger)) return Float64Array.from(tensor.ints);
  if (tensor.sparse || count > MOST_ELEMENTS) return null;
  const { data, type } = tensor;
  if (data && 'external' in data) {
    const size = byteLength(type, tensor.shape);
    const { location, offset = '0' } = data.external;
    if (size === undefined || location === undefined) return null;
    const bytes = await (await open(location)).read(Number(offset), size);
    return fromRaw(bytes, type, count);
  }
  if (data && data.inline.field === undefined && !data.inline.scattered)
    return fromRaw(await source.read(data.inline.offset, data.inline.length), type, count);
  if (!tensor.span) return null;
  return fromFields(await source.read(tensor.span.offset, tensor.span.length), type, count);
}

/** Elements in the byte order and width of raw data. */
function fromRaw(bytes: Uint8Array, type: DataType, count: number): Float64Array | null {
  const bits = bitsPerElement(type);
  if (bits === 0 || bytes.length < Math.ceil((bits * count) / 8)) return null;
  const result = new Float64Array(count);
  if (isRealElement(type)) {
    const doubles = type === 'double' ? new Uint8Array(bytes) : convertElements(bytes, type, 'double');
    result.set(new Float64Array(doubles.buffer, doubles.byteOffset, count));
    return result;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const signed = isSignedType(type);
  for (let index = 0; index < count; index++) {
    const value = integerIn(view, index, bits, signed);
    if (!Number.isSafeInteger(value)) return null;
    result[index] = value;
  }
  return result;
}

/** The elements of a sparse tensor with its zeros; null: damaged, or of a type whose elements cannot be read. */
export async function readSparseElements(tensor: OnnxTensor, source: ByteSource): Promise<Float64Array | null> {
  const count = elementCount(tensor.shape);
  if (!tensor.span || count > MOST_ELEMENTS) return null;
  const reader = protobuf.Reader.create(await source.read(tensor.span.offset, tensor.span.length));
  const parts: (Float64Array | null)[] = [null, null];
  let width = 1;
  try {
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag !== SPARSE_TENSOR.values && tag !== SPARSE_TENSOR.indices) reader.skipType(tag & 7);
      else {
        const isIndex = tag === SPARSE_TENSOR.indices;
        const { dims, values } = tensorMessage(reader.bytes(), isIndex ? 'int64' : tensor.type);
        parts[isIndex ? 1 : 0] = values;
        if (isIndex) width = dims[1] ?? 1;
      }
    }
  } catch {
    return null;
  }
  const [values, indices] = parts;
  if (!values || !indices || values.length * width !== indices.length) return null;
  const dense = new Float64Array(count);
  for (const [place, value] of values.entries()) {
    let at = width === 1 ? indices[place]! : 0;
    if (width > 1)
      for (let axis = 0; axis < width; axis++) at = at * tensor.shape[axis]! + indices[place * width + axis]!;
    dense[at] = value;
  }
  return dense;
}

/** Dimensions and elements of a TensorProto by itself. */
function tensorMessage(message: Uint8Array, type: DataType): { dims: number[]; values: Float64Array | null } {
  const reader = protobuf.Reader.create(message);
  const dims: number[] = [];
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === TENSOR.dims)
      for (const end = reader.uint32() + reader.pos; reader.pos < end;) dims.push(Number(reader.int64()));
    else if (tag === TENSOR.dim) dims.push(Number(reader.int64()));
    else reader.skipType(tag & 7);
  }
  return { dims, values: fromFields(message, type, elementCount(dims)) };
}

/** Elements of the typed fields of a TensorProto, packed or one by one. */
function fromFields(message: Uint8Array, type: DataType, count: number): Float64Array | null {
  const reader = protobuf.Reader.create(message);
  const values: number[] = [];
  const readers: Partial<Record<number, { field: number; read: () => number; packed: number }>> = {
    4: { field: 4, read: () => reader.float(), packed: 5 },
    5: { field: 5, read: () => reader.int32(), packed: 0 },
    7: { field: 7, read: () => Number(reader.int64()), packed: 0 },
    10: { field: 10, read: () => reader.double(), packed: 1 },
    11: { field: 11, read: () => Number(reader.uint64()), packed: 0 },
  };
  try {
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      const known = readers[tag >>> 3];
      if (!known) {
        if (tag === TENSOR.rawData) return fromRaw(reader.bytes(), type, count);
        reader.skipType(tag & 7);
      } else if ((tag & 7) === 2) {
        const end = reader.uint32() + reader.pos;
        while (reader.pos < end) values.push(known.read());
      } else values.push(known.read());
    }
  } catch {
    return null;
  }
  // Two elements of four bits are in one number.
  if (bitsPerElement(type) === 4)
    return fromRaw(
      Uint8Array.from(values, (value) => value & 0xff),
      type,
      count,
    );
  if (
    values.length !== count ||
    !values.every(
      (value) => !Number.isInteger(value) || Number.isSafeInteger(value) || type === 'float' || type === 'double',
    )
  )
    return null;
  if (type === 'float16' || type === 'bfloat16')
    return fromRaw(new Uint8Array(Uint16Array.from(values).buffer), type, count);
  return Float64Array.from(values);
}

/** Whole lists of an attribute, of which the model keeps only the beginning. */
export interface AttributeLists {
  floats: number[];
  ints: number[];
  strings: string[];
}

/** The lists of the attribute at a span of the model. */
export async function readAttributeLists(span: ByteSpan, source: ByteSource): Promise<AttributeLists> {
  const reader = protobuf.Reader.create(await source.read(span.offset, span.length));
  const lists: AttributeLists = { floats: [], ints: [], strings: [] };
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    const field = tag >>> 3;
    if (tag === ATTRIBUTE.strings) lists.strings.push(reader.string());
    else if (field === 7 || field === 8) {
      const add = () => (field === 7 ? lists.floats.push(reader.float()) : lists.ints.push(Number(reader.int64())));
      if ((tag & 7) === 2) {
        const end = reader.uint32() + reader.pos;
        while (reader.pos < end) add();
      } else add();
    } else reader.skipType(tag & 7);
  }
  return lists;
}

/** The elements of a tensor of strings; null: they are elsewhere. */
export async function readStrings({ span, type }: OnnxTensor, source: ByteSource): Promise<string[] | null> {
  if (!span || type !== 'string') return null;
  const reader = protobuf.Reader.create(await source.read(span.offset, span.length));
  const strings: string[] = [];
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === TENSOR.stringData) strings.push(reader.string());
    else reader.skipType(tag & 7);
  }
  return strings;
}

/**
 * Numbers as the raw data of a tensor of that type.
 * @throws {Error} for a type whose elements cannot be written
 */
export function rawElements(type: DataType, values: ArrayLike<number>): Uint8Array {
  if (type === 'float' && values instanceof Float32Array)
    return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  if (isRealElement(type)) {
    const doubles = new Uint8Array(Float64Array.from(values).buffer);
    return type === 'double' ? doubles : convertElements(doubles, 'double', type);
  }
  const bits = bitsPerElement(type);
  const bytes = new Uint8Array(Math.ceil((values.length * bits) / 8));
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    const at = (index * bits) / 8;
    if (bits === 8) view.setInt8(at, value);
    else if (bits === 16) view.setInt16(at, value, true);
    else if (bits === 32) view.setInt32(at, value, true);
    else if (bits === 64) view.setBigInt64(at, BigInt(value), true);
    else if (bits === 4) bytes[index >> 1]! |= (value & 15) << ((index & 1) * 4);
    else throw new Error(`elements of type ${type} cannot be written`);
  }
  return bytes;
}
