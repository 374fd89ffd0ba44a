import type { ShapeRange } from '../build/optionKind.ts';
import type { OnnxValue } from '../onnx/onnxModel.ts';
import type { BorderTensor } from './extractModel.ts';

/**
 * Optimization profiles for a part of a model, from those of the model: an input that it shares keeps its shapes, and
 * symbolic dimensions of others get the sizes that the model's inputs give them. A size that no one knows is 1.
 * @param inputs of the model
 * @param border the inputs of the part
 */
export function partProfiles(
  profiles: readonly Record<string, ShapeRange>[],
  inputs: readonly OnnxValue[],
  border: readonly BorderTensor[],
): Record<string, ShapeRange>[] {
  return profiles.map((profile) => {
    const sizes = {
      min: symbolSizes(profile, inputs, 'min'),
      opt: symbolSizes(profile, inputs, 'opt'),
      max: symbolSizes(profile, inputs, 'max'),
    };
    return Object.fromEntries(
      border.flatMap(({ name, shape }) => {
        const own = profile[name];
        if (own) return [[name, own]];
        if (!shape?.some((dim) => typeof dim !== 'number')) return [];
        const text = (kind: keyof ShapeRange) =>
          shape.map((dim) => (typeof dim === 'number' ? dim : (sizes[kind].get(dim ?? '') ?? 1))).join('x');
        return [[name, { min: text('min'), opt: text('opt'), max: text('max') }]];
      }),
    );
  });
}

/** What a profile makes of the symbolic dimensions of the model's inputs. */
function symbolSizes(
  profile: Record<string, ShapeRange>,
  inputs: readonly OnnxValue[],
  kind: keyof ShapeRange,
): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const { name, shape } of inputs) {
    const given = profile[name]?.[kind].split('x').map(Number);
    for (const [axis, dim] of (shape ?? []).entries())
      if (typeof dim === 'string' && given?.[axis] !== undefined) sizes.set(dim, given[axis]);
  }
  return sizes;
}
