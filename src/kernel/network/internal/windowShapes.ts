import { intAttribute, intsAttribute, type OnnxNode, textAttribute } from '../../read/onnx/onnxModel.ts';
import type { Dim, Shape } from '../outputTypes.ts';

/** Along one axis: how far a kernel reaches and how it moves. */
interface Window {
  kernel: Dim;
  stride: number;
  dilation: number;
  /** Padding at both ends together. */
  pads: number;
}

function windows(node: OnnxNode, kernel: readonly Dim[]): Window[] {
  const strides = intsAttribute(node, 'strides');
  const dilations = intsAttribute(node, 'dilations');
  const pads = intsAttribute(node, 'pads');
  return kernel.map((size, i) => ({
    kernel: size,
    stride: strides?.[i] ?? 1,
    dilation: dilations?.[i] ?? 1,
    pads: (pads?.[i] ?? 0) + (pads?.[i + kernel.length] ?? 0),
  }));
}

const reach = ({ kernel, dilation }: Window): number | null =>
  typeof kernel === 'number' ? (kernel - 1) * dilation + 1 : null;

/** Size along one axis after a convolution or pooling. */
function slid(size: Dim, window: Window, auto: string, ceil: boolean): Dim {
  const { stride, pads } = window;
  if (auto.startsWith('SAME')) {
    if (stride === 1) return size;
    return typeof size === 'number' ? Math.ceil(size / stride) : null;
  }
  const covered = reach(window);
  if (covered === null) return null;
  const padding = auto === 'VALID' ? 0 : pads;
  if (stride === 1 && padding === covered - 1) return size;
  if (typeof size !== 'number') return null;
  const steps = (size + padding - covered) / stride;
  return (ceil ? Math.ceil(steps) : Math.floor(steps)) + 1;
}

const autoPad = (node: OnnxNode): string => textAttribute(node, 'auto_pad') ?? 'NOTSET';

/** Conv: `weight` is [outputs, inputs / group, kernel…]. */
export function convShape(node: OnnxNode, data: Shape, weight: Shape): Shape {
  if (!data) return null;
  const kernel = weight?.slice(2) ?? intsAttribute(node, 'kernel_shape') ?? [];
  if (kernel.length !== data.length - 2) return null;
  const sizes = windows(node, kernel).map((window, i) => slid(data[i + 2]!, window, autoPad(node), false));
  return [data[0]!, weight?.[0] ?? null, ...sizes];
}

/** ConvTranspose: `weight` is [inputs, outputs / group, kernel…]. */
export function convTransposeShape(node: OnnxNode, data: Shape, weight: Shape): Shape {
  if (!data || weight?.length !== data.length) return null;
  const [, perGroup] = weight;
  const channels = typeof perGroup === 'number' ? perGroup * (intAttribute(node, 'group') ?? 1) : null;
  const given = intsAttribute(node, 'output_shape');
  const extra = intsAttribute(node, 'output_padding');
  const sizes = windows(node, weight.slice(2)).map((window, i): Dim => {
    const size = data[i + 2]!;
    if (given) return given[i - data.length + 2 + given.length] ?? null;
    if (typeof size !== 'number') return null;
    if (autoPad(node).startsWith('SAME')) return size * window.stride;
    const covered = reach(window);
    const padding = autoPad(node) === 'VALID' ? 0 : window.pads;
    return covered === null ? null : window.stride * (size - 1) + (extra?.[i] ?? 0) + covered - padding;
  });
  return [data[0]!, channels, ...sizes];
}

/** By axis, the padding at both ends together that `output_shape` of a ConvTranspose leaves; null: not known. */
export function transposedPadding(node: OnnxNode, data: Shape, weight: Shape): number[] | null {
  const shape = intsAttribute(node, 'output_shape');
  const whole = convTransposeShape(
    { ...node, attributes: node.attributes.filter(({ name }) => !PADDINGS.has(name)) },
    data,
    weight,
  );
  const sizes = whole?.slice(2) ?? [];
  if (!shape || sizes.length === 0) return null;
  const paddings = sizes.map((size, axis) => Number(size ?? NaN) - (shape.at(axis - sizes.length) ?? NaN));
  return paddings.some(Number.isNaN) ? null : paddings;
}

const PADDINGS: ReadonlySet<string> = new Set(['output_shape', 'pads', 'auto_pad']);

/** Pooling with a window of `kernel_shape`. */
export function poolShape(node: OnnxNode, data: Shape): Shape {
  const kernel = intsAttribute(node, 'kernel_shape');
  if (!data || kernel?.length !== data.length - 2) return null;
  const ceil = intAttribute(node, 'ceil_mode') === 1;
  const sizes = windows(node, kernel).map((window, i) => slid(data[i + 2]!, window, autoPad(node), ceil));
  return [data[0]!, data[1]!, ...sizes];
}
