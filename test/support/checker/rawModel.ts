import protobuf from 'protobufjs';

/** What the checker reads of ONNX's messages: another decoder than the product's. */
const schema = `
  syntax = "proto3";
  message Model { Graph graph = 7; repeated Function functions = 25; }
  message Graph { repeated Node node = 1; repeated Tensor initializer = 5; repeated Value input = 11; repeated Value output = 12; repeated Value value_info = 13; }
  message Node { repeated string input = 1; repeated string output = 2; string name = 3; string op_type = 4; repeated Attribute attribute = 5; string domain = 7; string overload = 8; }
  message Attribute { string name = 1; int64 i = 3; Tensor t = 5; Graph g = 6; repeated Graph graphs = 11; }
  message Tensor { repeated int64 dims = 1; int32 data_type = 2; repeated int64 int64_data = 7; string name = 8; bytes raw_data = 9; }
  message Value { string name = 1; Type type = 2; }
  message Type { TensorType tensor_type = 1; }
  message TensorType { Shape shape = 2; }
  message Shape { repeated Dim dim = 1; }
  message Dim { int64 dim_value = 1; string dim_param = 2; }
  message Function { string name = 1; repeated string input = 4; repeated string output = 5; repeated Node node = 7; string domain = 10; string overload = 13; }
`;
const modelType = protobuf.parse(schema).root.lookupType('Model');

interface ProtoNode {
  input: string[];
  output: string[];
  name: string;
  opType: string;
  attribute: { name: string; i: string; t: ProtoTensor | null; g: ProtoGraph | null; graphs: ProtoGraph[] }[];
  domain: string;
  overload: string;
}
interface ProtoTensor {
  name: string;
  dims: string[];
  dataType: number;
  int64Data: string[];
  rawData: Uint8Array;
}
interface ProtoValue {
  name: string;
  type: { tensorType: { shape: { dim: { dimValue: string; dimParam: string }[] } | null } | null } | null;
}
interface ProtoGraph {
  node: ProtoNode[];
  initializer: ProtoTensor[];
  input: ProtoValue[];
  output: ProtoValue[];
}
interface ProtoModel {
  graph: ProtoGraph;
  functions: { name: string; output: string[]; node: ProtoNode[]; domain: string; overload: string }[];
}

/** A node as the checker knows it. */
export interface RawNode {
  id: string;
  /** As the parser calls it: its name, or `node_of_<first output>`. */
  name: string;
  op: string;
  inputs: string[];
  outputs: string[];
  /** Id of the node whose body or call it is in; null in the main graph. */
  owner: string | null;
  /** Of an owner: the attribute or function that it is in. */
  part: string | null;
  hasBody: boolean;
  /** Integer attributes. */
  ints: ReadonlyMap<string, number>;
}

export interface RawModel {
  nodes: RawNode[];
  byId: Map<string, RawNode>;
  byName: Map<string, RawNode[]>;
  /** Nodes of the main graph by the tensors that they write. */
  producers: Map<string, RawNode>;
  /** Names of initializers and of constants. */
  constants: Set<string>;
  /** The one element of constants of one int64. */
  scalars: Map<string, number>;
  /** Names of what the body of an owner gives back, by the owner's id and the attribute or function. */
  bodyOutputs: Map<string, string[]>;
  graphOutputs: Set<string>;
}

export function readRawModel(bytes: Uint8Array): RawModel {
  const model = modelType.toObject(modelType.decode(bytes), { defaults: true, longs: String }) as ProtoModel;
  const keyOf = (domain: string, name: string, overload: string): string => `${domain} ${name} ${overload}`;
  const functions = new Map(model.functions.map((one) => [keyOf(one.domain, one.name, one.overload), one]));
  const nodes: RawNode[] = [];
  const constants = new Set<string>();
  const scalars = new Map<string, number>();
  const bodyOutputs = new Map<string, string[]>();
  const addScalar = (name: string, tensor: ProtoTensor | null): void => {
    if (tensor?.dataType !== 7 || tensor.dims.some((dim) => dim !== '1')) return;
    const [stored] = tensor.int64Data;
    const raw = tensor.rawData.length === 8 ? new DataView(tensor.rawData.slice().buffer).getBigInt64(0, true) : null;
    if (stored !== undefined || raw !== null) scalars.set(name, Number(stored ?? raw));
  };
  const walk = (list: ProtoNode[], path: string, owner: string | null, part: string | null, depth: number): void => {
    list.forEach((node, index) => {
      const id = `${path}${index}`;
      const bodies = node.attribute.flatMap(({ name, g, graphs }) => [
        ...(g ? [[name, g] as const] : []),
        ...graphs.map((graph, i) => [`${name}[${i}]`, graph] as const),
      ]);
      const called = depth < 8 ? functions.get(keyOf(node.domain, node.opType, node.overload)) : undefined;
      nodes.push({
        id,
        name: node.name || `node_of_${node.output.find((output) => output !== '') ?? ''}`,
        op: node.opType,
        inputs: node.input,
        outputs: node.output,
        owner,
        part,
        hasBody: bodies.length > 0 || called !== undefined,
        ints: new Map(node.attribute.map(({ name, i }) => [name, Number(i)])),
      });
      if (node.opType === 'Constant')
        for (const output of node.output) {
          constants.add(output);
          addScalar(output, node.attribute[0]?.t ?? null);
        }
      for (const [attribute, graph] of bodies) {
        for (const { name } of graph.initializer) constants.add(name);
        bodyOutputs.set(
          `${id}/${attribute}`,
          graph.output.map(({ name }) => name),
        );
        walk(graph.node, `${id}/${attribute}/`, id, attribute, depth);
      }
      if (called) bodyOutputs.set(`${id}/${called.name}`, called.output);
      if (called) walk(called.node, `${id}/${called.name}/`, id, called.name, depth + 1);
    });
  };
  for (const tensor of model.graph.initializer) {
    constants.add(tensor.name);
    addScalar(tensor.name, tensor);
  }
  walk(model.graph.node, '', null, null, 0);
  const byName = new Map<string, RawNode[]>();
  for (const node of nodes) byName.set(node.name, [...(byName.get(node.name) ?? []), node]);
  const main = nodes.filter(({ owner }) => owner === null);
  return {
    nodes,
    byId: new Map(nodes.map((node) => [node.id, node])),
    byName,
    producers: new Map(main.flatMap((node) => node.outputs.map((output) => [output, node] as const))),
    constants,
    scalars,
    bodyOutputs,
    graphOutputs: new Set(model.graph.output.map(({ name }) => name)),
  };
}
