import { intAttribute, intsAttribute, type OnnxNode, type OnnxTensor } from '../../read/onnx/onnxModel.ts';
import { axisOf, product, type Dim, type Shape } from '../outputTypes.ts';

/** The elements of a small integer tensor of rank 0 or 1, as far as they are known: shape arithmetic works on these. */
export type Elements = readonly Dim[];

/** Longer lists are not shapes. */
const most = 64;

interface ValueInput {
  node: OnnxNode;
  opset: number;
  shapes: readonly Shape[];
  values: readonly (Elements | null)[];
}

type ValueRule = (input: ValueInput) => Elements | null;

const first: ValueRule = ({ values }) => values[0] ?? null;
const pair =
  (combine: (a: Dim, b: Dim) => Dim): ValueRule =>
  ({ values: [a = null, b = null, more] }) =>
    more === undefined ? pairwise(a, b, combine) : null;

const rules: Readonly<Record<string, ValueRule>> = {
  Constant: ({ node }) => constantOf(node),
  Shape: ({ node, shapes: [shape = null] }) =>
    shape && shape.slice(intAttribute(node, 'start') ?? 0, intAttribute(node, 'end') ?? shape.length),
  Size: ({ shapes: [shape = null] }) => shape && [product(shape)],
  Identity: first,
  Cast: first,
  Squeeze: first,
  Unsqueeze: first,
  Reshape: first,
  Flatten: first,
  Concat: ({ values }) => (values.every((value) => value !== null) ? values.flat() : null),
  Gather: ({ shapes, values: [data = null, indices = null] }) => gathered(data, shapes[0] ?? null, indices),
  Slice: ({ node, opset, values }) => {
    const [data = null, starts = null, ends = null, , steps] = values;
    if (opset < 10) return sliced(data, intsAttribute(node, 'starts'), intsAttribute(node, 'ends'), [1]);
    return sliced(data, starts, ends, steps === undefined ? [1] : steps);
  },
  ConstantOfShape: ({ node, values }) => filled(node, values[0] ?? null),
  ReduceProd: ({ values: [data = null] }) => data && [product(data)],
  Neg: ({ values: [data = null] }) => data && data.map((dim) => (typeof dim === 'number' ? -dim : null)),
  Where: ({ values: [condition = null, yes = null, no = null] }) => chosen(condition, yes, no),
  Add: pair((a, b) => (a === 0 ? b : b === 0 ? a : numbers(a, b, (x, y) => x + y))),
  Sub: pair((a, b) => (b === 0 ? a : numbers(a, b, (x, y) => x - y))),
  Mul: pair((a, b) => (a === 1 ? b : b === 1 ? a : numbers(a, b, (x, y) => x * y))),
  Div: pair((a, b) => (b === 1 ? a : b === 0 ? null : numbers(a, b, (x, y) => Math.trunc(x / y)))),
  Min: pair((a, b) => numbers(a, b, Math.min)),
  Max: pair((a, b) => numbers(a, b, Math.max)),
  Equal: pair(equal),
};

/** What a node of ONNX's own domain makes of integers; null: not known. `shapes`, `values`: of its inputs. */
export function valueOf(input: ValueInput): Elements | null {
  const { op } = input.node;
  const found = Object.hasOwn(rules, op) ? rules[op]!(input) : null;
  return found !== null && found.length <= most ? found : null;
}

/** The elements of a constant node or initializer. */
export const elementsOf = (tensor: OnnxTensor | null): Elements | null =>
  tensor?.ints && tensor.shape.length < 2 ? tensor.ints : null;

/** What a Constant gives, if it is a small list of integers or a bool. */
export function constantOf(node: OnnxNode): Elements | null {
  const [attribute] = node.attributes;
  const value = attribute?.value ?? null;
  if (attribute?.name === 'value_int') return typeof value === 'number' ? [value] : null;
  if (attribute?.name === 'value_ints') return intsAttribute(node, 'value_ints');
  return attribute?.name === 'value' && typeof value === 'object' && value !== null && !Array.isArray(value)
    ? elementsOf(value)
    : null;
}

function gathered(data: Elements | null, shape: Shape, indices: Elements | null): Elements | null {
  if (!data || !indices || shape?.length !== 1) return null;
  return indices.map((index) => {
    const at = typeof index === 'number' ? axisOf(index, data.length) : undefined;
    return at === undefined ? null : data[at]!;
  });
}

function sliced(
  data: Elements | null,
  starts: Elements | null,
  ends: Elements | null,
  steps: Elements | null,
): Elements | null {
  const [start] = starts ?? [];
  const [end] = ends ?? [];
  if (!data || typeof start !== 'number' || typeof end !== 'number' || steps?.[0] !== 1) return null;
  return data.slice(start, end);
}

function filled(node: OnnxNode, shape: Elements | null): Elements | null {
  if (!shape || shape.length > 1) return null;
  const [length = 1] = shape;
  const value = node.attributes.find(({ name }) => name === 'value')?.value;
  const fill = typeof value === 'object' && value !== null && !Array.isArray(value) ? value.ints?.[0] : undefined;
  if (fill === undefined || typeof length !== 'number' || length > most) return null;
  return Array<Dim>(length).fill(fill);
}

function pairwise(a: Elements | null, b: Elements | null, combine: (a: Dim, b: Dim) => Dim): Elements | null {
  if (!a || !b || (a.length !== b.length && a.length !== 1 && b.length !== 1)) return null;
  const length = a.length === 1 ? b.length : a.length;
  return Array.from({ length }, (_, i) => combine(elementAt(a, i), elementAt(b, i)));
}

const elementAt = (list: Elements, i: number): Dim => list[list.length === 1 ? 0 : i] ?? null;

const numbers = (a: Dim, b: Dim, compute: (a: number, b: number) => number): Dim =>
  typeof a === 'number' && typeof b === 'number' ? compute(a, b) : null;

function equal(a: Dim, b: Dim): Dim {
  // A size is never negative, so that the -1 of a target shape never equals one.
  if ((typeof a === 'string' && isNegative(b)) || (typeof b === 'string' && isNegative(a))) return 0;
  return numbers(a, b, (x, y) => (x === y ? 1 : 0));
}

const isNegative = (dim: Dim): boolean => typeof dim === 'number' && dim < 0;

function chosen(condition: Elements | null, yes: Elements | null, no: Elements | null): Elements | null {
  if (!condition || !yes || !no) return null;
  const length = Math.max(condition.length, yes.length, no.length);
  return Array.from({ length }, (_, i) => {
    const which = elementAt(condition, i);
    return typeof which === 'number' ? elementAt(which === 0 ? no : yes, i) : null;
  });
}
