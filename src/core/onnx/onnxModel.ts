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
  subgraphs: { attribute: string; graph: OnnxGraph }[];
  metadata: { key: string; value: string }[];
}

/** Attribute values small enough to show are kept; tensors only as their type and shape; graphs are in `subgraphs`. */
export interface OnnxAttribute {
  name: string;
  kind: 'float' | 'int' | 'string' | 'tensor' | 'graph' | 'floats' | 'ints' | 'strings' | 'tensors' | 'graphs' | 'other';
  value: number | string | number[] | string[] | OnnxTensor | OnnxTensor[] | null;
  /** Length of a list of which only the beginning was kept. */
  count?: number;
}

export interface OnnxValue {
  name: string;
  /** null: the type is not given or is no tensor type. */
  type: DataType | null;
  /** null: rank unknown. A string is a symbolic dimension, null one of unknown size. */
  shape: (number | string | null)[] | null;
}

export interface OnnxTensor {
  name: string;
  type: DataType;
  shape: number[];
  /** Where the bytes are: inline offsets count from the file's start; external paths are never opened. */
  data: { inline: { offset: number; length: number } } | { external: Record<string, string> } | null;
  /** The values of small integer tensors (at most 64 elements), which shape arithmetic needs. */
  ints?: number[];
}

export interface OnnxFunction {
  name: string;
  domain: string;
  overload: string;
  inputs: string[];
  outputs: string[];
  nodes: OnnxNode[];
}

/** ONNX's own names in lower case (`float`, `float16`, `bfloat16`, `float8e4m3fn`, `int4`, …); `type 99` for a number that is not known yet. */
export type DataType = string;
