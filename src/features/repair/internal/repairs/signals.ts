import { intAttribute, intsAttribute, type OnnxNode, textAttribute } from '../../../../kernel/read/onnx/onnxModel.ts';
import { axisOf, type Dim } from '../../../../kernel/network/outputTypes.ts';
import type { RepairDraft } from '../draft.ts';
import type { Repair } from '../repair.ts';

/** Longer transforms make matrices of more than 64 MiB. */
const longest = 4096;

export const fourierMatrix: Repair = {
  id: 'fourier-matrix',
  title: 'Write DFT as products with sines and cosines',
  class: 'rounding',
  rejected: 'DFT.',
  proof:
    'The definition of the transform as a matrix product; a fast transform rounds differently. Up to 4,096 points of known number.',
  versions: 'all',
  issues: [],
  apply: async (draft) => {
    // oxlint-disable-next-line no-await-in-loop
    for (const node of draft.nodes('DFT')) await transform(draft, node);
  },
};

const usualAxis = ({ subject }: RepairDraft): number => (subject.opset >= 20 ? -2 : 1);

async function transform(draft: RepairDraft, node: OnnxNode): Promise<void> {
  const { subject } = draft;
  const shape = subject.shape(node, node.inputs[0]!);
  const given = await subject.constant(node, node.inputs[2]);
  const wanted = await subject.constant(node, node.inputs[1]);
  const axis = axisOf(given?.values[0] ?? intAttribute(node, 'axis') ?? usualAxis(draft), shape?.length ?? 0);
  const points = shape?.[axis ?? -1];
  const isOpen = [wanted, given].some((known, index) => Boolean(node.inputs[index + 1]) && !known);
  if (!shape || typeof points !== 'number' || axis === undefined || isOpen)
    return draft.refuse(node, 'its shape, length or axis is not known');
  const isComplex = shape.at(-1) === 2;
  const waves = wavesOf(node, points, wanted?.values[0]);
  if (waves.length > longest) return draft.refuse(node, 'it is longer than 4,096 points');
  if (waves.toReal && (points !== Math.floor(waves.length / 2) + 1 || !isComplex))
    return draft.refuse(node, 'it is an inverse of one side of another number of frequencies than its length has');
  writeTransform(draft, node, { rank: shape.length, axis, isComplex, waves });
}

function wavesOf(node: OnnxNode, points: number, wanted: number | undefined): Waves {
  const [inverse, onesided] = [intAttribute(node, 'inverse') === 1, intAttribute(node, 'onesided') === 1];
  const toReal = inverse && onesided;
  const length = wanted ?? (toReal ? 2 * (points - 1) : points);
  return { points, length, inverse, toReal, count: onesided && !inverse ? Math.floor(length / 2) + 1 : length };
}

interface Waves {
  points: number;
  length: number;
  /** Of frequencies. */
  count: number;
  inverse: boolean;
  /** From one side of the frequencies to real numbers. */
  toReal: boolean;
}

function matrix({ points, length, count, inverse, toReal }: Waves, of: (angle: number) => number): Float64Array {
  const values = new Float64Array(points * count);
  for (let n = 0; n < Math.min(points, length); n++) {
    // The other side has the same frequencies but for the first and, of an even number, the middle one.
    const weight = (toReal && n > 0 && 2 * n < length ? 2 : 1) / (inverse ? length : 1);
    for (let k = 0; k < count; k++) values[n * count + k] = of((2 * Math.PI * ((n * k) % length)) / length) * weight;
  }
  return values;
}

