import type { DataType } from './onnxModel.ts';

/** One row of TensorProto.DataType: its number in the file, ONNX's name in lower case, bits of one element (0: no fixed size). */
interface TensorType {
  name: DataType;
  bits: number;
  kind: 'float' | 'signed' | 'unsigned' | 'bool' | 'complex' | 'string';
}

/** In the order of their numbers, from 1 on. */
const types: TensorType[] = [
  { name: 'float', bits: 32, kind: 'float' },
  { name: 'uint8', bits: 8, kind: 'unsigned' },
  { name: 'int8', bits: 8, kind: 'signed' },
  { name: 'uint16', bits: 16, kind: 'unsigned' },
  { name: 'int16', bits: 16, kind: 'signed' },
  { name: 'int32', bits: 32, kind: 'signed' },
  { name: 'int64', bits: 64, kind: 'signed' },
  { name: 'string', bits: 0, kind: 'string' },
  { name: 'bool', bits: 8, kind: 'bool' },
  { name: 'float16', bits: 16, kind: 'float' },
  { name: 'double', bits: 64, kind: 'float' },
  { name: 'uint32', bits: 32, kind: 'unsigned' },
  { name: 'uint64', bits: 64, kind: 'unsigned' },
  { name: 'complex64', bits: 64, kind: 'complex' },
  { name: 'complex128', bits: 128, kind: 'complex' },
  { name: 'bfloat16', bits: 16, kind: 'float' },
  { name: 'float8e4m3fn', bits: 8, kind: 'float' },
  { name: 'float8e4m3fnuz', bits: 8, kind: 'float' },
  { name: 'float8e5m2', bits: 8, kind: 'float' },
  { name: 'float8e5m2fnuz', bits: 8, kind: 'float' },
  { name: 'uint4', bits: 4, kind: 'unsigned' },
  { name: 'int4', bits: 4, kind: 'signed' },
  { name: 'float4e2m1', bits: 4, kind: 'float' },
  { name: 'float8e8m0', bits: 8, kind: 'float' },
  { name: 'uint2', bits: 2, kind: 'unsigned' },
  { name: 'int2', bits: 2, kind: 'signed' },
  { name: 'float6e2m3', bits: 6, kind: 'float' },
  { name: 'float6e3m2', bits: 6, kind: 'float' },
];

const byName = new Map(types.map((type, index) => [type.name, { ...type, number: index + 1 }]));

/** ONNX's name of a data type number; `type 99` for a number that is not known (0, "undefined", included). */
export function dataTypeName(number: number): DataType {
  return types[number - 1]?.name ?? `type ${number}`;
}

/** The number that stands for a data type in a file; also for `type 99`. undefined: no such type. */
export function dataTypeNumber(name: DataType): number | undefined {
  const unknown = /^type (\d+)$/.exec(name);
  return unknown ? Number(unknown[1]) : byName.get(name)?.number;
}

/** Bits of one element as stored in raw data; 0 where elements have no fixed size (string, unknown types). */
export function bitsPerElement(name: DataType): number {
  return byName.get(name)?.bits ?? 0;
}

/** Bytes of a tensor's raw data: types of less than a byte are packed, the last byte is padded. undefined: no fixed size. */
export function byteLength(name: DataType, shape: number[]): number | undefined {
  const bits = bitsPerElement(name);
  return bits === 0 ? undefined : Math.ceil((elementCount(shape) * bits) / 8);
}

/** Product of the dimensions: 1 for a scalar, 0 where a dimension is 0 or negative. */
export function elementCount(shape: number[]): number {
  return shape.reduce((count, dimension) => count * Math.max(0, dimension), 1);
}

/** Integers and bool: what indices, shapes and conditions are made of. */
export function isIntegerType(name: DataType): boolean {
  const kind = byName.get(name)?.kind;
  return kind === 'signed' || kind === 'unsigned' || kind === 'bool';
}

/** Every floating-point type, from double down to float4e2m1. */
export function isFloatType(name: DataType): boolean {
  return byName.get(name)?.kind === 'float';
}

/** Types with a sign of their own among the integers. */
export function isSignedType(name: DataType): boolean {
  return byName.get(name)?.kind === 'signed';
}
