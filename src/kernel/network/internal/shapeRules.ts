import {
  intAttribute,
  intsAttribute,
  type OnnxNode,
  type OnnxTensor,
  textAttribute,
} from '../../read/onnx/onnxModel.ts';
import {
  axisOf,
  broadcast,
  type Dim,
  isKnown,
  product,
  quotient,
  reshaped,
  type Shape,
  sharesOneType,
  unknownDims,
} from '../outputTypes.ts';
import type { Elements } from './shapeValues.ts';
import { convShape, convTransposeShape, poolShape } from './windowShapes.ts';
import { isStandardDomain } from '../modelGraph.ts';

/** A node with what is known of its inputs. */
export interface ShapeInput {
  node: OnnxNode;
  /** Version of the standard operator set. */
  opset: number;
  shapes: readonly Shape[];
  /** Elements of small integer inputs. */
  values: readonly (Elements | null)[];
}

type ShapeRule = (input: ShapeInput) => Shape[];

const same: ShapeRule = ({ shapes }) => [shapes[0] ?? null];
const elementwise: ShapeRule = ({ shapes }) => [broadcast(shapes)];
const one =
  (rule: (input: ShapeInput) => Shape): ShapeRule =>
  (input) => [rule(input)];

const rules: Readonly<Record<string, ShapeRule>> = {
  ...each(
    'Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min ' +
      'Mod Mul Or Pow PRelu Sub Sum Where Xor',
    elementwise,
  ),
  ...each('MaxPool AveragePool LpPool', ({ node, shapes }) => {
    const shape = poolShape(node, shapes[0] ?? null);
    return [shape, shape];
  }),
  ...each(
    'GlobalAveragePool GlobalMaxPool GlobalLpPool',
    one(({ shapes }) => pooledWhole(shapes[0] ?? null)),
  ),
  ...each('ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum', one(reduced)),
  ...each('ReduceLogSumExp ReduceSumSquare', one(reduced)),
  ...each('ArgMax ArgMin', one(argReduced)),
  ...each('LSTM GRU RNN', recurrent),
  ...each('LayerNormalization', ({ node, shapes }) => {
    const shape = shapes[0] ?? null;
    const axis = shape && axisOf(intAttribute(node, 'axis') ?? -1, shape.length);
    const statistics = shape && axis !== undefined ? shape.map((dim, i) => (i < axis! ? dim : 1)) : null;
    return [shape, statistics, statistics];
  }),
  ...each(
    'Gelu FastGelu BiasGelu QuickGelu SkipLayerNormalization SkipSimplifiedLayerNormalization',
    same,
    'com.microsoft/',
  ),
  BatchNormalization: ({ node, shapes }) => node.outputs.map((_, i) => (i === 0 ? shapes[0] : shapes[4]) ?? null),
  Dropout: ({ shapes }) => [shapes[0] ?? null, shapes[0] ?? null],
  DynamicQuantizeLinear: ({ shapes }) => [shapes[0] ?? null, [], []],
  QuantizeLinear: same,
  DequantizeLinear: same,
  Cast: same,
  CastLike: same,
  Bernoulli: same,
  EyeLike: same,
  RandomNormalLike: same,
  RandomUniformLike: same,
  RandomNormal: one(({ node }) => intsAttribute(node, 'shape')),
  RandomUniform: one(({ node }) => intsAttribute(node, 'shape')),
  Constant: one(({ node }) => constantShape(node)),
  ConstantOfShape: one(({ shapes, values }) => values[0] ?? ofLength(shapes[0])),
  Shape: one(({ node, shapes }) => {
    const shape = shapes[0] ?? null;
    return shape && [shape.slice(intAttribute(node, 'start') ?? 0, intAttribute(node, 'end') ?? shape.length).length];
  }),
  Size: () => [[]],
  Range: one(({ values }) => [steps(values[0], values[1], values[2])]),
  MatMul: one(({ shapes }) => multiplied(shapes[0] ?? null, shapes[1] ?? null)),
  MatMulInteger: one(({ shapes }) => multiplied(shapes[0] ?? null, shapes[1] ?? null)),
  Gemm: one(({ node, shapes: [a, b] }) =>
    a?.length === 2 && b?.length === 2
      ? [a[intAttribute(node, 'transA') ? 1 : 0]!, b[intAttribute(node, 'transB') ? 0 : 1]!]
      : [null, null],
  ),
  Einsum: one(({ node, shapes }) => summed(textAttribute(node, 'equation'), shapes)),
  Conv: one(({ node, shapes }) => convShape(node, shapes[0] ?? null, shapes[1] ?? null)),
  ConvInteger: one(({ node, shapes }) => convShape(node, shapes[0] ?? null, shapes[1] ?? null)),
  QLinearConv: one(({ node, shapes }) => convShape(node, shapes[0] ?? null, shapes[3] ?? null)),
  ConvTranspose: one(({ node, shapes }) => convTransposeShape(node, shapes[0] ?? null, shapes[1] ?? null)),
  Flatten: one(({ node, shapes }) => flattened(node, shapes[0] ?? null)),
  Reshape: one(({ node, opset, shapes, values }) => {
    const to = opset < 5 ? intsAttribute(node, 'shape') : values[1];
    return to ? reshaped(shapes[0] ?? null, to, intAttribute(node, 'allowzero') === 1) : ofLength(shapes[1]);
  }),
  Expand: one(({ shapes, values }) => broadcast([shapes[0] ?? null, values[1] ?? ofLength(shapes[1])])),
  Tile: one(({ shapes: [shape], values }) =>
    shape ? shape.map((dim, i) => times(dim, values[1]?.[i] ?? null)) : null,
  ),
  Transpose: one(({ node, shapes: [shape] }) => {
    if (!shape) return null;
    const order = intsAttribute(node, 'perm');
    return order ? order.map((axis) => shape[axis] ?? null) : shape.toReversed();
  }),
  Squeeze: one(squeezed),
  Unsqueeze: one(unsqueezed),
  Concat: one(({ node, shapes }) => concatenated(shapes, intAttribute(node, 'axis') ?? 0)),
  Split: split,
  Slice: one(sliced),
  Gather: one(({ node, shapes: [data, indices] }) => {
    const axis = data && axisOf(intAttribute(node, 'axis') ?? 0, data.length);
    return data && indices && axis !== undefined
      ? [...data.slice(0, axis!), ...indices, ...data.slice(axis! + 1)]
      : null;
  }),
  GatherElements: one(({ shapes }) => shapes[1] ?? null),
  GatherND: one(({ node, shapes: [data, indices] }) => {
    const depth = indices?.at(-1);
    const batch = intAttribute(node, 'batch_dims') ?? 0;
    return data && indices && typeof depth === 'number'
      ? [...indices.slice(0, -1), ...data.slice(batch + depth)]
      : null;
  }),
  Pad: one(({ node, opset, shapes: [shape], values }) => {
    const pads = opset < 11 ? intsAttribute(node, 'pads') : values[1];
    const axes = values.length > 3 ? values[3] : shape?.map((_, i) => i);
    if (!shape) return null;
    if (!pads || !axes || !isKnown(axes)) return unknownDims(shape.length);
    return shape.map((dim, i) => {
      const at = axes.findIndex((axis) => axisOf(axis, shape.length) === i);
      return at < 0 ? dim : plus(dim, plus(pads[at] ?? null, pads[at + axes.length] ?? null));
    });
  }),
  Resize: one(({ node, opset, shapes: [shape], values }) => {
    if (!shape) return null;
    const sizes = opset < 11 || intsAttribute(node, 'axes') ? null : values[3];
    const stretched = (textAttribute(node, 'keep_aspect_ratio_policy') ?? 'stretch') === 'stretch';
    return sizes?.length === shape.length && stretched ? sizes : unknownDims(shape.length);
  }),
  Upsample: one(({ shapes: [shape] }) => (shape ? unknownDims(shape.length) : null)),
  TopK: ({ node, opset, shapes: [shape], values }) => {
    const axis = shape && axisOf(intAttribute(node, 'axis') ?? -1, shape.length);
    const count = opset < 10 ? intAttribute(node, 'k') : values[1]?.[0];
    const result = shape && axis !== undefined ? shape.map((dim, i) => (i === axis ? (count ?? null) : dim)) : null;
    return [result, result];
  },
  OneHot: one(({ node, shapes: [indices], values }) => {
    const axis = indices && axisOf(intAttribute(node, 'axis') ?? -1, indices.length + 1);
    return indices && axis !== undefined ? indices.toSpliced(axis!, 0, values[1]?.[0] ?? null) : null;
  }),
  NonZero: one(({ shapes: [shape] }) => [shape ? shape.length : null, null]),
  NonMaxSuppression: () => [[null, 3]],
  DepthToSpace: one(({ node, shapes: [shape] }) => spaced(shape ?? null, intAttribute(node, 'blocksize') ?? 1)),
  SpaceToDepth: one(({ node, shapes: [shape] }) => spaced(shape ?? null, 1 / (intAttribute(node, 'blocksize') ?? 1))),
};

