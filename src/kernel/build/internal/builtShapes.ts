// For which shapes an engine is built.
import { valueAt } from '../../base/addTo.ts';
import { shapeArgument } from '../../base/text.ts';
import type { OnnxModel } from '../../read/onnx/onnxModel.ts';
import type { ReportShape } from '../../fusion/fusionReport.ts';
import type { ShapeRange } from './optionValues.ts';

/** Shapes of one input for which an engine is built; `min`, `opt` and `max` are equal where nothing may change. */
export interface BuiltShape {
  /** Name of the input. */
  input: string;
  /** Smallest shape, as `1x3x224x224`; '' for a scalar. */
  min: string;
  /** Shape that the engine is tuned for. */
  opt: string;
  /** Largest shape. */
  max: string;
  /** Axes that the model leaves open and for which no size was given: TensorRT's tools build them as 1. */
  defaulted?: number[];
}

/**
 * The shapes for which a build makes its engine: one list an optimization profile, of every input of the model. Inputs
 * of unknown rank are omitted.
 */
export function builtShapes(
  { graph }: OnnxModel,
  profiles: readonly Record<string, ShapeRange>[] = [],
): BuiltShape[][] {
  const weights = new Set(graph.initializers.map(({ name }) => name));
  const inputs = graph.inputs.filter(({ name, shape }) => shape !== null && !weights.has(name));
  return (profiles.length > 0 ? profiles : [{}]).map((profile) =>
    inputs.map(({ name, shape }): BuiltShape => {
      const given = valueAt(profile, name);
      if (given) return { input: name, ...given };
      const open = shape!.flatMap((size, axis) => (isSize(size) ? [] : [axis]));
      const text = shapeArgument(shape!.map((size) => (isSize(size) ? size : 1)));
      return { input: name, min: text, opt: text, max: text, ...(open.length > 0 && { defaulted: open }) };
    }),
  );
}

/** The same as numbers, the number of its optimization profile with each. */
export function sizesOf(shapes: readonly (readonly BuiltShape[])[]): ReportShape[] {
  const sizes = (text: string) => (text === '' ? [] : text.split('x').map(Number));
  return shapes.flatMap((inputs, profile) =>
    inputs.map(({ input, min, opt, max }) => ({ input, profile, min: sizes(min), opt: sizes(opt), max: sizes(max) })),
  );
}

const isSize = (size: number | string | null): size is number => typeof size === 'number' && size >= 0;

/** `x 1×3×224×224`, `ids 1×8 to 8×256 (optimum 4×64)`; several profiles are numbered. */
export function shapesText(shapes: readonly (readonly BuiltShape[])[]): string {
  const texts = shapes.map((profile) => profile.map(shapeText).join(', '));
  return texts.length === 1 ? texts[0]! : texts.map((text, i) => `profile ${i}: ${text}`).join('; ');
}

function shapeText({ input, min, opt, max }: BuiltShape): string {
  const times = (text: string) => (text === '' ? 'scalar' : text.replaceAll('x', '×'));
  if (min === max) return `${input} ${times(opt)}`;
  return `${input} ${times(min)} to ${times(max)}${opt === min || opt === max ? '' : ` (optimum ${times(opt)})`}`;
}
