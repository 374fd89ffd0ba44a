import { isDequantise, isQuantise } from '../../quantisation/quantisedGraph.ts';
import type { OnnxGraph, OnnxNode } from '../../onnx/onnxModel.ts';
import type { ModelEdits } from '../../onnx/editModel.ts';
import type { RewritePlan } from './rewritePlan.ts';

/**
 * The edits of a rewrite with Q/DQ pairs for the nodes that compute in INT8. A pair quantises what its node reads after
 * the rewrite: behind a Cast, if there is one.
 */
export function withPairs(rewrite: RewritePlan, pairs: ModelEdits | null): ModelEdits {
  if (pairs === null) return rewrite;
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

/** One input of one node. */
export const placeOf = ({ node, index }: { node: string; index: number }): string => `${node}:${index}`;