/** Operators of one type whose result's shape is not simply their first input's. */
const irregular: ReadonlySet<string> = new Set(
  (
    'AffineGrid Attention CausalConvWithState CenterCropPad Col2Im Compress DFT DeformConv Det GridSample ' +
    'LinearAttention MaxRoiPool MaxUnpool NegativeLogLikelihoodLoss RoiAlign STFT SoftmaxCrossEntropyLoss ' +
    'StringConcat StringNormalizer SwiGLU Unique'
  ).split(' '),
);

/** Shapes of a node's outputs from its inputs' shapes and small values; null: not known. */
export function outputShapes(input: ShapeInput): Shape[] {
  const { node } = input;
  // An attribute of the function around it, whose value is not known here.
  if (node.attributes.some(({ reference }) => reference !== undefined)) return [];
  const standard = isStandardDomain(node.domain);
  const key = standard ? node.op : `${node.domain}/${node.op}`;
  const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
  if (rule) return rule(input);
  // Activations, normalizations, scatters and what else keeps the shape.
  return standard && sharesOneType(node) && !irregular.has(node.op) ? [input.shapes[0] ?? null] : [];
}

function each(ops: string, rule: ShapeRule, domain = ''): Record<string, ShapeRule> {
  return Object.fromEntries(ops.split(' ').map((op) => [domain + op, rule]));
}

