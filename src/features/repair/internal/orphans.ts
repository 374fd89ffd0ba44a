import { graphPathOf, type ModelGraph } from '../../../kernel/network/modelGraph.ts';
import type { NewNode } from '../../../kernel/read/onnx/writeModel.ts';
import type { RepairSubject } from '../subject.ts';

/** Inputs of nodes that read another tensor. */
type Rewired = readonly { node: string; index: number; tensor: string }[];

/**
 * Nodes and initializers that nothing needs any more after some nodes were replaced. What nothing needed before is not
 * among them: that is not ours to take away.
 */
export function orphans(
  { graph }: RepairSubject,
  replaced: ReadonlyMap<string, readonly NewNode[]>,
  rewired: Rewired,
): { removed: string[]; initializers: { graph: string; name: string }[] } {
  const uses = usesAfter(graph, replaced, rewired);
  const lost = [...replaced.keys()].flatMap((id) => readsOfNode(graph, graph.indexOfId.get(id)!));
  for (const { node, index } of rewired) lost.push(graph.inputs[graph.indexOfId.get(node)!]![index] ?? -1);
  const made = new Set([...replaced.values()].flat().flatMap(({ outputs }) => outputs));
  const inputs = new Set(graph.model.graph.inputs.map(({ name }) => name));
  const removed = new Set<number>();
  const initializers = new Set<string>();
  for (let tensor = lost.pop(); tensor !== undefined; tensor = lost.pop()) {
    const found = graph.tensors[tensor];
    if (!found || uses[tensor]! > 0 || made.has(found.name)) continue;
    const { kind, producer, name, owner } = found;
    // One that is an input, too, can be set from outside: it is part of the signature.
    if (kind === 'initializer' && owner < 0 && !inputs.has(name)) initializers.add(name);
    if (producer < 0 || removed.has(producer) || replaced.has(graph.nodes[producer]!.id)) continue;
    if (graph.outputs[producer]!.some((one) => uses[one]! > 0)) continue;
    removed.add(producer);
    for (const one of readsOfNode(graph, producer)) {
      if (one >= 0) uses[one]! -= 1;
      lost.push(one);
    }
  }
  return {
    removed: [...removed].map((node) => graph.nodes[node]!.id),
    initializers: [...initializers].map((name) => ({ graph: '', name })),
  };
}

/** How often each tensor is read after the edits. */
function usesAfter(graph: ModelGraph, replaced: ReadonlyMap<string, readonly NewNode[]>, rewired: Rewired): number[] {
  const uses = graph.tensors.map(() => 0);
  const use = (tensor: number): void => {
    if (tensor >= 0) uses[tensor]! += 1;
  };
  const other = new Map(rewired.map(({ node, index, tensor }) => [`${node}:${index}`, tensor]));
  for (const [index, { id }] of graph.nodes.entries()) {
    if (replaced.has(id)) continue;
    for (const tensor of graph.captured[index]!) use(tensor);
    for (const [position, tensor] of graph.inputs[index]!.entries()) {
      const name = other.get(`${id}:${position}`);
      use(name === undefined ? tensor : graph.tensorAt(graphPathOf(id), name));
    }
  }
  for (const tensor of [...graph.graphOutputs, ...[...graph.bodyOutputs.values()].flat()]) use(tensor);
  for (const [id, by] of replaced)
    for (const { inputs, like } of by) {
      for (const name of inputs) if (name !== '') use(graph.tensorAt(graphPathOf(id), name));
      // It keeps the subgraphs of the node that it is like.
      for (const tensor of (like && graph.captured[graph.indexOfId.get(like.id) ?? -1]) ?? []) use(tensor);
    }
  return uses;
}

const readsOfNode = (graph: ModelGraph, node: number): number[] => [...graph.inputs[node]!, ...graph.captured[node]!];
