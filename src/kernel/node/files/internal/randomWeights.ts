import type { DataType } from '../../../read/onnx/onnxModel.ts';

/** Elements made at a time. */
const block = 1 << 18;

/** As trained weights are spread, roughly: a standard deviation of 0.02. */
const reach = 0.02 * Math.sqrt(3);

/**
 * Random content for a tensor, in chunks of at most 2 MiB: floats evenly spread within ±0.035, 8-bit integers within
 * ±52. Other types (indices, shapes, masks) become zeros, which are valid wherever any value is. The same seed gives
 * the same bytes.
 * @param length in bytes
 */
export function* randomBytesOf(type: DataType, length: number, seed: number): Generator<Uint8Array> {
  const next = generator(seed);
  const fill = fills[type];
  const size = fill?.size ?? 1;
  for (let left = length; left > 0;) {
    const bytes = Math.min(left, block * size);
    const chunk = new Uint8Array(bytes);
    if (fill) {
      const view = new DataView(chunk.buffer);
      for (let at = 0; at + size <= bytes; at += size) fill.put(view, at, next());
    }
    yield chunk;
    left -= bytes;
  }
}

/** Numbers from -1 to 1. Mulberry32: small, fast, good enough for weights. */
function generator(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1;
  };
}

interface Fill {
  size: number;
  put: (view: DataView, at: number, unit: number) => void;
}

const bits = new DataView(new ArrayBuffer(4));

const fills: Record<DataType, Fill> = {
  float: { size: 4, put: (view, at, unit) => view.setFloat32(at, unit * reach, true) },
  double: { size: 8, put: (view, at, unit) => view.setFloat64(at, unit * reach, true) },
  float16: { size: 2, put: (view, at, unit) => view.setUint16(at, halfBits(unit * reach), true) },
  bfloat16: {
    size: 2,
    put: (view, at, unit) => {
      bits.setFloat32(0, unit * reach);
      view.setUint16(at, bits.getUint16(0), true);
    },
  },
  int8: { size: 1, put: (view, at, unit) => view.setInt8(at, Math.round(unit * 52)) },
};

/** IEEE binary16 of a number below 1, cut off, not rounded; what is below the normal range becomes zero. */
function halfBits(value: number): number {
  bits.setFloat32(0, value);
  const single = bits.getUint32(0);
  const exponent = ((single >>> 23) & 0xff) - 112;
  const sign = (single >>> 16) & 0x8000;
  return exponent <= 0 ? sign : sign | (exponent << 10) | ((single >>> 13) & 0x3ff);
}
