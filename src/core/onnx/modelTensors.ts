import type { OnnxGraph, OnnxModel, OnnxNode, OnnxTensor } from './onnxModel.ts';

/** Every tensor that a model contains: initializers and attributes, of its graph, subgraphs and functions. */
export const modelTensors = ({ graph, functions }: OnnxModel): OnnxTensor[] => [
  ...graphTensors(graph),
  ...functions.flatMap(({ nodes }) => nodes.flatMap(nodeTensors)),
];

const graphTensors = (graph: OnnxGraph): OnnxTensor[] => [...graph.initializers, ...graph.nodes.flatMap(nodeTensors)];

function nodeTensors(node: OnnxNode): OnnxTensor[] {
  const values = node.attributes.flatMap(({ value }) => (Array.isArray(value) ? value : [value]));
  const own = values.filter((value): value is OnnxTensor => typeof value === 'object' && value !== null);
  return [...own, ...node.subgraphs.flatMap(({ graph }) => graphTensors(graph))];
}
