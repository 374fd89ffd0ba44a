import type { DataType, OnnxModel, OnnxNode } from '../onnx/onnxModel.ts';
import { inferTensors } from './inferTensors.ts';
import { createModelGraph, graphPathOf, type ModelGraph } from './modelGraph.ts';

/** The element type of every tensor of a model, `seq(float)` of what holds tensors. */
export interface TensorTypes {
  graph: ModelGraph;
  /** By index of the tensor; null: not known. */
  types: readonly (DataType | null)[];
  /** The type of a tensor as seen in the graph with this path ('' is the main graph); null: cannot be told. */
  typeOf(graphPath: string, tensor: string): DataType | null;
  /** Types of one node's outputs, in order. */
  outputsOf(node: OnnxNode): (DataType | null)[];
}

/** Infers every tensor's element type. */
export function inferTypes(model: OnnxModel): TensorTypes {
  const graph = createModelGraph(model);
  const { types } = inferTensors(graph);
  const typeOf = (path: string, tensor: string) => types[graph.tensorAt(path, tensor)] ?? null;
  return {
    graph,
    types,
    typeOf,
    outputsOf: (node) => node.outputs.map((tensor) => (tensor === '' ? null : typeOf(graphPathOf(node.id), tensor))),
  };
}
