// Shapes, and the types of a node's outputs.
import { type DataType, dataTypeName, type OnnxNode, type OnnxTensor } from '../read/onnx/onnxModel.ts';
import { isStandardDomain } from './modelGraph.ts';

/** One dimension: its size, the name that the model gives it, or null if it is not known. */
export type Dim = number | string | null;
/** null: not even the rank is known. */
export type Shape = readonly Dim[] | null;

export const unknownDims = (rank: number): Dim[] => Array<Dim>(rank).fill(null);

export const isKnown = (dims: readonly Dim[]): dims is readonly number[] =>
  dims.every((dim) => typeof dim === 'number');

/** An axis from 0; undefined outside the rank. */
export function axisOf(axis: number, rank: number): number | undefined {
  const from = axis < 0 ? axis + rank : axis;
  return from >= 0 && from < rank ? from : undefined;
}

/** The shape of an elementwise result, by NumPy's rules. A size that may be 1 or the other's is not known. */
export function broadcast(shapes: readonly Shape[]): Shape {
  let result: Shape = [];
  for (const shape of shapes) {
    if (shape === null) return null;
    if (result.length === 0) result = shape;
    else if (shape !== result) result = broadcastPair(result, shape);
  }
  return result;
}

function broadcastPair(a: readonly Dim[], b: readonly Dim[]): readonly Dim[] {
  const rank = Math.max(a.length, b.length);
  const result: Dim[] = [];
  let same = rank === a.length;
  for (let i = 0; i < rank; i++) {
    const dim = joined(a[i - rank + a.length], b[i - rank + b.length]);
    same &&= dim === a[i];
    result.push(dim);
  }
  // Thousands of tensors have the shape of the one before.
  return same ? a : result;
}

function joined(a: Dim | undefined, b: Dim | undefined): Dim {
  if (a === undefined) return b ?? null;
  if (b === undefined || b === 1 || a === b) return a;
  if (a === 1) return b;
  if (typeof a === 'number') return typeof b === 'number' ? null : a;
  return typeof b === 'number' ? b : null;
}

/** What two shapes have in common: of a tensor that may have either. */
export function common(a: Shape, b: Shape): Shape {
  if (a === null || b === null || a.length !== b.length) return null;
  return a.map((dim, i) => (dim === b[i] ? dim : null));
}

/** A declared shape, its open dimensions filled from what was inferred. */
export function refined(declared: Shape, inferred: Shape): Shape {
  if (declared === null) return inferred;
  if (inferred === null || inferred.length !== declared.length || isKnown(declared)) return declared;
  return declared.map((dim, i) =>
    typeof dim === 'number' ? dim : typeof inferred[i] === 'number' ? inferred[i] : (dim ?? inferred[i]!),
  );
}

/** Product of dimensions; null if it is neither a number nor one name alone. */
export function product(dims: readonly Dim[]): Dim {
  let size = 1;
  let name: string | null = null;
  let open = 0;
  for (const dim of dims) {
    if (typeof dim === 'number') size *= dim;
    else if (dim === null || ++open > 1) return null;
    else name = dim;
  }
  if (name === null) return size;
  return size === 1 ? name : size === 0 ? 0 : null;
}

/** The product of some dimensions divided by that of others, without names that occur in both; null: not known. */
export function quotient(over: readonly Dim[], under: readonly Dim[]): Dim {
  const rest = [...over];
  const divisor: Dim[] = [];
  for (const dim of under) {
    const at = typeof dim === 'string' ? rest.indexOf(dim) : -1;
    if (at >= 0) rest.splice(at, 1);
    else divisor.push(dim);
  }
  if (!isKnown(divisor)) return null;
  const by = divisor.reduce<number>((size, dim) => size * Number(dim), 1);
  if (by === 0 || rest.includes(null)) return null;
  const size = rest.reduce<number>((all, dim) => (typeof dim === 'number' ? all * dim : all), 1) / by;
  const names = rest.filter((dim) => typeof dim === 'string');
  if (names.length === 0) return Number.isInteger(size) ? size : null;
  return names.length === 1 && size === 1 ? names[0]! : null;
}

/** The shape that Reshape makes: 0 copies a dimension, -1 takes what is left. */
export function reshaped(from: Shape, to: readonly Dim[], allowZero: boolean): Shape {
  const result = to.map((dim, i) => (dim === 0 && !allowZero ? (from?.[i] ?? null) : dim));
  const open = result.indexOf(-1);
  if (open < 0) return result;
  const others = result.filter((_, i) => i !== open);
  const isCopied = (i: number) => to[i] === 0 && !allowZero;
  // What is copied divides out, whether its size is known or not.
  const over = from?.filter((_, i) => !isCopied(i)) ?? [null];
  result[open] = quotient(
    over,
    others.filter((_, i) => !isCopied(i < open ? i : i + 1)),
  );
  return result;
}

/**
 * Operators of ONNX's domain whose floating-point inputs and outputs share one type. ONNX's others name their output's
 * type in an attribute, quantize, run graphs, or work on sequences; all else may be a plugin that takes one type only,
 * but for the one that ONNX Runtime writes.
 */
