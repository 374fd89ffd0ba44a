import { onnx } from 'onnx-proto';

const { DataType } = onnx.TensorProto;
const { AttributeType } = onnx.AttributeProto;

export const types = {
  float: DataType.FLOAT,
  half: DataType.FLOAT16,
  int8: DataType.INT8,
  int32: DataType.INT32,
  int64: DataType.INT64,
  bool: DataType.BOOL,
};
export type TypeName = keyof typeof types;

/** A tensor's name, type and shape; a string is a symbolic dimension. */
export type Value = [name: string, type: TypeName, ...shape: (number | string)[]];

/** An initializer: its values, one that all elements have, or small varied ones where none are given. */
export type Weight = [name: string, type: TypeName, shape: number[], values?: number | number[]];

/** `[name, op, inputs, outputs, attributes]`; an operator of a local function reads `local.Name`, or `local.Name:overload`. */
export type Node = [name: string, op: string, inputs: string[], outputs: string[], attributes?: Attributes];

export interface Graph {
  name?: string;
  inputs?: Value[];
  outputs: Value[];
  weights?: Weight[];
  values?: Value[];
  nodes: Node[];
}

export interface LocalFunction {
  name: string;
  /** Tells functions of one name apart; unlike every other string of the model. */
  overload?: string;
  /** Names of attributes that a call gives. */
  attributes?: string[];
  inputs: string[];
  outputs: string[];
  nodes: Node[];
}

/** An integer is an int, `{ float }` a float, `{ tensor }` and `{ graph }` what they say, `{ ref }` a float attribute of the call. */
type Attribute =
  | number
  | string
  | number[]
  | { float: number }
  | { tensor: Weight }
  | { graph: Graph }
  | { ref: string };
type Attributes = Record<string, Attribute>;

/** Bytes of a model of opset 17 (or another) around a graph. */
export function writeModel(graph: Graph, functions: LocalFunction[] = [], opset = 17): Uint8Array {
  const domains = functions.length > 0 ? [{ domain: 'local', version: 1 }] : [];
  const opsetImport = [{ domain: '', version: opset }, ...domains];
  const overloads = functions.flatMap(({ overload }) => overload ?? []);
  const bytes = onnx.ModelProto.encode({
    irVersion: overloads.length > 0 ? 10 : 9,
    opsetImport,
    graph: graphOf(graph),
    functions: functions.map(({ name, overload, attributes, inputs, outputs, nodes }) => ({
      name,
      domain: 'local',
      input: inputs,
      output: outputs,
      ...(attributes && { attribute: attributes }),
      ...(overload !== undefined && { docString: overload }),
      opsetImport,
      node: nodes.map(nodeOf),
    })),
  }).finish();
  for (const overload of overloads) markOverload(bytes, overload);
  return bytes;
}

/**
 * The encoder is older than overloads (fields 8 of a node and 13 of a function): they are written as the documentation
 * (6 and 8), and their tags are changed.
 */
function markOverload(bytes: Uint8Array, overload: string): void {
  const text = new TextEncoder().encode(overload);
  for (let at = 2; at + text.length <= bytes.length; at++) {
    if (bytes[at - 1] !== text.length || text.some((byte, i) => bytes[at + i] !== byte)) continue;
    const tag = bytes[at - 2];
    if (tag === 0x32) bytes[at - 2] = 0x42;
    else if (tag === 0x42) bytes[at - 2] = 0x6a;
  }
}

const graphOf = ({
  name = 'main',
  inputs = [],
  outputs,
  weights = [],
  values = [],
  nodes,
}: Graph): onnx.IGraphProto => ({
  name,
  input: inputs.map(valueOf),
  output: outputs.map(valueOf),
  valueInfo: values.map(valueOf),
  initializer: weights.map(tensorOf),
  node: nodes.map(nodeOf),
});

function nodeOf([name, op, input, output, attributes = {}]: Node): onnx.INodeProto {
  const isLocal = op.startsWith('local.');
  const [called, overload] = isLocal ? op.slice('local.'.length).split(':') : [op];
  return {
    name,
    opType: called!,
    ...(isLocal && { domain: 'local' }),
    ...(overload !== undefined && { docString: overload }),
    input,
    output,
    attribute: Object.entries(attributes).map(([key, value]) => ({ name: key, ...attributeOf(value) })),
  };
}

function attributeOf(value: Attribute): onnx.IAttributeProto {
  if (typeof value === 'number') return { i: value, type: AttributeType.INT };
  if (typeof value === 'string') return { s: new TextEncoder().encode(value), type: AttributeType.STRING };
  if (Array.isArray(value)) return { ints: value, type: AttributeType.INTS };
  if ('float' in value) return { f: value.float, type: AttributeType.FLOAT };
  if ('ref' in value) return { refAttrName: value.ref, type: AttributeType.FLOAT };
  if ('tensor' in value) return { t: tensorOf(value.tensor), type: AttributeType.TENSOR };
  return { g: graphOf(value.graph), type: AttributeType.GRAPH };
}

function valueOf([name, type, ...shape]: Value): onnx.IValueInfoProto {
  const dim = shape.map((size) => (typeof size === 'string' ? { dimParam: size } : { dimValue: size }));
  return { name, type: { tensorType: { elemType: types[type], shape: { dim } } } };
}

function tensorOf([name, type, dims, values]: Weight): onnx.ITensorProto {
  const size = dims.reduce((product, axis) => product * axis, 1);
  const own = Array.isArray(values) ? values : undefined;
  const data = Array.from(
    { length: size },
    (_, i) => own?.[i] ?? (values as number | undefined) ?? ((i * 37) % 11) / 10 - 0.4,
  );
  return { name, dims, dataType: types[type], rawData: rawOf(type, data) };
}

function rawOf(type: TypeName, data: number[]): Uint8Array {
  switch (type) {
    case 'float':
      return new Uint8Array(Float32Array.from(data).buffer);
    case 'int64':
      return new Uint8Array(BigInt64Array.from(data, (value) => BigInt(Math.trunc(value))).buffer);
    case 'int32':
      return new Uint8Array(Int32Array.from(data).buffer);
    case 'half':
      throw new Error('half weights are not written');
    default:
      return new Uint8Array(Int8Array.from(data).buffer);
  }
}