/** As many unknown dimensions as a list of that shape has elements. */
function ofLength(list: Shape | undefined): Shape {
  const length = list?.length === 1 ? list[0] : undefined;
  return typeof length === 'number' && length <= 64 ? unknownDims(length) : null;
}

const plus = (a: Dim, b: Dim): Dim =>
  typeof a === 'number' && typeof b === 'number' ? a + b : b === 0 ? a : a === 0 ? b : null;

const times = (a: Dim, b: Dim): Dim => product([a, b]);

function pooledWhole(shape: Shape): Shape {
  return shape && shape.map((dim, i) => (i < 2 ? dim : 1));
}

/** Axes from an attribute, which later opsets made an input; null: given, but not known. */
function axesOf({ node, shapes, values }: ShapeInput, at = 1): readonly number[] | 'absent' | null {
  const attribute = intsAttribute(node, 'axes');
  if (attribute) return attribute;
  const given = values[at];
  if (given) return isKnown(given) ? given : null;
  return node.inputs[at] === undefined || node.inputs[at] === ''
    ? shapes[at] === undefined || shapes[at] === null
      ? 'absent'
      : null
    : null;
}

function reduced(input: ShapeInput): Shape {
  const { node, shapes } = input;
  const shape = shapes[0] ?? null;
  if (!shape) return null;
  const keep = (intAttribute(node, 'keepdims') ?? 1) === 1;
  const axes = axesOf(input);
  if (axes === null) return keep ? unknownDims(shape.length) : null;
  if (axes === 'absent' || axes.length === 0) {
    if (intAttribute(node, 'noop_with_empty_axes') === 1) return shape;
    return keep ? shape.map(() => 1) : [];
  }
  const gone = new Set(axes.map((axis) => axisOf(axis, shape.length)));
  return keep ? shape.map((dim, i) => (gone.has(i) ? 1 : dim)) : shape.filter((_, i) => !gone.has(i));
}

