import type { ReportNode } from '../../fusion/fusionReport.ts';
import { counted } from '../../text/numbers.ts';
import type { NetworkNode } from '../diffInput.ts';
import type { GateFinding, GateSide } from './judgeGate.ts';

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
export function attentions(network: readonly NetworkNode[]): Attention[] {
  const producer = new Map<string, number>();
  const readers = new Map<string, number[]>();
  network.forEach(({ inputs, outputs }, index) => {
    for (const output of outputs) if (output !== '') producer.set(output, index);
    for (const input of inputs) {
      const list = readers.get(input);
      if (list) list.push(index);
      else readers.set(input, [index]);
    }
  });
  const before = (node: NetworkNode): number | undefined => {
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
  const behind = (node: NetworkNode): number | undefined => {
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

/** Judges `attention: fused`. */
export function judgeAttention({ report, network }: GateSide): GateFinding {
  if (!network) return { kept: null, message: 'This rule needs the graph: pass the model with --onnx.' };
  const found = attentions(network);
  if (found.length === 0) return { kept: null, message: 'The model has no attention: no Softmax between two MatMuls.' };
  const layers = new Map(report.layers.map((layer) => [layer.id, layer]));
  const broken: ReportNode[] = [];
  const hidden: ReportNode[] = [];
  for (const { scores, softmax, values } of found) {
    const [first, middle, last] = [scores, softmax, values].map((index) => report.nodes[index]!) as [
      ReportNode,
      ReportNode,
      ReportNode,
    ];
    const shared = first.layers.filter((id) => middle.layers.includes(id) && last.layers.includes(id));
    const unknown = [first, middle, last].some(({ fate }) => fate === 'unknown');
    if (shared.some((id) => layers.get(id)?.kind !== 'foreign')) continue;
    if (shared.length > 0 || unknown || insideOpaque([first, middle, last], layers)) hidden.push(middle);
    else broken.push(middle);
  }
  const total = counted(found.length, 'attention');
  if (broken.length > 0) {
    const kernels = broken[0]!.layers.map((id) => layers.get(id)?.tactic || layers.get(id)?.name).filter(Boolean);
    const where = kernels[0] ? ` For example, ${broken[0]!.name || 'the first'} is computed by ${kernels[0]}.` : '';
    return {
      kept: false,
      message: `Not one kernel: ${broken.length} of ${total}.${where}`,
      value: broken.length,
      nodes: broken,
      logLine: layers.get(broken[0]!.layers[0] ?? -1)?.line ?? null,
    };
  }
  if (hidden.length > 0)
    return {
      kept: null,
      message: `The kernels of ${hidden.length} of ${total} are unknown: this build does not list kernels inside ForeignNodes.`,
    };
  return { kept: true, message: `${total}: each is one kernel.`, value: 0 };
}

const insideOpaque = (nodes: readonly ReportNode[], layers: ReadonlyMap<number, { kind: string }>): boolean =>
  nodes.some((node) => node.foreignNode !== null && node.layers.every((id) => layers.get(id)?.kind === 'foreign'));
