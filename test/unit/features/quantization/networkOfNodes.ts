import { createModelGraph } from '../../../../src/kernel/network/modelGraph.ts';
import type { OnnxAttribute, OnnxNode, OnnxTensor } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { QuantizedGraph } from '../../../../src/kernel/quantization/quantization.ts';
import { modelAround } from '../../kernel/fusion/buildModel.ts';

/** A node with one output, which it is named after. */
export interface NamedNode {
  op: string;
  inputs: string[];
  output: string;
  attributes?: OnnxAttribute[];
}

/** The network of some nodes, whose ids are their positions; unless `outputs` are given, the last one makes the output. */
export function networkOfNodes(
  short: readonly NamedNode[],
  inputs: Readonly<Record<string, number[]>>,
  initializers: OnnxTensor[],
  outputs = [short.at(-1)!.output],
): QuantizedGraph {
  const nodes = short.map(({ op, inputs: reads, output, attributes = [] }, index): OnnxNode => ({
    id: String(index),
    name: output,
    op,
    domain: '',
    inputs: reads,
    outputs: [output],
    attributes,
    subgraphs: [],
    metadata: [],
  }));
  const graph = {
    name: 'g',
    path: '',
    nodes,
    inputs: Object.entries(inputs).map(([name, shape]) => ({ name, type: 'float', shape })),
    outputs: outputs.map((name) => ({ name, type: 'float', shape: null })),
    values: [],
    initializers,
  };
  return new QuantizedGraph(createModelGraph(modelAround(graph, nodes)));
}