function writeTransform(
  draft: RepairDraft,
  node: OnnxNode,
  { rank, axis, isComplex, waves }: { rank: number; axis: number; isComplex: boolean; waves: Waves },
): void {
  const type = draft.subject.type(node, node.inputs[0]!) ?? 'float';
  const at = draft.at(node);
  const others = [...Array(rank).keys()].filter((one) => one !== axis && one !== rank - 1);
  const forth = [...others, axis, rank - 1];
  const isLast = axis === rank - 2;
  const turned = isLast ? node.inputs[0]! : at.transpose(node.inputs[0]!, forth);
  const part = (index: number): string => at.gather(turned, at.scalar('int64', index), rank - 1);
  const [cosines, sines] = [Math.cos, Math.sin].map((of) =>
    at.constant(type, [waves.points, waves.count], matrix(waves, of)),
  );
  const real = part(0);
  let [re, im] = [at.op('MatMul', [real, cosines!]), at.op('MatMul', [real, sines!])];
  // e^(−iωt) forward, e^(iωt) back.
  if (isComplex) {
    const imaginary = part(1);
    const [plus, minus] = waves.inverse ? ['Sub', 'Add'] : ['Add', 'Sub'];
    re = at.op(plus!, [re, at.op('MatMul', [imaginary, sines!])]);
    if (!waves.toReal) im = at.op(minus!, [at.op('MatMul', [imaginary, cosines!]), im]);
  } else if (!waves.inverse) im = at.op('Neg', [im]);
  const back = forth.map((_, position) => forth.indexOf(position));
  const both = (outputs?: readonly string[]): string =>
    waves.toReal
      ? at.unsqueeze(re, [rank - 1], outputs)
      : at.concat(
          [re, im].map((one) => at.unsqueeze(one, [rank - 1])),
          rank - 1,
          outputs,
        );
  if (isLast) both(node.outputs);
  else at.transpose(both(), back, node.outputs);
  at.done();
}

export const antialiasMatrix: Repair = {
  id: 'antialias-matrix',
  title: 'Write Resize with antialias as products with its weights',
  class: 'rounding',
  rejected: 'Resize with antialias.',
  proof:
    'The weights of each output row and column are constants; sums are in another order. Linear and cubic mode, half-pixel coordinates, known sizes.',
  versions: 'all',
  issues: [],
  apply: async (draft) => {
    // oxlint-disable-next-line no-await-in-loop
    for (const node of draft.nodes('Resize')) await resize(draft, node);
  },
};

const isPlain = (node: OnnxNode): boolean =>
  /^(?:linear|cubic)$/.test(textAttribute(node, 'mode') ?? '') &&
  (textAttribute(node, 'coordinate_transformation_mode') ?? 'half_pixel') === 'half_pixel' &&
  intsAttribute(node, 'axes') === null &&
  (textAttribute(node, 'keep_aspect_ratio_policy') ?? 'stretch') === 'stretch';

async function resize(draft: RepairDraft, node: OnnxNode): Promise<void> {
  if (intAttribute(node, 'antialias') !== 1) return;
  const { subject } = draft;
  const from = subject.shape(node, node.inputs[0]!);
  const scales = (await subject.constant(node, node.inputs[2]))?.values ?? [];
  const sizes = (await subject.constant(node, node.inputs[3]))?.values ?? [];
  const changes = from && isPlain(node) && scales.length + sizes.length > 0 ? changesOf(from, scales, sizes) : null;
  if (!changes)
    return draft.refuse(node, 'it is not linear or cubic with half-pixel coordinates, or its sizes are not known');
  const type = subject.type(node, node.inputs[0]!) ?? 'float';
  const at = draft.at(node);
  const kernel = kernelOf(node);
  const exclude = intAttribute(node, 'exclude_outside') === 1;
  const last = from!.length - 1;
  let tensor = node.inputs[0]!;
  for (const { axis, scale, to, size } of changes) {
    const weights = at.constant(type, [size, to], weightsOf(size, to, scale, kernel, exclude));
    const swap = [...Array(last + 1).keys()];
    [swap[axis], swap[last]] = [last, axis];
    const turned = axis === last ? tensor : at.transpose(tensor, swap);
    const product = at.op('MatMul', [turned, weights]);
    tensor = axis === last ? product : at.transpose(product, swap);
  }
  at.op('Identity', [tensor], { outputs: node.outputs });
  at.done();
}