function argReduced({ node, shapes: [shape] }: ShapeInput): Shape {
  const axis = shape && axisOf(intAttribute(node, 'axis') ?? 0, shape.length);
  if (!shape || axis === undefined) return null;
  return (intAttribute(node, 'keepdims') ?? 1) === 1 ? shape.with(axis!, 1) : shape.toSpliced(axis!, 1);
}

function recurrent({ node, shapes: [x, w] }: ShapeInput): Shape[] {
  const hidden = intAttribute(node, 'hidden_size') ?? null;
  const directions = w?.[0] ?? (textAttribute(node, 'direction') === 'bidirectional' ? 2 : 1);
  if (x?.length !== 3) return [];
  const batchFirst = intAttribute(node, 'layout') === 1;
  const [length, batch] = batchFirst ? [x[1]!, x[0]!] : [x[0]!, x[1]!];
  const state: Shape = batchFirst ? [batch, directions, hidden] : [directions, batch, hidden];
  return [batchFirst ? [batch, length, directions, hidden] : [length, directions, batch, hidden], state, state];
}

function multiplied(a: Shape, b: Shape): Shape {
  if (!a || !b || a.length === 0 || b.length === 0) return null;
  const batch = broadcast([a.slice(0, -2), b.slice(0, -2)]);
  return batch && [...batch, ...(a.length > 1 ? [a.at(-2)!] : []), ...(b.length > 1 ? [b.at(-1)!] : [])];
}

/** `bij,bjk->bik`; without an ellipsis. */
function summed(equation: string | undefined, shapes: readonly Shape[]): Shape {
  const [from, to] = equation?.replaceAll(' ', '').split('->') ?? [];
  if (from === undefined || to === undefined || from.includes('.')) return null;
  const sizes = new Map<string, Dim>();
  for (const [i, letters] of from.split(',').entries())
    for (const [at, letter] of letters.split('').entries())
      sizes.set(letter, sizes.get(letter) ?? shapes[i]?.[at] ?? null);
  return to.split('').map((letter) => sizes.get(letter) ?? null);
}

function flattened(node: OnnxNode, shape: Shape): Shape {
  if (!shape) return [null, null];
  const given = intAttribute(node, 'axis') ?? 1;
  const axis = given < 0 ? given + shape.length : given;
  return [product(shape.slice(0, axis)), product(shape.slice(axis))];
}

function squeezed(input: ShapeInput): Shape {
  const shape = input.shapes[0] ?? null;
  const axes = axesOf(input);
  if (!shape || axes === null) return null;
  if (axes === 'absent') return isKnown(shape) ? shape.filter((dim) => dim !== 1) : null;
  const gone = new Set(axes.map((axis) => axisOf(axis, shape.length)));
  return shape.filter((_, i) => !gone.has(i));
}

function unsqueezed(input: ShapeInput): Shape {
  const shape = input.shapes[0] ?? null;
  const axes = axesOf(input);
  if (!shape || axes === null || axes === 'absent') return null;
  const rank = shape.length + axes.length;
  const added = new Set(axes.map((axis) => axisOf(axis, rank)));
  const rest = [...shape];
  return Array.from({ length: rank }, (_, i) => (added.has(i) ? 1 : (rest.shift() ?? null)));
}

function concatenated(shapes: readonly Shape[], along: number): Shape {
  const known = shapes.filter((shape) => shape !== null);
  const rank = known[0]?.length;
  const axis = rank === undefined ? undefined : axisOf(along, rank);
  if (rank === undefined || axis === undefined || known.some((shape) => shape.length !== rank)) return null;
  return Array.from({ length: rank }, (_, i) => {
    if (i === axis) return shapes.reduce<Dim>((sum, shape) => plus(sum, shape?.[i] ?? null), 0);
    // All have the same size there: a number says more than a name.
    return known
      .map((shape) => shape[i]!)
      .reduce(
        (best, dim) =>
          typeof best === 'number' || dim === null ? best : typeof dim === 'number' ? dim : (best ?? dim),
        null as Dim,
      );
  });
}

