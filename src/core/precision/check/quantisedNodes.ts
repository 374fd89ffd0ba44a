import type { OnnxGraph, OnnxNode } from '../../onnx/onnxModel.ts';
import { isCheap } from '../plan/opTyping.ts';

/** Operators next to the cheap ones that TensorRT runs within the kernel of the quantised product before them. */
const epilogues: ReadonlySet<string> = new Set([
  'BatchNormalization',
  'Elu',
  'Erf',
  'Gelu',
  'HardSigmoid',
  'HardSwish',
  'LeakyRelu',
  'Mish',
  'PRelu',
  'Selu',
  'Sigmoid',
  'Softplus',
  'Tanh',
]);

const movers: ReadonlySet<string> = new Set(['Reshape', 'Transpose', 'Identity', 'Squeeze', 'Unsqueeze', 'Flatten']);

/**
 * Ids of the nodes that a Cast next to them would take out of a quantised kernel: those that read dequantised values,
 * and the pointwise ones between such a node and the next QuantizeLinear.
 */
export function quantisedNodes(graph: OnnxGraph): Set<string> {
  const found = new Set<string>();
  collect(graph, new Set(), found);
  return found;
}

/** `dequantised`: outputs of DequantizeLinear, and of the nodes that only move them on. */
function collect(graph: OnnxGraph, dequantised: Set<string>, found: Set<string>): void {
  const towards = towardsQuantize(graph);
  const made = new Set<string>();
  for (const node of graph.nodes) {
    const first = node.inputs[0];
    const reads = node.inputs.some((tensor) => dequantised.has(tensor));
    if (node.op === 'DequantizeLinear' || (movers.has(node.op) && first !== undefined && dequantised.has(first))) {
      for (const output of node.outputs) dequantised.add(output);
    }
    const continues = towards.has(node) && node.inputs.some((tensor) => made.has(tensor));
    if (reads || continues) {
      found.add(node.id);
      for (const output of node.outputs) if (output !== '') made.add(output);
    }
    for (const { graph: body } of node.subgraphs) collect(body, dequantised, found);
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
