import type { CheckFinding } from '../../../kernel/build/diagnosis.ts';
import type { InferredTensors } from '../../../kernel/network/network.ts';
import type { ModelGraph } from '../../../kernel/network/modelGraph.ts';

/** A version to check for. */
export interface CheckTarget {
  product: 'tensorrt' | 'tensorrt-rtx';
  /** `10.6`; null: the newest that the tables know. */
  version: string | null;
  /** `6.1`; null: any GPU that the version supports. */
  capability: string | null;
}

/** A problem of one node; equal ones become one finding. */
export type NodeProblem = Omit<CheckFinding, 'nodes' | 'tensors'>;

/** The shapes given for one input; an input whose values are shapes gets its values there. */
export interface GivenShape {
  input: string;
  min: readonly number[];
  opt: readonly number[];
  max: readonly number[];
}

/** What is wrong with the shapes given: names, ranks, fixed and equal dimensions, values that are missing. */
export function checkShapes(
  graph: ModelGraph,
  inferred: InferredTensors,
  given: readonly GivenShape[],
): CheckFinding[] {
  if (given.length === 0) return valuesNeeded(graph, inferred);
  const found: CheckFinding[] = [];
  const error = errorsOf(found);
  const inputs = graph.tensors.filter(({ kind }) => kind === 'input');
  const byName = new Map(inputs.map((tensor) => [tensor.name, tensor]));
  /** Sizes by the name of the dimension: the input that gave it first. */
  const named = new Map<string, { input: string; sizes: string }>();
  for (const { input, min, opt, max } of given) {
    const shape = byName.get(input)?.value?.shape;
    if (!byName.has(input)) {
      const names = inputs.map(({ name }) => name).join(', ');
      error('unknown-input', `The model has no input named ${input}.`, `Inputs of the model: ${names}.`, [input]);
      continue;
    }
    if (min.some((size, axis) => size > opt[axis]! || opt[axis]! > max[axis]!))
      error('profile-inconsistent', `The shapes of ${input} are not min ≤ opt ≤ max.`, 'Give them in order.', [input]);
    if (!shape) continue;
    const isValue = isShapeValue(graph, inferred, input);
    if (shape.length !== opt.length && !isValue) {
      error(
        'profile-inconsistent',
        `${input} has ${shape.length} dimensions, and ${opt.length} are given.`,
        'Give as many sizes as the input has dimensions.',
        [input],
      );
      continue;
    }
    if (isValue) continue;
    checkDimensions({ input, min, opt, max }, shape, named, error);
  }
  const listed = new Set(given.map(({ input }) => input));
  for (const { name, value } of inputs) {
    if (listed.has(name)) continue;
    if (value?.shape?.some((size) => typeof size !== 'number'))
      error('profile-missing', `Input ${name} is dynamic and has no shapes.`, 'Give shapes for it.', [name]);
  }
  return found;
}

/** Adds an error about inputs, outputs or initializers to a list. */
export type AddError = (code: string, message: string, advice: string, tensors: string[], repair?: string) => void;

export function errorsOf(found: CheckFinding[]): AddError {
  return (code, message, advice, tensors, repair) =>
    found.push({
      severity: 'error',
      code,
      message,
      advice,
      nodes: [],
      tensors,
      ...(repair !== undefined && { repair }),
    });
}

/** Fixed dimensions, and those that a name makes equal. */
function checkDimensions(
  { input, min, opt, max }: GivenShape,
  shape: readonly (number | string | null)[],
  named: Map<string, { input: string; sizes: string }>,
  error: AddError,
): void {
  for (const [axis, dimension] of shape.entries()) {
    const sizes = [min[axis], opt[axis], max[axis]];
    if (typeof dimension === 'number') {
      if (sizes.some((size) => size !== dimension))
        error(
          'profile-inconsistent',
          `Dimension ${axis} of ${input} is fixed to ${dimension}, and ${opt[axis]} is given.`,
          `Give ${dimension}, or export the model with that dimension dynamic.`,
          [input],
        );
      continue;
    }
    if (dimension === null || dimension === '') continue;
    const earlier = named.get(dimension);
    if (earlier === undefined) named.set(dimension, { input, sizes: sizes.join(' ') });
    else if (earlier.sizes !== sizes.join(' '))
      error(
        'shape-mismatch',
        `Dimensions named ${JSON.stringify(dimension)} must be equal; ${earlier.input} and ${input} give different sizes.`,
        'Give equal sizes, or rename the dimensions: exporters such as Paddle2ONNX name all of them alike.',
        [earlier.input, input],
        'rename-dimensions',
      );
  }
}

/** Operators with the inputs whose values decide shapes. */
const SHAPE_READERS: ReadonlyMap<string, readonly number[]> = new Map(
  Object.entries({
    TopK: [1],
    Reshape: [1],
    Expand: [1],
    Slice: [1, 2, 3, 4],
    Resize: [3],
    ConstantOfShape: [0],
    Tile: [1],
    Pad: [1],
    Range: [0, 1, 2],
  }),
);

/** Operators that compute a shape from others, with the inputs that become part of it; all where none are listed. */
const SHAPE_ARITHMETIC: ReadonlyMap<string, readonly number[]> = new Map<string, readonly number[]>([
  ...['Add', 'Sub', 'Mul', 'Div', 'Mod', 'Min', 'Max', 'Concat', 'Where'].map((op) => [op, []] as const),
  ...['Cast', 'Gather', 'Identity', 'Reshape', 'Slice', 'Squeeze', 'Unsqueeze', 'ReduceProd', 'Split'].map(
    (op) => [op, [0]] as const,
  ),
]);

/** Inputs whose values decide shapes: a build needs them besides the shapes of others. */
export function shapeValueInputs(graph: ModelGraph, inferred: InferredTensors): string[] {
  const read = new Set<number>();
  const open: number[] = [];
  const need = (tensor: number | undefined): void => {
    if (tensor === undefined || tensor < 0 || read.has(tensor)) return;
    read.add(tensor);
    open.push(tensor);
  };
  for (const [index, { op }] of graph.nodes.entries())
    for (const at of SHAPE_READERS.get(op) ?? []) need(graph.inputs[index]![at]);
  while (open.length > 0) {
    const producer = graph.tensors[open.pop()!]?.producer ?? -1;
    const places = SHAPE_ARITHMETIC.get(graph.nodes[producer]?.op ?? '');
    const inputs = graph.inputs[producer] ?? [];
    if (places) (places.length === 0 ? inputs : places.map((at) => inputs[at])).forEach(need);
  }
  return graph.tensors.flatMap(({ kind, name }, index) =>
    kind === 'input' && read.has(index) && isShapeValue(graph, inferred, name) ? [name] : [],
  );
}

const valuesNeeded = (graph: ModelGraph, inferred: InferredTensors): CheckFinding[] =>
  shapeValueInputs(graph, inferred).map((name) => ({
    severity: 'warning',
    code: 'shape-values-missing',
    message: `Input ${name} is a shape tensor: the build needs its values.`,
    advice: `Give them in place of a shape: --shapes ${name}:3, or make it an initializer.`,
    nodes: [],
    tensors: [name],
  }));

/** Whether the values of an input are a shape: a vector of integers that the rank of what is given does not fit. */
function isShapeValue(graph: ModelGraph, inferred: InferredTensors, input: string): boolean {
  const index = graph.byName.get(input) ?? -1;
  return /^int(?:32|64)$/.test(inferred.types[index] ?? '') && (inferred.shapes[index]?.length ?? 2) <= 1;
}