function split({ node, opset, shapes: [shape], values }: ShapeInput): Shape[] {
  const axis = shape && axisOf(intAttribute(node, 'axis') ?? 0, shape.length);
  if (!shape || axis === undefined) return [];
  const sizes = opset < 13 ? intsAttribute(node, 'split') : (values[1] ?? null);
  const isGiven = sizes !== null || (node.inputs[1] ?? '') !== '';
  const parts = node.outputs.length;
  const whole = shape[axis!]!;
  const even = typeof whole === 'number' ? Math.ceil(whole / parts) : quotient([whole], [parts]);
  return node.outputs.map((_, i) => {
    const rest = typeof whole === 'number' && typeof even === 'number' ? Math.min(even, whole - i * even) : even;
    return shape.with(axis!, isGiven ? (sizes?.[i] ?? null) : rest);
  });
}

function sliced({ node, opset, shapes, values }: ShapeInput): Shape {
  const shape = shapes[0] ?? null;
  if (!shape) return null;
  // Lists were attributes before opset 10. null: given, but not known.
  const list = (name: string, at: number): Elements | null | undefined =>
    opset < 10 ? (intsAttribute(node, name) ?? undefined) : node.inputs[at] ? (values[at] ?? null) : undefined;
  const starts = list('starts', 1);
  const ends = list('ends', 2);
  const steps = opset < 10 ? undefined : list('steps', 4);
  const listed = list('axes', 3);
  const axes = listed === undefined ? starts && starts.map((_, i) => i) : listed;
  if (!axes || !isKnown(axes)) return unknownDims(shape.length);
  const result = [...shape];
  for (const [i, axis] of axes.entries()) {
    const at = axisOf(axis, shape.length);
    const step = steps === undefined ? 1 : steps && steps[i]!;
    if (at !== undefined) result[at] = cut(shape[at]!, starts?.[i] ?? null, ends?.[i] ?? null, step);
  }
  return result;
}

/** Ends from here on mean to the end. */
const far = 2 ** 31 - 1;

function cut(size: Dim, start: Dim, end: Dim, step: Dim): Dim {
  if (typeof step !== 'number' || step === 0) return null;
  if (start === 0 && step === 1 && typeof end === 'number' && end >= far) return size;
  // `x[:n]` of a size that is n.
  if (start === 0 && step === 1 && end !== null && end === size) return size;
  if (typeof size !== 'number' || typeof start !== 'number' || typeof end !== 'number') return null;
  const clamp = (at: number, low: number, high: number) => Math.min(Math.max(at < 0 ? at + size : at, low), high);
  const length =
    step > 0
      ? (clamp(end, 0, size) - clamp(start, 0, size)) / step
      : (clamp(end, -1, size - 1) - clamp(start, 0, size - 1)) / step;
  return Math.max(0, Math.ceil(length));
}

function steps(
  start: Elements | null | undefined,
  limit: Elements | null | undefined,
  delta: Elements | null | undefined,
): Dim {
  const [from, to, by] = [start?.[0], limit?.[0], delta?.[0]];
  if (from === 0 && by === 1 && to !== undefined) return typeof to === 'number' ? Math.max(0, to) : to;
  if (typeof from !== 'number' || typeof to !== 'number' || typeof by !== 'number' || by === 0) return null;
  return Math.max(0, Math.ceil((to - from) / by));
}

function spaced(shape: Shape, factor: number): Shape {
  if (shape?.length !== 4) return null;
  const [batch, channels, height, width] = shape;
  const scaled = (dim: Dim | undefined, by: number): Dim => (typeof dim === 'number' ? Math.round(dim * by) : null);
  return [batch!, scaled(channels, 1 / factor ** 2), scaled(height, factor), scaled(width, factor)];
}

function constantShape(node: OnnxNode): Shape {
  const [attribute] = node.attributes;
  if (attribute === undefined) return null;
  if (/^value_(?:float|int|string)$/.test(attribute.name)) return [];
  if (Array.isArray(attribute.value)) return [attribute.count ?? attribute.value.length];
  const tensor = attribute.value as OnnxTensor | null;
  return typeof tensor === 'object' && tensor !== null ? tensor.shape : null;
}
