import { addTo } from '../text/addTo.ts';

/** A node as far as its place in an attention matters. */
interface GraphNode {
  op: string;
  inputs: readonly string[];
  outputs: readonly string[];
}

/** What may be between the first product of an attention and its Softmax. */
const between: ReadonlySet<string> = new Set([
  'Mul',
  'Div',
  'Add',
  'Sub',
  'Where',
  'Cast',
  'QuantizeLinear',
  'DequantizeLinear',
  'Identity',
]);
const casts: ReadonlySet<string> = new Set(['Cast', 'QuantizeLinear', 'DequantizeLinear', 'Identity', 'Dropout']);
const products: ReadonlySet<string> = new Set(['MatMul', 'Gemm', 'Einsum']);

/** The core of one attention, as positions in the network. */
export interface Attention {
  scores: number;
  softmax: number;
  values: number;
}

/** Every Softmax that is fed by a product through scale, mask or casts only, and read by a product through casts only. */
export function attentions(network: readonly GraphNode[]): Attention[] {
  const producer = new Map<string, number>();
  const readers = new Map<string, number[]>();
  network.forEach(({ inputs, outputs }, index) => {
    for (const output of outputs) if (output !== '') producer.set(output, index);
    for (const input of inputs) {
      addTo(readers, input, index);
    }
  });
  const before = (node: GraphNode): number | undefined => {
    const seen = new Set<number>();
    const queue = [...node.inputs];
    for (let input = queue.shift(); input !== undefined; input = queue.shift()) {
      const found = producer.get(input);
      if (found === undefined || seen.has(found)) continue;
      seen.add(found);
      const { op, inputs } = network[found]!;
      if (products.has(op)) return found;
      if (between.has(op)) queue.push(...inputs);
    }
    return undefined;
  };
  const behind = (node: GraphNode): number | undefined => {
    const queue = [...node.outputs];
    const seen = new Set<string>();
    for (let output = queue.shift(); output !== undefined; output = queue.shift()) {
      if (seen.has(output)) continue;
      seen.add(output);
      for (const reader of readers.get(output) ?? []) {
        const { op, inputs, outputs } = network[reader]!;
        // The probabilities are the left factor.
        if (products.has(op) && inputs[0] === output) return reader;
        if (casts.has(op)) queue.push(...outputs);
      }
    }
    return undefined;
  };
  return network.flatMap((node, softmax) => {
    if (node.op !== 'Softmax') return [];
    const [scores, values] = [before(node), behind(node)];
    return scores === undefined || values === undefined ? [] : [{ scores, softmax, values }];
  });
}
