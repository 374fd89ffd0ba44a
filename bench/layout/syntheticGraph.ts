import { defaultLayout, type LayoutInput, type LayoutOptions } from '../../src/kernel/picture/layout/layoutTypes.ts';

export interface FlatGraph {
  count: number;
  from: number[];
  to: number[];
}

/**
 * A decoder as exporters write it, without names: blocks of about 127 nodes with two residual connections, three
 * projections with chains of shape arithmetic next to them, rotary embedding and a gated MLP. About 1.24 edges a node.
 * `mask`: one more node that every block's attention reads, as in most exported language models.
 */
export function decoder(nodes: number, mask = false): FlatGraph {
  const graph: FlatGraph = { count: 0, from: [], to: [] };
  const node = (...inputs: number[]): number => {
    for (const input of inputs) {
      graph.from.push(input);
      graph.to.push(graph.count);
    }
    graph.count += 1;
    return graph.count - 1;
  };
  const chain = (start: number, length: number): number => {
    let at = start;
    for (let i = 0; i < length; i++) at = node(at);
    return at;
  };
  const norm = (x: number): number => {
    const squared = chain(node(x), 3);
    return chain(node(x, squared), 2);
  };
  /** Reshape to a shape that Shape, Gather, Unsqueeze and Concat put together. */
  const reshaped = (x: number, shapeOf: number): number => {
    const shape = node(shapeOf);
    const parts = [0, 1].map(() => chain(node(shape, node()), 2));
    return node(x, node(...parts, node()));
  };
  const rotary = (x: number, cos: number, sin: number): number => {
    const halves = node(node(node(x)), node(x));
    return node(node(x, cos), node(halves, sin));
  };
  const maskNode = mask ? chain(node(), 3) : -1;
  let x = node();
  while (graph.count < nodes) {
    const normed = norm(x);
    const [q, k, v] = [0, 1, 2].map(() => node(reshaped(node(normed), normed)));
    const position = node(node());
    const cos = node(position);
    const sin = node(position);
    const scores = chain(node(rotary(q!, cos, sin), node(rotary(k!, cos, sin))), 2);
    const weights = chain(mask ? node(scores, maskNode) : scores, 2);
    const context = reshaped(node(node(weights, v!)), normed);
    const attended = node(x, chain(context, 2));
    const normed2 = norm(attended);
    const gate = node(normed2);
    const gated = node(gate, node(gate));
    x = node(attended, node(node(gated, node(normed2))));
  }
  return graph;
}

/** The graph as one level of boxes of the sizes that nodes have. */
export function layoutInput({ count, from, to }: FlatGraph, options: Partial<LayoutOptions> = {}): LayoutInput {
  const order = [...from.keys()].sort((a, b) => from[a]! - from[b]! || a - b);
  return {
    parent: new Int32Array(count).fill(-1),
    open: new Uint8Array(count),
    width: Float32Array.from({ length: count }, (_, i) => 84 + ((i * 37) % 45)),
    height: new Float32Array(count).fill(42),
    from: Int32Array.from(order, (e) => from[e]!),
    to: Int32Array.from(order, (e) => to[e]!),
    options: { ...defaultLayout, ...options },
  };
}
