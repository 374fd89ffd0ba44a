/**
 * Where something is in its file: `at` is the first byte of the field that holds it (tag and length prefix), then
 * `offset` and `length` of the message itself. Only present if spans were requested.
 */
export interface ByteSpan {
  at: number;
  offset: number;
  length: number;
}

/**
 * An ONNX model as far as TensorRT Lens needs it: its structure, never its weights.
 * Names are exactly the file's. Ids follow the fusion report: a node's position in its graph, and for a node of a
 * subgraph the owner's id, the attribute's name and the position: `20/then_branch/3`.
 */
export interface OnnxModel {
  irVersion: number;
  producer: string;
  producerVersion: string;
  domain: string;
  opsets: { domain: string; version: number }[];
  metadata: { key: string; value: string }[];
  graph: OnnxGraph;
  functions: OnnxFunction[];
  /** It says how to train it, too (`training_info`), which is skipped. */
  trains?: true;
  /** Every node in file order, each subgraph's nodes right after their owner. Functions' bodies are not part of it. */
  nodes: OnnxNode[];
}

export interface OnnxGraph {
  name: string;
  /** '' for the main graph, else `<owner id>/<attribute>`. */
  path: string;
  nodes: OnnxNode[];
  inputs: OnnxValue[];
  outputs: OnnxValue[];
  /** Tensors with known types inside the graph. */
  values: OnnxValue[];
  initializers: OnnxTensor[];
  metadata?: { key: string; value: string }[];
  span?: ByteSpan;
}

export interface OnnxNode {
  id: string;
  name: string;
  op: string;
  domain: string;
  /** '' stands for an optional input that is not given. */
  inputs: string[];
  outputs: string[];
  attributes: OnnxAttribute[];
  /** A graph in a list of graphs has its position in the attribute's name: `branches[1]`. */
  subgraphs: { attribute: string; graph: OnnxGraph }[];
  metadata: { key: string; value: string }[];
  /** Which of several functions of the same domain and name is called; absent for none. */
  overload?: string;
  span?: ByteSpan;
}

/** Attribute values small enough to show are kept; tensors only as their type and shape; graphs are in `subgraphs`. */
export interface OnnxAttribute {
  name: string;
  kind:
    'float' | 'int' | 'string' | 'tensor' | 'graph' | 'floats' | 'ints' | 'strings' | 'tensors' | 'graphs' | 'other';
  value: number | string | number[] | string[] | OnnxTensor | OnnxTensor[] | null;
  /** Length of a list of which only the beginning was kept; of a string, in bytes. */
  count?: number;
  /** In a function's body: the attribute of the function whose value this one takes. */
  reference?: string;
  span?: ByteSpan;
}

export interface OnnxValue {
  name: string;
  /** null: the type is not given or is not a tensor type. */
  type: DataType | null;
  /** null: rank unknown. A string is a symbolic dimension, null one of unknown size. */
  shape: (number | string | null)[] | null;
  span?: ByteSpan;
}

export interface OnnxTensor {
  name: string;
  type: DataType;
  shape: number[];
  /** Where the bytes are: inline offsets count from the file's start; external paths are never opened. */
  data: { inline: InlineData } | { external: Record<string, string> } | null;
  /** The values of small integer tensors (at most 64 elements), which shape arithmetic needs. */
  ints?: number[];
  /** A sparse tensor: `shape` is the dense one, `data` the values that are not zero. */
  sparse?: true;
  span?: ByteSpan;
}

export interface InlineData {
  offset: number;
  length: number;
  /** The typed field that holds the elements, packed (floats and doubles as in raw data, integers as varints); absent for raw data. */
  field?: 'float' | 'int32' | 'int64' | 'uint64' | 'double' | 'string';
  /** The elements come in several fields; offset and length cover them all, tags included. */
  scattered?: true;
}

export interface OnnxFunction {
  name: string;
  domain: string;
  overload: string;
  inputs: string[];
  outputs: string[];
  /** Their ids are `functions/<position of the function>/<position>`. */
  nodes: OnnxNode[];
  opsets?: { domain: string; version: number }[];
}

/** ONNX's own names in lower case (`float`, `float16`, `bfloat16`, `float8e4m3fn`, `int4`, …); `type 99` for a number that is not known yet. */
export type DataType = string;
