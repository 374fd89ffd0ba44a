import type { FusionReport } from '../fusion/fusionReport.ts';
import type { InferredTensors } from '../model/inferTensors.ts';
import { byteLength } from '../onnx/tensorTypes.ts';
import { isPart, movers, type QuantisedGraph } from './quantisedGraph.ts';

/** Nodes that compute in floating point although quantized values come in and quantised ones go out. */
export interface FloatIsland {
  /** Ids, in the model's order. */
  nodes: string[];
  /** Operator and name of the first: `Softmax "attn"`. */
  first: string;
  /** Bytes that go in and out in floating point; null: a shape is not known. */
  bytes: number | null;
  /** Time of the layers that compute nothing else; null: no layer of a build, or none that was measured. */
  ms: number | null;
}

/**
 * The islands, in the model's order: connected nodes outside INT8 that INT8 nodes feed and that a QuantizeLinear follows.
 * @param low ids of the nodes in INT8, as `quantisedNodes` finds them
 * @param report on a build; null: none
 */
export function floatIslands(
  network: QuantisedGraph,
  low: ReadonlySet<string>,
  { types, shapes }: InferredTensors,
  report: FusionReport | null,
): FloatIsland[] {
  const { graph } = network;
  if (low.size === 0) return [];
  const isLow = (node: number) => node >= 0 && low.has(graph.nodes[node]!.id);
  const computes = (node: number) =>
    graph.owner[node]! < 0 &&
    !isLow(node) &&
    !isPart(network.op(node)) &&
    !movers.has(network.op(node)) &&
    graph.outputs[node]!.some((tensor) => !network.isConstant(tensor));
  const seen = new Set<number>();
  const islands: FloatIsland[] = [];
  for (const start of graph.nodes.keys()) {
    if (seen.has(start) || !computes(start)) continue;
    const members = new Set([start]);
    const open = [start];
    let [fed, quantised] = [false, false];
    const border = new Set<number>();
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      seen.add(node);
      for (const tensor of graph.inputs[node]!) {
        if (tensor < 0 || network.isConstant(tensor)) continue;
        const maker = network.producer(tensor);
        if (maker >= 0 && computes(maker)) visit(maker);
        else {
          border.add(tensor);
          if (isLow(maker) || network.dequantisedBy(tensor) >= 0) fed = true;
        }
      }
      for (const tensor of graph.outputs[node]!)
        for (const reader of graph.tensors[tensor]!.consumers) {
          if (computes(reader)) visit(reader);
          else {
            border.add(tensor);
            if (network.op(reader) === 'QuantizeLinear') quantised = true;
          }
        }
      function visit(other: number): void {
        if (members.has(other)) return;
        members.add(other);
        open.push(other);
      }
    }
    if (!fed || !quantised) continue;
    const sizes = [...border].map((tensor) => {
      const shape = shapes[tensor];
      const known = shape?.every((dim) => typeof dim === 'number') ? shape : null;
      return known ? (byteLength(types[tensor] ?? 'float', [...known]) ?? null) : null;
    });
    const sorted = [...members].toSorted((a, b) => a - b);
    const nodes = sorted.map((node) => graph.nodes[node]!.id);
    islands.push({
      nodes,
      first: network.words(sorted[0]!),
      ms: ownTime(nodes, report),
      bytes: sizes.reduce<number | null>((sum, size) => (sum === null || size === null ? null : sum + size), 0),
    });
  }
  return islands;
}

function ownTime(nodes: readonly string[], report: FusionReport | null): number | null {
  const own = new Set(nodes);
  const times = (report?.layers ?? []).flatMap(({ nodes: computed, averageMs }) =>
    averageMs !== null && computed.length > 0 && computed.every((id) => own.has(id)) ? [averageMs] : [],
  );
  return times.length === 0 ? null : times.reduce((sum, ms) => sum + ms, 0);
}
