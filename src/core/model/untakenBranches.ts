import type { OnnxGraph } from '../onnx/onnxModel.ts';
import { bodyOf, type ModelGraph } from './modelGraph.ts';
import { constantOf, elementsOf, type Elements } from './shapeValues.ts';

/** `20/then_branch/3/else_branch/0`, 20 → `then_branch` */
export const branchOf = (graph: ModelGraph, node: number, owner: number): string =>
  graph.nodes[node]!.id.slice(graph.nodes[owner]!.id.length + 1).split('/')[0]!;

/**
 * The nodes of branches that no run can take: the condition is an initializer or a Constant. TensorRT's parser reads only
 * the other branch.
 */
export function untakenNodes(graph: ModelGraph): Set<number> {
  const untaken = new Set<number>();
  const owners = graph.nodes.flatMap(({ op, subgraphs }, index) =>
    op === 'If' && subgraphs.length > 0 ? [index] : [],
  );
  if (owners.length === 0) return untaken;
  const values = constantValues(graph);
  for (const owner of owners) {
    const value = valueOf(graph, values, graph.inputs[owner]![0] ?? -1);
    if (value === null) continue;
    const taken = value ? 'then_branch' : 'else_branch';
    for (const node of bodyOf(graph, owner)) if (branchOf(graph, node, owner) !== taken) untaken.add(node);
  }
  return untaken;
}

/** Values of initializers, by the index of the tensor. */
function constantValues(graph: ModelGraph): Map<number, Elements> {
  const values = new Map<number, Elements>();
  const add = ({ path, initializers, nodes }: OnnxGraph): void => {
    for (const tensor of initializers) {
      const elements = elementsOf(tensor);
      if (elements) values.set(graph.tensorAt(path, tensor.name), elements);
    }
    for (const { subgraphs } of nodes) for (const { graph: body } of subgraphs) add(body);
  };
  add(graph.model.graph);
  return values;
}

function valueOf(graph: ModelGraph, values: ReadonlyMap<number, Elements>, tensor: number): boolean | null {
  const producer = tensor < 0 ? undefined : graph.nodes[graph.tensors[tensor]!.producer];
  const elements = producer?.op === 'Constant' ? constantOf(producer) : values.get(tensor);
  const [value] = elements ?? [];
  return typeof value === 'number' ? value !== 0 : null;
}
