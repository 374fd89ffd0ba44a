import {
  dataTypeNumber,
  type OnnxGraph,
  type OnnxModel,
  type OnnxNode,
} from '../../../../src/kernel/read/onnx/onnxModel.ts';
import type { RewritePlan } from '../../../../src/features/precision/internal/rewritePlan.ts';

/** The structure of a model after a rewrite plan, without touching any file: what the plan means. Throws where the plan names what is not there. */
export function rewrittenModel(model: OnnxModel, plan: RewritePlan): OnnxModel {
  const copy = structuredClone(model);
  const graphs = new Map<string, OnnxGraph>();
  const nodes = new Map<string, OnnxNode>();
  collect(copy.graph, graphs, nodes);
  const graphAt = (path: string) => need(graphs.get(path), `graph ${path}`);
  const nodeAt = (id: string) => need(nodes.get(id), `node ${id}`);
  rewire(plan, nodeAt);
  for (const { graph, name, from, to } of plan.initializers) {
    const tensor = need(
      graphAt(graph).initializers.find((one) => one.name === name),
      `initializer ${name}`,
    );
    if (tensor.type !== from) throw new Error(`${name} is ${tensor.type}, not ${from}`);
    tensor.type = to;
  }
  for (const { node, from, to } of plan.constants) {
    const [scalar] = nodeAt(node).attributes;
    if (scalar?.name === 'value_float' && from === 'float') {
      const value = { name: '', type: to, shape: [], data: null };
      nodeAt(node).attributes = [{ name: 'value', kind: 'tensor', value }];
      continue;
    }
    const value = nodeAt(node).attributes.find(({ name }) => name === 'value')?.value;
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value.type !== from)
      throw new Error(`${node} is no ${from} constant`);
    value.type = to;
  }
  for (const { graph, name, to } of plan.values) {
    const { inputs, outputs, values } = graphAt(graph);
    const found = [...inputs, ...outputs, ...values].filter((value) => value.name === name);
    if (found.length === 0) throw new Error(`no value ${name}`);
    for (const value of found) value.type = to;
  }
  addCasts(graphs, plan);
  copy.nodes = allNodes(copy.graph);
  return copy;
}

function rewire(plan: RewritePlan, nodeAt: (id: string) => OnnxNode): void {
  const removed = new Set(plan.remove);
  for (const { node } of [...plan.inputs, ...plan.outputs, ...plan.names, ...plan.constants])
    if (removed.has(node)) throw new Error(`node ${node} is removed and changed`);
  for (const { node, index, tensor } of plan.inputs) {
    if (!nodeAt(node).inputs[index]) throw new Error(`node ${node} has no input ${index}`);
    nodeAt(node).inputs[index] = tensor;
  }
  for (const { node, index, tensor } of plan.outputs) {
    if (!nodeAt(node).outputs[index]) throw new Error(`node ${node} has no output ${index}`);
    nodeAt(node).outputs[index] = tensor;
  }
  for (const { node, name } of plan.names) nodeAt(node).name = name;
}

function addCasts(graphs: Map<string, OnnxGraph>, plan: RewritePlan): void {
  const added = new Map<string, OnnxNode[]>();
  for (const [i, cast] of plan.casts.entries()) {
    const node: OnnxNode = {
      id: `cast${i}`,
      name: cast.name,
      op: 'Cast',
      domain: '',
      inputs: [cast.input],
      outputs: [cast.output],
      attributes: [{ name: 'to', kind: 'int', value: dataTypeNumber(cast.to) ?? 0 }],
      subgraphs: [],
      metadata: [],
    };
    const key = `${cast.graph}\n${cast.after ?? ''}`;
    need(graphs.get(cast.graph), `graph ${cast.graph}`);
    added.set(key, [...(added.get(key) ?? []), node]);
  }
  for (const [path, graph] of graphs) {
    const first = added.get(`${path}\n`) ?? [];
    graph.nodes = [...first, ...graph.nodes.flatMap((node) => [node, ...(added.get(`${path}\n${node.id}`) ?? [])])];
  }
}

function collect(graph: OnnxGraph, graphs: Map<string, OnnxGraph>, nodes: Map<string, OnnxNode>): void {
  graphs.set(graph.path, graph);
  for (const node of graph.nodes) {
    nodes.set(node.id, node);
    for (const { graph: body } of node.subgraphs) collect(body, graphs, nodes);
  }
}

function allNodes(graph: OnnxGraph): OnnxNode[] {
  return graph.nodes.flatMap((node) => [node, ...node.subgraphs.flatMap(({ graph: body }) => allNodes(body))]);
}

function need<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`The plan names ${what}, which is not there`);
  return value;
}
