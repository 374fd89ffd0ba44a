// Values for inputs of which there is no file.
import { type DataType, isFloatType, type OnnxModel, type OnnxValue } from '../read/onnx/onnxModel.ts';

/** What to make for an input of which there is no file; `tensor_files.py` makes it. */
export interface RandomInput {
  shape: number[];
  /** Standard normal numbers, a constant, 0 1 2 … along the last axis, or integers from the first up to the second. */
  values: 'normal' | 'ones' | 'zeros' | 'count' | [number, number];
}

/** Sizes for open dimensions by what their names say; one side of an image, otherwise a short sequence. */
const sizes: readonly [RegExp, number][] = [
  [/batch|^n$|^b$/i, 1],
  [/height|width|^h$|^w$/i, 64],
  [/past|cache/i, 0],
  [/seq|len|token|time|frames/i, 16],
];

/**
 * A plausible input by name and type: token ids within the vocabulary, masks of ones, positions that count. They can
 * only show that a model computes at all: real inputs reach values that random ones don't.
 */
export function randomInput(input: OnnxValue, model: OnnxModel, shapes: ReadonlyMap<string, number[]>): RandomInput {
  const { name, type } = input;
  const declared = input.shape ?? [];
  const shape = shapes.get(name) ?? declared.map((dim, axis) => sizeOf(dim, axis));
  return { shape, values: valuesOf(name, type, model) };
}

function sizeOf(dim: number | string | null, axis: number): number {
  if (typeof dim === 'number') return dim;
  const known = typeof dim === 'string' ? sizes.find(([pattern]) => pattern.test(dim)) : undefined;
  return known?.[1] ?? (axis === 0 ? 1 : 16);
}

function valuesOf(name: string, type: DataType | null, model: OnnxModel): RandomInput['values'] {
  if (type === 'bool' || /mask/i.test(name)) return 'ones';
  if (type !== null && isFloatType(type)) return /timestep|^t$|sigma/i.test(name) ? 'ones' : 'normal';
  if (/position/i.test(name)) return 'count';
  if (/token_type|segment/i.test(name)) return 'zeros';
  if (/timestep|^t$/i.test(name)) return [0, 1000];
  return [0, vocabulary(name, model) ?? 2];
}

/** Rows of the table that the input looks up. */
function vocabulary(name: string, { graph }: OnnxModel): number | null {
  const lookup = graph.nodes.find(({ op, inputs }) => op === 'Gather' && inputs[1] === name);
  return graph.initializers.find((tensor) => tensor.name === lookup?.inputs[0])?.shape[0] ?? null;
}

/** Whether some input was of random values. */
export const hasRandomInputs = ({ inputs }: { inputs: readonly { source: 'file' | 'random' }[] }): boolean =>
  inputs.some(({ source }) => source === 'random');

/** What every result of random inputs says. */
export const randomCaution = 'Random inputs: may invent or miss faults.';

/** What to say of random inputs, and what to do; null: there are none. */
export function randomWarning(inputs: readonly { name: string; source: 'file' | 'random' }[]): string | null {
  const random = inputs.filter(({ source }) => source === 'random').map(({ name }) => name);
  if (random.length === 0) return null;
  const names = random.slice(0, 4).join(', ') + (random.length > 4 ? ', …' : '');
  return `random inputs may invent or miss faults (${names}): real ones reach other values. Pass real inputs with --inputs`;
}

/** An input of the model, and what to make where no file is given. */
export interface DeclaredInput extends OnnxValue {
  random: RandomInput;
}

/** The inputs of a model that have no default, with what to make where no file gives values. */
export function inputsOf(model: OnnxModel, shapes: ReadonlyMap<string, number[]> = new Map()): DeclaredInput[] {
  const constants = new Set(model.graph.initializers.map(({ name }) => name));
  return model.graph.inputs
    .filter(({ name }) => !constants.has(name))
    .map((input) => ({ ...input, random: randomInput(input, model, shapes) }));
}
