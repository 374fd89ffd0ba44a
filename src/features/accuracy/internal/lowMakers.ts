import type { ModelGraph } from '../../../kernel/network/modelGraph.ts';
import type { OnnxNode } from '../../../kernel/read/onnx/onnxModel.ts';
import type { ReducedPrecisionModel, LowNode } from './reducedPrecisionModel.ts';

/**
 * Which low-precision nodes (`LowNode.index`) make what a node reads: also through the inputs and outputs of bodies, and
 * through the state of a loop, from its last iteration.
 */
export function lowMakers({ low }: ReducedPrecisionModel, graph: ModelGraph): (one: LowNode) => number[] {
  const byNode = new Map(low.map(({ node, index }) => [graph.indexOfId.get(node.id)!, index]));
  const given = new Map<number, number[]>();
  for (const node of graph.nodes) if (node.op === 'Loop' || node.op === 'Scan') addGiven(node, graph, given);

  const collect = (tensor: number, seen: Set<number>): number[] => {
    const known = graph.tensors[tensor];
    if (!known || seen.has(tensor)) return [];
    seen.add(tensor);
    if (known.kind === 'formal') return (given.get(tensor) ?? []).flatMap((source) => collect(source, seen));
    if (known.producer < 0) return [];
    const own = byNode.get(known.producer);
    if (own !== undefined) return [own];
    const node = graph.nodes[known.producer]!;
    const position = node.outputs.indexOf(known.name) + (node.op === 'Loop' ? 1 : 0);
    return node.subgraphs.flatMap(({ graph: body }) =>
      collect(graph.tensorAt(body.path, body.outputs[position]?.name ?? ''), seen),
    );
  };
  return ({ node }) => graph.inputs[graph.indexOfId.get(node.id)!]!.flatMap((tensor) => collect(tensor, new Set()));
}

/** What an input of a body may be: what the node was given, and what the body gave back before. */
function addGiven(node: OnnxNode, graph: ModelGraph, given: Map<number, number[]>): void {
  const [body] = node.subgraphs;
  if (!body) return;
  const { path, inputs, outputs } = body.graph;
  const outer = graph.inputs[graph.indexOfId.get(node.id)!]!;
  const count = node.attributes.find(({ name }) => name === 'num_scan_inputs')?.value;
  const states = inputs.length - (node.op === 'Loop' ? 0 : Number(count ?? 0));
  for (const [i, { name }] of inputs.entries()) {
    const back = i < states ? outputs[node.op === 'Loop' ? i - 1 : i] : undefined;
    const sources = [outer[i] ?? -1, back ? graph.tensorAt(path, back.name) : -1];
    given.set(graph.tensorAt(path, name), sources);
  }
}