const sharing: ReadonlySet<string> = new Set(
  (
    'Abs Acos Acosh Add AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool BatchNormalization ' +
    'BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CausalConvWithState Ceil Celu CenterCropPad Clip Col2Im ' +
    'Compress Concat Conv ConvTranspose Cos Cosh CumProd CumSum DFT DeformConv DepthToSpace Det Div Dropout Einsum ' +
    'Elu Equal Erf Exp Expand Flatten Floor GRU Gather GatherElements GatherND Gelu Gemm GlobalAveragePool ' +
    'GlobalLpPool GlobalMaxPool Greater GreaterOrEqual GridSample GroupNormalization HardSigmoid HardSwish Hardmax ' +
    'Identity InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less LessOrEqual ' +
    'LinearAttention Log LogSoftmax LpNormalization LpPool MatMul Max MaxPool MaxRoiPool MaxUnpool Mean ' +
    'MeanVarianceNormalization Min Mish Mod Mul Neg NegativeLogLikelihoodLoss NonMaxSuppression NonZero Not OneHot Or ' +
    'PRelu Pad Pow RMSNormalization RNN Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ' +
    'ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize ReverseSequence RoiAlign ' +
    'RotaryEmbedding Round STFT Scatter ScatterElements ScatterND Selu Shape Shrink Sigmoid Sign Sin Sinh Size Slice ' +
    'Softmax SoftmaxCrossEntropyLoss Softplus Softsign SpaceToDepth Split Sqrt Squeeze StringConcat StringNormalizer ' +
    'Sub Sum SwiGLU Swish Tan Tanh TensorScatter ThresholdedRelu Tile TopK Transpose Trilu Unique Unsqueeze Upsample ' +
    'Where Xor SimplifiedLayerNormalization'
  ).split(' '),
);

/** Operators of other domains that are known to share one type among inputs and outputs. */
const sharingContrib: ReadonlySet<string> = new Set([
  'BiasGelu',
  'FastGelu',
  'FusedConv',
  'FusedGemm',
  'FusedMatMul',
  'Gelu',
  'LayerNormalization',
  'QuickGelu',
  'SimplifiedLayerNormalization',
  'SkipLayerNormalization',
  'SkipSimplifiedLayerNormalization',
]);

/** Whether all floating-point inputs and outputs of a node have one type, as far as its operator is known here. */
export function sharesOneType({ op, domain }: OnnxNode): boolean {
  if (domain === 'com.microsoft') return sharingContrib.has(op);
  return isStandardDomain(domain) && sharing.has(op);
}

type Types = (DataType | null)[];
type TypeRule = (node: OnnxNode, inputs: Types) => Types;

const first: TypeRule = (_, inputs) => [inputs[0] ?? null];
const always =
  (...types: (DataType | null)[]): TypeRule =>
  () =>
    types;
const input =
  (index: number): TypeRule =>
  (_, inputs) => [inputs[index] ?? null];

