import type { OnnxGraph, OnnxModel, OnnxNode, OnnxTensor } from '../../../../src/kernel/read/onnx/onnxModel.ts';

/** A node in short: `[name, op, inputs, outputs, bodies?]`. */
export type ShortNode = [
  name: string,
  op: string,
  inputs: string[],
  outputs: string[],
  bodies?: Record<string, ShortGraph>,
];

export interface ShortGraph {
  inputs?: Record<string, (number | string)[]> | string[];
  outputs: string[];
  initializers?: string[];
  nodes: ShortNode[];
}

/** A model as the reader would give it, from a short description. */
export function buildModel(short: ShortGraph): OnnxModel {
  const nodes: OnnxNode[] = [];
  const graph = buildGraph('main', '', short, nodes);
  return modelAround(graph, nodes);
}

/** A model around a graph; `nodes` are those of all its graphs. */
export function modelAround(graph: OnnxGraph, nodes: OnnxNode[], functions: OnnxModel['functions'] = []): OnnxModel {
  return {
    irVersion: 8,
    producer: 'test',
    producerVersion: '',
    domain: '',
    opsets: [{ domain: '', version: 17 }],
    metadata: [],
    graph,
    functions,
    nodes,
  };
}

function buildGraph(name: string, path: string, short: ShortGraph, all: OnnxNode[]): OnnxGraph {
  const inputs = Array.isArray(short.inputs)
    ? short.inputs.map((input) => ({ name: input, type: 'float', shape: [1, 8] }))
    : Object.entries(short.inputs ?? {}).map(([input, shape]) => ({ name: input, type: 'float', shape }));
  const graph: OnnxGraph = {
    name,
    path,
    nodes: [],
    inputs,
    outputs: short.outputs.map((output) => ({ name: output, type: 'float', shape: null })),
    values: [],
    initializers: (short.initializers ?? []).map(weight),
  };
  for (const [index, [nodeName, op, nodeInputs, outputs, bodies = {}]] of short.nodes.entries()) {
    const id = path === '' ? String(index) : `${path}/${index}`;
    const node: OnnxNode = {
      id,
      name: nodeName,
      op,
      domain: '',
      inputs: nodeInputs,
      outputs,
      attributes: [],
      subgraphs: [],
      metadata: [],
    };
    graph.nodes.push(node);
    all.push(node);
    for (const [attribute, body] of Object.entries(bodies)) {
      node.subgraphs.push({ attribute, graph: buildGraph(attribute, `${id}/${attribute}`, body, all) });
    }
  }
  return graph;
}

const weight = (name: string): OnnxTensor => ({ name, type: 'float', shape: [8], data: null });
