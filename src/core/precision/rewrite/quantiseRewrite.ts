import { isDequantise, isQuantise, QuantisedGraph } from '../../quantisation/quantisedGraph.ts';
import type { ModelGraph } from '../../model/modelGraph.ts';
import type { OnnxGraph, OnnxNode } from '../../onnx/onnxModel.ts';
import type { ModelEdits } from '../../onnx/editModel.ts';
import type { RewritePlan } from './rewritePlan.ts';

/**
 * The edits of a rewrite with Q/DQ pairs for the nodes that compute in INT8. A pair quantises what its node reads after
 * the rewrite: behind a Cast, if there is one. Pairs that nothing reads any more, because a rule takes their nodes out
 * of INT8, go.
 */
export function withPairs(graph: ModelGraph, rewrite: RewritePlan, pairs: ModelEdits | null): ModelEdits {
  const remove = unreadPairs(graph, rewrite, pairs);
  if (pairs === null) return { ...rewrite, remove };
  const reads = new Map(rewrite.inputs.map((edit) => [placeOf(edit), edit.tensor]));
  const placed = new Set((pairs.inputs ?? []).map(placeOf));
  /** What a Cast makes for a node, by the name of the dequantised tensor that the node reads in its place. */
  const cast = new Map<string, string>();
  for (const edit of pairs.inputs ?? []) {
    const tensor = reads.get(placeOf(edit));
    if (tensor !== undefined) cast.set(edit.tensor, tensor);
  }
  const made = new Map((pairs.insert ?? []).map(({ node }) => [node.outputs[0]!, node]));
  const sources = new Map<string, string>();
  for (const [dequantised, tensor] of cast) sources.set(made.get(dequantised)!.inputs[0]!, tensor);
  return {
    ...rewrite,
    remove,
    inputs: [...rewrite.inputs.filter((edit) => !placed.has(placeOf(edit))), ...(pairs.inputs ?? [])],
    insert: (pairs.insert ?? []).map((insertion) => {
      const source = sources.get(insertion.node.outputs[0]!);
      if (source === undefined) return insertion;
      return { ...insertion, node: { ...insertion.node, inputs: [source, ...insertion.node.inputs.slice(1)] } };
    }),
    addInitializers: pairs.addInitializers ?? [],
  };
}

/**
 * The main graph as it is with pairs, for looking at what is between them. What dequantises is at its beginning, and what
 * quantises at its end: both are found before what reads or makes their tensors.
 */
export function graphWithPairs(graph: OnnxGraph, pairs: ModelEdits): OnnxGraph {
  const reads = new Map((pairs.inputs ?? []).map((edit) => [placeOf(edit), edit.tensor]));
  const nodes = graph.nodes.map((node) => ({
    ...node,
    inputs: node.inputs.map((name, index) => reads.get(placeOf({ node: node.id, index })) ?? name),
  }));
  const made = (pairs.insert ?? []).map(({ node: { op, name, inputs, outputs } }): OnnxNode => ({
    id: name,
    name,
    op,
    domain: '',
    inputs,
    outputs,
    attributes: [],
    subgraphs: [],
    metadata: [],
  }));
  const [first, last] = [made.filter(({ op }) => isDequantise(op)), made.filter(({ op }) => isQuantise(op))];
  return { ...graph, nodes: [...first, ...nodes, ...last] };
}

const placeOf = ({ node, index }: { node: string; index: number }): string => `${node}:${index}`;

/** Ids of the Q/DQ nodes whose output was read before the rewrite, and is not after it. */
function unreadPairs(graph: ModelGraph, rewrite: RewritePlan, pairs: ModelEdits | null): string[] {
  const network = new QuantisedGraph(graph);
  const moved = new Set([...rewrite.inputs, ...(pairs?.inputs ?? [])].map(placeOf));
  const given = new Set([...graph.graphOutputs, ...[...graph.bodyOutputs.values()].flat()]);
  const stillRead = new Set(
    [...rewrite.inputs, ...rewrite.casts.map(({ input }) => ({ tensor: input }))].map(({ tensor }) => tensor),
  );
  const removed = new Set<number>();
  const isUnread = (node: number): boolean =>
    graph.outputs[node]!.every(
      (tensor) =>
        !given.has(tensor) &&
        !stillRead.has(graph.tensors[tensor]!.name) &&
        graph.tensors[tensor]!.consumers.every(
          (reader) =>
            removed.has(reader) ||
            (graph.inputs[reader]!.every(
              (one, index) => one !== tensor || moved.has(`${graph.nodes[reader]!.id}:${index}`),
            ) &&
              graph.inputs[reader]!.includes(tensor)),
        ),
    );
  // What nothing read before, the model's author left there.
  const wasRead = (node: number): boolean => network.readers(node).length > 0;
  for (const node of [...graph.nodes.keys()].toReversed())
    if (isDequantise(network.op(node)) && wasRead(node) && isUnread(node)) {
      removed.add(node);
      const quantise = network.producer(network.input(node, 0));
      if (quantise >= 0 && isQuantise(network.op(quantise)) && isUnread(quantise)) removed.add(quantise);
    }
  return [...removed].toSorted((a, b) => a - b).map((node) => graph.nodes[node]!.id);
}