/** Operators whose output types are not simply their first input's. */
const rules: Readonly<Record<string, TypeRule>> = {
  ...each(['Shape', 'Size', 'NonZero', 'ArgMax', 'ArgMin', 'NonMaxSuppression', 'SequenceLength'], always('int64')),
  ...each(['Equal', 'Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual', 'And', 'Or', 'Xor', 'Not'], always('bool')),
  ...each(['IsNaN', 'IsInf', 'RegexFullMatch', 'OptionalHasElement'], always('bool')),
  ...each(['MatMulInteger', 'ConvInteger'], always('int32')),
  Constant: (node) => [constantType(node)],
  ConstantOfShape: (node) => [tensorAttribute(node, 'value')?.type ?? 'float'],
  Cast: (node) => [elementType(node, 'to')],
  CastLike: input(1),
  BitCast: (node) => [elementType(node, 'to')],
  EyeLike: (node, inputs) => [elementType(node, 'dtype') ?? inputs[0] ?? null],
  RandomNormal: (node) => [elementType(node, 'dtype') ?? 'float'],
  RandomUniform: (node) => [elementType(node, 'dtype') ?? 'float'],
  RandomNormalLike: (node, inputs) => [elementType(node, 'dtype') ?? inputs[0] ?? null],
  RandomUniformLike: (node, inputs) => [elementType(node, 'dtype') ?? inputs[0] ?? null],
  Bernoulli: (node, inputs) => [elementType(node, 'dtype') ?? inputs[0] ?? null],
  Multinomial: (node) => [elementType(node, 'dtype') ?? 'int32'],
  HannWindow: (node) => [elementType(node, 'output_datatype') ?? 'float'],
  HammingWindow: (node) => [elementType(node, 'output_datatype') ?? 'float'],
  BlackmanWindow: (node) => [elementType(node, 'output_datatype') ?? 'float'],
  MelWeightMatrix: (node) => [elementType(node, 'output_datatype') ?? 'float'],
  Where: input(1),
  RMSNormalization: input(1),
  BatchNormalization: (node, inputs) => node.outputs.map((_, i) => inputs[i === 0 ? 0 : 3] ?? null),
  OneHot: input(2),
  TopK: (_, inputs) => [inputs[0] ?? null, 'int64'],
  Unique: (_, inputs) => [inputs[0] ?? null, 'int64', 'int64', 'int64'],
  Dropout: (_, inputs) => [inputs[0] ?? null, 'bool'],
  MaxPool: (_, inputs) => [inputs[0] ?? null, 'int64'],
  QuantizeLinear: (node, inputs) => [inputs[2] ?? elementType(node, 'output_dtype') ?? 'uint8'],
  DequantizeLinear: (node, inputs) => [elementType(node, 'output_dtype') ?? inputs[1] ?? null],
  DynamicQuantizeLinear: always('uint8', 'float', 'uint8'),
  QLinearConv: input(7),
  QLinearMatMul: input(7),
  LayerNormalization: (node, inputs) => {
    const stash = elementType(node, 'stash_type') ?? 'float';
    return [inputs[0] ?? null, stash, stash];
  },
  ...each(['SequenceConstruct', 'SplitToSequence'], (_, inputs) => [containerOf('seq', inputs[0])]),
  SequenceEmpty: (node) => [containerOf('seq', elementType(node, 'dtype') ?? 'float')],
  ...each(['SequenceAt', 'ConcatFromSequence'], (_, inputs) => [contentOf(inputs[0])]),
  ...each(['SequenceInsert', 'SequenceErase'], first),
  Optional: (_, inputs) => [containerOf('optional', inputs[0])],
  // What it is given may be no optional at all.
  OptionalGetElement: (_, inputs) => [contentOf(inputs[0], 'optional')],
  StringSplit: always('string', 'int64'),
  ImageDecoder: always('uint8'),
  TfIdfVectorizer: always('float'),
  SimplifiedLayerNormalization: (_, inputs) => [inputs[1] ?? null, 'float'],
  // Contrib operators that exporters write often.
  ...each(
    ['Attention', 'GroupQueryAttention', 'MatMulNBits', 'MultiHeadAttention', 'RotaryEmbedding'].map(contrib),
    first,
  ),
  ...each(['SkipLayerNormalization', 'SkipSimplifiedLayerNormalization'].map(contrib), (_, inputs) => [
    inputs[0] ?? null,
    'float',
    'float',
    inputs[0] ?? null,
  ]),
  'com.microsoft/EmbedLayerNormalization': (_, inputs) => [inputs[2] ?? null, 'int32', inputs[2] ?? null],
  'com.microsoft/QuantizeLinear': (_, inputs) => [inputs[2] ?? null],
  'com.microsoft/DequantizeLinear': input(1),
};

/** Element types of a node's outputs from its inputs' types and attributes; null: cannot be told. */
export function outputTypes(node: OnnxNode, inputs: Types): Types {
  const standard = isStandardDomain(node.domain);
  const key = standard ? node.op : `${node.domain}/${node.op}`;
  const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
  if (rule) return rule(node, inputs);
  // Arithmetic, activations, pooling, movement, normalizations, recurrent nets; a plugin may make anything.
  const type = sharesOneType(node) ? (inputs[0] ?? null) : null;
  return node.outputs.map(() => type);
}

/** The type of a sequence, or of a value that may be missing: `seq(float)`. */
export function containerOf(kind: 'seq' | 'optional', content: DataType | null | undefined): DataType | null {
  return content ? `${kind}(${content})` : null;
}

/** Whether a type is one of `containerOf`. */
export function isContainer(type: DataType | null): boolean {
  return type !== null && type.endsWith(')');
}

/** What a container holds; a type that is no such container is its own content. */
export function contentOf(type: DataType | null | undefined, kind = 'seq'): DataType | null {
  if (!type) return null;
  return type.startsWith(`${kind}(`) ? type.slice(kind.length + 1, -1) : type;
}

function contrib(op: string): string {
  return `com.microsoft/${op}`;
}

function each(ops: string[], rule: TypeRule): Record<string, TypeRule> {
  return Object.fromEntries(ops.map((op) => [op, rule]));
}

/** The type that an integer attribute such as Cast's `to` names; null if it is absent or unknown. */
export function elementType(node: OnnxNode, attribute: string): DataType | null {
  const value = node.attributes.find(({ name }) => name === attribute)?.value;
  return typeof value === 'number' && value !== 0 ? dataTypeName(value) : null;
}

function tensorAttribute(node: OnnxNode, name: string): OnnxTensor | null {
  const value = node.attributes.find((attribute) => attribute.name === name)?.value;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
}

function constantType(node: OnnxNode): DataType | null {
  const attribute = node.attributes[0];
  if (attribute === undefined) return null;
  const simple: Record<string, DataType> = {
    value_float: 'float',
    value_floats: 'float',
    value_int: 'int64',
    value_ints: 'int64',
    value_string: 'string',
    value_strings: 'string',
  };
  if (Object.hasOwn(simple, attribute.name)) return simple[attribute.name] ?? null;
  return tensorAttribute(node, attribute.name)?.type ?? null;
}
