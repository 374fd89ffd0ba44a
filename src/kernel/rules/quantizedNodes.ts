import type { OnnxGraph, OnnxNode } from '../read/onnx/onnxModel.ts';
import { isCheap } from './precisionPlan.ts';
import { movers } from '../fusion/quantizedGraph.ts';
const epilogues: ReadonlySet<string> = new Set([
  'BatchNormalization',
  'Elu',
  'Erf',
  'Gelu',
  'HardSigmoid',
  'HardSwish',
  'LeakyRelu',
  'MaxPool',
  'Mish',
  'PRelu',
  'Selu',
  'Sigmoid',
  'Softplus',
  'Tanh',
]);

/**
 * Ids of the nodes that a Cast next to them would take out of a quantized kernel: those that read dequantized values,
 * and the pointwise ones between such a node and the next QuantizeLinear.
 */
export function quantizedNodes(graph: OnnxGraph): Set<string> {
  const found = new Set<string>();
  collect(graph, new Set(), found);
  return found;
}

/** `dequantized`: outputs of DequantizeLinear, and of the nodes that only move them on. */
function collect(graph: OnnxGraph, dequantized: Set<string>, found: Set<string>): void {
  const towards = towardsQuantize(graph);
  const made = new Set<string>();
  for (const node of graph.nodes) {
    const first = node.inputs[0];
    const reads = node.inputs.some((tensor) => dequantized.has(tensor));
    const moves = movers.has(node.op) && first !== undefined && dequantized.has(first);
    const joins = node.op === 'Concat' && node.inputs.every((tensor) => dequantized.has(tensor));
    if (node.op === 'DequantizeLinear' || moves || joins) {
      for (const output of node.outputs) dequantized.add(output);
    }
    const continues = towards.has(node) && node.inputs.some((tensor) => made.has(tensor));
    if (reads || continues) {
      found.add(node.id);
      for (const output of node.outputs) if (output !== '') made.add(output);
    }
    for (const { graph: body } of node.subgraphs) collect(body, dequantized, found);
  }
}

/** Pointwise nodes that lead to a QuantizeLinear over nothing but such nodes. */
function towardsQuantize(graph: OnnxGraph): Set<OnnxNode> {
  const wanted = new Set<string>();
  const found = new Set<OnnxNode>();
  for (const node of graph.nodes.toReversed()) {
    const leads = (isCheap(node) || epilogues.has(node.op)) && node.outputs.some((name) => wanted.has(name));
    if (leads) found.add(node);
    const read = leads ? node.inputs : node.op === 'QuantizeLinear' ? node.inputs.slice(0, 1) : [];
    for (const name of read) if (name !== '') wanted.add(name);
  }
  return found;
}
