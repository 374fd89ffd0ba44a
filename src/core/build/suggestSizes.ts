import { inferTensors } from '../model/inferTensors.ts';
import { createModelGraph, type ModelGraph } from '../model/modelGraph.ts';
import type { Dim, Shape } from '../model/shape.ts';
import type { OnnxModel, OnnxValue } from '../onnx/onnxModel.ts';
import type { BuiltShape } from './builtShapes.ts';

/** A size to build with where the model leaves it open. */
export interface SizeSuggestion {
  /** The model's own name for it, or `input[axis]`. */
  name: string;
  size: number;
  /** `required`: constants of the model fit no other size. `name`: usual for such a name or place. */
  why: 'required' | 'name';
}

/** Suggests a size for every open dimension of a model's inputs, each name once, in the order of the inputs. */
export function suggestSizes(model: OnnxModel): SizeSuggestion[] {
  const named = withNames(model);
  const graph = createModelGraph(named);
  const required = requiredSizes(graph, inferTensors(graph).shapes);
  const detects = model.nodes.some(({ op }) => op === 'NonMaxSuppression' || op === 'Resize' || op === 'Upsample');
  const found = new Map<string, SizeSuggestion>();
  const weights = new Set(model.graph.initializers.map(({ name }) => name));
  for (const { name: input, shape } of named.graph.inputs) {
    if (weights.has(input)) continue;
    shape?.forEach((name, axis) => {
      if (typeof name !== 'string' || found.has(name)) return;
      const size = required.get(name);
      found.set(
        name,
        size === undefined
          ? { name, size: usual(name, axis, shape.length, detects), why: 'name' }
          : { name, size, why: 'required' },
      );
    });
  }
  return [...found.values()];
}

/** Shapes with the suggested sizes, as `INPUT:1x3x640x640`, for the inputs of which a size was defaulted. */
export function suggestedShapes(model: OnnxModel, shapes: readonly BuiltShape[]): string[] {
  const sizes = new Map(suggestSizes(model).map(({ name, size }) => [name, size]));
  const inputs = new Map(withNames(model).graph.inputs.map(({ name, shape }) => [name, shape]));
  return shapes.flatMap(({ input, defaulted }) => {
    if (!defaulted) return [];
    const dims = (inputs.get(input) ?? []).map((dim) => (typeof dim === 'string' ? (sizes.get(dim) ?? 1) : dim));
    return [`${input}:${dims.join('x')}`];
  });
}

/** Names of the open dimensions of an input, by axis: the model's own, or `input[axis]`. */
const openName = (input: string, dim: Dim, axis: number): Dim =>
  typeof dim === 'number' && dim >= 0 ? dim : typeof dim === 'string' && dim !== '' ? dim : `${input}[${axis}]`;

/** The model with a name for every open dimension of its inputs, so that it can be followed through the graph. */
function withNames(model: OnnxModel): OnnxModel {
  const inputs = model.graph.inputs.map((value): OnnxValue => ({
    ...value,
    shape: value.shape?.map((dim, axis) => openName(value.name, dim, axis)) ?? null,
  }));
  return { ...model, graph: { ...model.graph, inputs } };
}

/** What people use: one item of a batch, a short text, an image. */
function usual(name: string, axis: number, rank: number, detects: boolean): number {
  if (/batch|^(?:bs|n|b)$/i.test(name)) return 1;
  if (/channel/i.test(name)) return 3;
  if (/height|width|^[hw]$|image|size/i.test(name)) return detects ? 640 : 224;
  if (/seq|len|token|time|frame|context|past|cache/i.test(name)) return 128;
  if (axis === 0) return 1;
  if (rank === 4 && axis > 1) return detects ? 640 : 224;
  return rank <= 3 && axis === 1 ? 128 : 16;
}

const broadcasting: ReadonlySet<string> = new Set(['Add', 'Sub', 'Mul', 'Div', 'Pow', 'Where', 'Max', 'Min']);

/** Sizes that constants of the model fix: what is joined, added, multiplied or reshaped with them fits no other. */
function requiredSizes(graph: ModelGraph, shapes: readonly Shape[]): Map<string, number> {
  const required = new Map<string, number>();
  const same = (a: Dim | undefined, b: Dim | undefined): void => {
    const [name, size] = typeof a === 'string' ? [a, b] : [b, a];
    if (typeof name === 'string' && typeof size === 'number' && size > 1 && !required.has(name))
      required.set(name, size);
  };
  graph.nodes.forEach(({ op, attributes }, index) => {
    const inputs = graph.inputs[index]!.map((tensor) => shapes[tensor] ?? null);
    if (op === 'Concat') {
      const axis = attributes.find(({ name }) => name === 'axis')?.value;
      if (typeof axis === 'number') sameBeside(inputs, axis, same);
    } else if (broadcasting.has(op)) sameBroadcast(inputs, same);
    else if (op === 'MatMul')
      same(inputs[0]?.at(-1), (inputs[1]?.length ?? 0) > 1 ? inputs[1]?.at(-2) : inputs[1]?.[0]);
    else if (op === 'Reshape') {
      const target = graph.model.graph.initializers.find(({ name }) => name === graph.nodes[index]!.inputs[1])?.ints;
      const solved = inputs[0] && target ? solveReshape(inputs[0], target) : null;
      if (solved) same(solved.name, solved.size);
    }
  });
  return required;
}

type Same = (a: Dim | undefined, b: Dim | undefined) => void;

function sameBeside(inputs: readonly Shape[], axis: number, same: Same): void {
  const [first, ...more] = inputs;
  if (!first) return;
  for (const other of more)
    if (other?.length === first.length)
      first.forEach((dim, i) => {
        if (i !== (axis + first.length) % first.length) same(dim, other[i]);
      });
}

function sameBroadcast(inputs: readonly Shape[], same: Same): void {
  for (const a of inputs)
    for (const b of inputs) if (a && b && a !== b) a.forEach((dim, i) => same(dim, b[i - a.length + b.length]));
}

/** The size of the one open dimension that gives as many elements as a constant target has; null: it does not say. */
function solveReshape(from: readonly Dim[], target: readonly number[]): { name: string; size: number } | null {
  if (target.includes(-1)) return null;
  const open = from.filter((dim, i) => target[i] !== 0 && typeof dim !== 'number');
  const [name] = open;
  if (open.length !== 1 || typeof name !== 'string') return null;
  const product = (dims: readonly Dim[]) =>
    dims.reduce<number>((size, dim) => size * (typeof dim === 'number' ? dim : 1), 1);
  const known = product(from.filter((_, i) => target[i] !== 0));
  const size = product(target.filter((dim) => dim !== 0)) / known;
  return Number.isInteger(size) ? { name, size } : null;
}
