import { type BuiltShape, builtShapes } from '../../core/build/builtShapes.ts';
import type { CommandNote, EngineOptions } from '../../core/build/engineOptions.ts';
import { suggestedShapes } from '../../core/build/suggestSizes.ts';
import type { OnnxModel } from '../../core/onnx/onnxModel.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';

/** For which shapes a build makes its engine, with a warning where sizes are defaulted. A model that cannot be read has none. */
export async function shapesOfBuild(
  path: string,
  { profiles }: EngineOptions,
): Promise<{ shapes: BuiltShape[][]; notes: CommandNote[] }> {
  const read = await new ParsedFiles().model(path).catch(() => undefined);
  if (!read) return { shapes: [], notes: [] };
  const shapes = builtShapes(read.value, profiles);
  const message = defaultedText(read.value, shapes);
  return { shapes, notes: message === null ? [] : [{ kind: 'warned', flag: 'shapes', message }] };
}

function defaultedText(model: OnnxModel, shapes: readonly BuiltShape[][]): string | null {
  const defaulted = (shapes[0] ?? []).filter((shape) => shape.defaulted);
  if (defaulted.length === 0) return null;
  const declared = new Map(model.graph.inputs.map(({ name, shape }) => [name, shape]));
  const parts = defaulted.map(({ input, defaulted: axes = [] }) => {
    const names = axes
      .map((axis) => declared.get(input)?.[axis])
      .map((dim, i) => (typeof dim === 'string' && dim !== '' ? dim : `axis ${axes[i]}`));
    return `${names.join(', ')} of input ${input}`;
  });
  return `Built for 1 along each open dimension, because no shapes were given: ${parts.join('; ')}. Give real sizes, for example --shapes ${suggestedShapes(model, defaulted).join(',')}.`;
}