/** The axes that change; null: a size is not known. */
function changesOf(from: readonly Dim[], scales: ArrayLike<number>, sizes: ArrayLike<number>) {
  const changes: { axis: number; scale: number; to: number; size: number }[] = [];
  for (const [axis, size] of from.entries()) {
    const given = scales.length > 0 ? scales[axis]! : null;
    if (given === 1) continue;
    if (typeof size !== 'number') return null;
    const scale = given ?? sizes[axis]! / size;
    if (scale !== 1) changes.push({ axis, scale, size, to: given === null ? sizes[axis]! : Math.floor(size * scale) });
  }
  return changes;
}

/** How much an element at a distance from the center counts, up to the width. */
interface Kernel {
  width: number;
  at: (distance: number) => number;
}

function kernelOf(node: OnnxNode): Kernel {
  if (textAttribute(node, 'mode') === 'linear') return { width: 1, at: (distance) => Math.max(0, 1 - distance) };
  const a = node.attributes.find(({ name }) => name === 'cubic_coeff_a')?.value;
  const bend = typeof a === 'number' ? a : -0.75;
  return {
    width: 2,
    at: (x) => {
      if (x < 1) return ((bend + 2) * x - (bend + 3)) * x * x + 1;
      return x < 2 ? (((x - 5) * x + 8) * x - 4) * bend : 0;
    },
  };
}

/**
 * How much each input element contributes to each output element: the kernel, widened by the scale where it shrinks. What
 * lies outside counts for the element at the border.
 */
function weightsOf(size: number, to: number, scale: number, { width, at }: Kernel, exclude: boolean): Float64Array {
  const values = new Float64Array(size * to);
  const shrink = Math.min(1, scale);
  const support = width / shrink;
  for (let out = 0; out < to; out++) {
    const center = (out + 0.5) / scale - 0.5;
    const places = Array.from(
      { length: Math.ceil(2 * support) + 2 },
      (_, i) => Math.floor(center - support) + i,
    ).filter((place) => !exclude || (place >= 0 && place < size));
    const weights = places.map((place) => at(Math.abs(place - center) * shrink));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    for (const [i, place] of places.entries())
      values[Math.min(size - 1, Math.max(0, place)) * to + out]! += weights[i]! / sum;
  }
  return values;
}

/** Nearest modes that take the same pixels with the half-pixel coordinates, which are less by one half. */
const SAME_PIXELS: Readonly<Record<string, string>> = { floor: 'round_prefer_ceil', round_prefer_floor: 'ceil' };

export const halfPixelNearest: Repair = {
  id: 'half-pixel-nearest',
  title: 'Write nearest Resize with tf_half_pixel_for_nn with half_pixel',
  class: 'exact',
  rejected: 'Resize with the coordinates tf_half_pixel_for_nn and sizes, or nearest_mode floor as tf2onnx writes it.',
  proof:
    'The coordinates of half_pixel are less by one half, and rounding them up at one half takes the pixel that floor took. For nearest_mode floor and round_prefer_floor.',
  versions: 'TensorRT-RTX 1.7',
  issues: [],
  apply: (draft) => {
    for (const node of draft.nodes('Resize')) {
      if (textAttribute(node, 'coordinate_transformation_mode') !== 'tf_half_pixel_for_nn') continue;
      const rounded = SAME_PIXELS[textAttribute(node, 'nearest_mode') ?? 'round_prefer_floor'];
      if (rounded === undefined || (textAttribute(node, 'mode') ?? 'nearest') !== 'nearest') {
        draft.refuse(node, 'no nearest_mode of half_pixel takes the same pixels');
        continue;
      }
      const at = draft.at(node);
      const attributes = {
        coordinate_transformation_mode: { string: 'half_pixel' },
        nearest_mode: { string: rounded },
      };
      at.op('Resize', node.inputs, { outputs: node.outputs, like: node, attributes });
      at.done();
    }
  },
};
