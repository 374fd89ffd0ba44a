import type { DataType, OnnxNode, OnnxTensor } from '../onnx/onnxModel.ts';
import { dataTypeName } from '../onnx/tensorTypes.ts';

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
  ...each(['Shape', 'Size', 'NonZero', 'ArgMax', 'ArgMin', 'NonMaxSuppression', 'StringToHash'], always('int64')),
  ...each(['Equal', 'Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual', 'And', 'Or', 'Xor', 'Not'], always('bool')),
  ...each(['IsNaN', 'IsInf', 'IsOutOfRange'], always('bool')),
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
  Split: same,
  SplitToSequence: always(null),
  SequenceAt: always(null),
  TfIdfVectorizer: always('float'),
  LabelEncoder: always(null),
  // Contrib operators that exporters write often.
  'com.microsoft/SkipLayerNormalization': same,
  'com.microsoft/EmbedLayerNormalization': (_, inputs) => [inputs[2] ?? null, 'int32', inputs[2] ?? null],
  'com.microsoft/QuantizeLinear': (_, inputs) => [inputs[2] ?? null],
  'com.microsoft/DequantizeLinear': input(1),
};

/** Element types of a node's outputs from its inputs' types and attributes; null: cannot be told. */
export function outputTypes(node: OnnxNode, inputs: Types): Types {
  const standard = node.domain === '' || node.domain === 'ai.onnx';
  const key = standard ? node.op : `${node.domain}/${node.op}`;
  const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
  if (rule) return rule(node, inputs);
  if (!standard && node.domain !== 'com.microsoft') return node.outputs.map(() => null);
  // All others keep the type of their first given input in every output: arithmetic, activations, pooling, movement,
  // normalisations, recurrent nets.
  return same(node, inputs);
}

function same(node: OnnxNode, inputs: Types): Types {
  const type = first(node, inputs)[0] ?? null;
  return node.outputs.map(() => type);
}

function each(ops: string[], rule: TypeRule): Record<string, TypeRule> {
  return Object.fromEntries(ops.map((op) => [op, rule]));
}

/** The type that an integer attribute such as Cast's `to` names; null where it is absent or unknown. */
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
