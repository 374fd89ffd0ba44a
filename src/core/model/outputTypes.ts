import type { DataType, OnnxNode, OnnxTensor } from '../onnx/onnxModel.ts';
import { dataTypeName } from '../onnx/tensorTypes.ts';
import { sharesOneType } from './oneType.ts';
import { isStandardDomain } from './opset.ts';

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
  // Arithmetic, activations, pooling, movement, normalisations, recurrent nets; a plugin may make anything.
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
