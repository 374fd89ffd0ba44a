/** Floating-point types between which tensors can be converted. */
export type RealElement = 'float' | 'float16' | 'bfloat16' | 'double';

/** What a conversion did to values that the target type cannot hold. */
export interface ConversionLoss {
  /** Finite values beyond the target's range; they became its largest finite value, not infinity. */
  clamped: number;
  /** Values other than zero that became zero. */
  vanished: number;
  /** Where these values are: pieces of the model (no `file`) or of its external data, by their beginning. */
  where?: { file?: string; offset: number; clamped: number; vanished: number }[];
}

/** Bytes of one element. */
export const elementBytes: Record<RealElement, number> = { float: 4, float16: 2, bfloat16: 2, double: 8 };

/** True for the types that `convertElements` takes. */
export function isRealElement(type: string): type is RealElement {
  return Object.hasOwn(elementBytes, type);
}

/**
 * Converts little-endian elements; rounds to the nearest, ties to even. Values that are too large stay finite, because
 * an infinity in a weight or mask ends as NaN; infinities and NaN stay what they are. `bytes` holds whole elements.
 */
export function convertElements(
  bytes: Uint8Array,
  from: RealElement,
  to: RealElement,
  loss: ConversionLoss = { clamped: 0, vanished: 0 },
): Uint8Array {
  const fast = from === 'float' ? fastWriters[to] : undefined;
  if (fast) return fast(wordsOf(bytes), loss);
  const count = Math.floor(bytes.length / elementBytes[from]);
  const result = new Uint8Array(count * elementBytes[to]);
  const source = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const target = new DataView(result.buffer);
  const read = readers[from];
  const write = writers[to];
  for (let index = 0; index < count; index++) write(target, index, read(source, index), loss);
  return result;
}

/**
 * 32-bit words of bytes, copied where they are not on a boundary. Typed arrays have the machine's byte order; every
 * machine that this runs on has ONNX's.
 */
function wordsOf(bytes: Uint8Array): Uint32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, Math.floor(bytes.length / 4));
}

/** What nearly all weights need, on bits: ten times the speed of going through numbers. */
const fastWriters: Partial<Record<RealElement, (words: Uint32Array, loss: ConversionLoss) => Uint8Array>> = {
  float16: (words, loss) => {
    const result = new Uint16Array(words.length);
    for (let index = 0; index < words.length; index++) {
      const bits = words[index]!;
      const size = bits & 0x7fffffff;
      // Normal numbers that stay normal and finite: below 65520, and not below 2^-14.
      if (size >= 0x38800000 && size < 0x477ff000) {
        const rounded = size + 0xfff + ((size >>> 13) & 1);
        result[index] = ((bits >>> 16) & 0x8000) | ((rounded - 0x38000000) >>> 13);
      } else result[index] = halfBits(bounded(floatOfBits(bits), halfRange, loss));
    }
    return new Uint8Array(result.buffer);
  },
  bfloat16: (words, loss) => {
    const result = new Uint16Array(words.length);
    for (let index = 0; index < words.length; index++) {
      const bits = words[index]!;
      const size = bits & 0x7fffffff;
      if (size >= 0x00800000 && size < 0x7f7f8000) result[index] = (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
      else result[index] = bfloatBits(bounded(floatOfBits(bits), bfloatRange, loss));
    }
    return new Uint8Array(result.buffer);
  },
};

const readers: Record<RealElement, (view: DataView, index: number) => number> = {
  float: (view, index) => view.getFloat32(index * 4, true),
  double: (view, index) => view.getFloat64(index * 8, true),
  bfloat16: (view, index) => floatOfBits(view.getUint16(index * 2, true) << 16),
  float16: (view, index) => floatOfHalf(view.getUint16(index * 2, true)),
};

const writers: Record<RealElement, (view: DataView, index: number, value: number, loss: ConversionLoss) => void> = {
  double: (view, index, value) => view.setFloat64(index * 8, value, true),
  float: (view, index, value, loss) => view.setFloat32(index * 4, bounded(value, floatRange, loss), true),
  bfloat16: (view, index, value, loss) =>
    view.setUint16(index * 2, bfloatBits(bounded(value, bfloatRange, loss)), true),
  float16: (view, index, value, loss) => view.setUint16(index * 2, halfBits(bounded(value, halfRange, loss)), true),
};

/** The finite range of a type. */
interface Range {
  largest: number;
  /** From here on, rounding to the nearest would give infinity. */
  overflow: number;
  /** Up to here, it gives zero. */
  underflow: number;
}

const floatRange: Range = {
  largest: (2 - 2 ** -23) * 2 ** 127,
  overflow: (2 - 2 ** -24) * 2 ** 127,
  underflow: 2 ** -150,
};
const bfloatRange: Range = {
  largest: (2 - 2 ** -7) * 2 ** 127,
  overflow: (2 - 2 ** -8) * 2 ** 127,
  underflow: 2 ** -134,
};
const halfRange: Range = { largest: 65504, overflow: 65520, underflow: 2 ** -25 };

function bounded(value: number, { largest, overflow, underflow }: Range, loss: ConversionLoss): number {
  const size = Math.abs(value);
  if (size <= underflow) {
    if (value !== 0) loss.vanished++;
    return value;
  }
  if (size < overflow || size === Infinity || Number.isNaN(value)) return value;
  loss.clamped++;
  return value < 0 ? -largest : largest;
}

const scratch = new DataView(new ArrayBuffer(8));

function floatOfBits(bits: number): number {
  scratch.setUint32(0, bits >>> 0);
  return scratch.getFloat32(0);
}

function floatOfHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Rounds to the nearest integer, ties to even. `value` is not negative and below 2^52. */
function roundEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Sign, exponent and fraction of a number in a small format: IEEE's layout with the given widths. */
function smallBits(value: number, exponentBits: number, fractionBits: number): number {
  const top = (1 << exponentBits) - 1;
  const bias = top >> 1;
  const sign = value < 0 || Object.is(value, -0) ? 1 << (exponentBits + fractionBits) : 0;
  if (Number.isNaN(value)) return (top << fractionBits) | (1 << (fractionBits - 1));
  const size = Math.abs(value);
  if (size === Infinity) return sign | (top << fractionBits);
  if (size === 0) return sign;
  scratch.setFloat64(0, size);
  const exponent = Math.max(((scratch.getUint16(0) >> 4) & 0x7ff) - 1023, 1 - bias);
  const units = roundEven(size * 2 ** (fractionBits - exponent));
  // For a subnormal the implicit bit is missing from `units`; a carry of the rounding moves into the exponent.
  return sign | (units + ((exponent + bias - 1) << fractionBits));
}

const halfBits = (value: number): number => smallBits(value, 5, 10);
const bfloatBits = (value: number): number => smallBits(value, 8, 7);
