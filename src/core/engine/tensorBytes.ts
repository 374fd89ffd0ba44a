import type { EngineTensor } from './engineLayer.ts';

/** Bits of an element, by TensorRT's name of the type. */
const bits: Readonly<Record<string, number>> = {
  Float: 32,
  Half: 16,
  BFloat16: 16,
  FP8: 8,
  Int8: 8,
  UInt8: 8,
  Bool: 8,
  Int32: 32,
  Int64: 64,
  Int4: 4,
  FP4: 4,
};

/** Bytes of tensors together; null where a size or type is not known, or there are none. */
export function tensorBytes(tensors: readonly EngineTensor[]): number | null {
  let sum = 0;
  for (const { dims, type } of tensors) {
    const width = bits[type ?? ''];
    if (dims === null || width === undefined || dims.some((size) => size < 0)) return null;
    sum += Math.ceil((dims.reduce((product, size) => product * size, 1) * width) / 8);
  }
  return tensors.length === 0 ? null : sum;
}
