import type { DataType } from '../onnx/onnxModel.ts';
import { percentText, thousands } from '../text/numbers.ts';
import type { FloatIsland } from './floatIslands.ts';
import type { Misplaced } from './misplaced.ts';
import type { QuantisedPair } from './pairs.ts';

/** What is known about the quantization of a model: `trtlens quantisation --json`, and what views show. */
export interface Quantisation {
  tensors: TensorScale[];
  /** How many samples `observed` is from; absent: nothing was measured. */
  samples?: number;
  pairs: QuantisedPair[];
  misplaced: Misplaced[];
  islands: FloatIsland[];
  /** What in the calibration cache has no effect, in sentences; absent: nothing. */
  notes?: string[];
}

/** How a tensor is quantised. */
export interface TensorScale {
  tensor: string;
  /** The only one, or the largest of several; null: its value cannot be read. */
  scale: number | null;
  /** How many there are; more than one: per channel. null: not known. */
  count: number | null;
  /** The model's Q/DQ nodes, or a calibration cache. */
  source: 'model' | 'cache';
  /** Ids of the QuantizeLinear nodes that have it, or of DequantizeLinear nodes that read stored integers; none of a cache. */
  nodes: string[];
  /** Of the quantised values: `int8`. */
  type: DataType;
  /** The values that the type covers with that scale; null: not known. */
  range: [low: number, high: number] | null;
  /** What given data hold; absent: not measured. */
  observed?: ObservedValues;
}

/** With what was measured of the same scales before, as of a model whose build or calibration cache is another one now. */
export function withMeasured(found: Quantisation, measured: Quantisation | null): Quantisation {
  if (measured?.samples === undefined) return found;
  const keyOf = ({ tensor, source, type, scale, range }: TensorScale): string =>
    JSON.stringify([tensor, source, type, scale, range]);
  const known = new Map(measured.tensors.map((tensor) => [keyOf(tensor), tensor.observed]));
  const tensors = found.tensors.map((tensor) => {
    const observed = known.get(keyOf(tensor));
    return observed === undefined ? tensor : { ...tensor, observed };
  });
  return { ...found, samples: measured.samples, tensors };
}

/** The values of a tensor in all samples, against its scales. */
export interface ObservedValues {
  values: number;
  /** How many of them are rounded to the end of the range because they are beyond it, and their share, 0…1. */
  clipped: number;
  clippedShare: number | null;
  /** The largest magnitude; null: not finite, or there are no values. */
  largest: number | null;
}

/** Smallest and largest quantised value of the types that TensorRT or ONNX Runtime quantise activations and weights to. */
const limits: Readonly<Record<string, [number, number]>> = {
  int8: [-128, 127],
  uint8: [0, 255],
  int4: [-8, 7],
  uint4: [0, 15],
  int16: [-32_768, 32_767],
  uint16: [0, 65_535],
  float8e4m3fn: [-448, 448],
  float8e5m2: [-57_344, 57_344],
  float4e2m1: [-6, 6],
};

/** Smallest and largest quantised value of a type; undefined: what is stored in it is not clipped, or not known. */
export const limitsOf = (type: DataType): readonly [number, number] | undefined => limits[type];

/** The distance of a type's largest value from the one before it: what is at most half of it beyond is not clipped. */
export const lastStep = (type: DataType): number => ({ float8e4m3fn: 32, float8e5m2: 8192, float4e2m1: 2 })[type] ?? 1;

/** The values that a type covers; null: not known, or the scale is not a positive finite number. @param zeroPoint quantised value that stands for 0 */
export function rangeOf(scale: number | null, type: DataType, zeroPoint: number): [number, number] | null {
  const limit = limitsOf(type);
  return scale === null || limit === undefined || !(scale > 0 && Number.isFinite(scale))
    ? null
    : [(limit[0] - zeroPoint) * scale, (limit[1] - zeroPoint) * scale];
}

/** `0.0475`, `largest of 64: 0.0475`. */
export function scaleText({ scale, count }: TensorScale): string {
  const value = scale === null ? 'value not known' : numberText(scale);
  return count !== null && count > 1 ? `largest of ${thousands(count)}: ${value}` : value;
}

/** `-6.08 to 6.03 as int8`; '' if it is not known. */
export const rangeText = ({ range, type }: TensorScale): string =>
  range === null ? '' : `${numberText(range[0])} to ${numberText(range[1])} as ${type}`;

/** `; clipped 0.3 %, largest 7.213`; '' if it was not measured. */
export function observedText({ observed }: TensorScale): string {
  if (observed === undefined) return '';
  const { clippedShare, largest } = observed;
  const share = clippedShare === null ? 'no values' : `clipped ${percentText(clippedShare * 100)}`;
  return `; ${share}${largest === null ? '' : `, largest ${numberText(largest)}`}`;
}

export const sourceText = ({ source }: TensorScale): string =>
  source === 'cache' ? 'calibration cache' : 'Q/DQ nodes';

/** With four significant digits. */
const numberText = (value: number): string => String(Number(value.toPrecision(4)));
