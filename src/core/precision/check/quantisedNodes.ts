import type { OnnxGraph, OnnxNode } from '../../onnx/onnxModel.ts';
import { movers } from '../../quantisation/quantisedGraph.ts';
import { isCheap } from '../plan/opTyping.ts';

/**
 * Operators next to the cheap ones that TensorRT runs within the kernel of the quantised product before them: of a
 * maximum, it makes no difference whether it is quantised before or after.
 */
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

/** Operators over which a node can be said to read a pair, although it cannot read around them. */
const views: ReadonlySet<string> = new Set(['Reshape', 'Transpose', 'Identity', 'Squeeze', 'Unsqueeze', 'Flatten']);

/**
 * Ids of the nodes that a Cast next to them would take out of a quantized kernel: those that read dequantized values,
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
    const moves = movers.has(node.op) && first !== undefined && dequantised.has(first);
    const joins = node.op === 'Concat' && node.inputs.every((tensor) => dequantised.has(tensor));
    if (node.op === 'DequantizeLinear' || moves || joins) {
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

/** What a node reads behind DequantizeLinear, and how it can read the values as they were before. */
export interface QuantisedReads {
  /** By input: the tensor that QuantizeLinear read before the pair. */
  around: Map<number, string>;
  /** Operators that only move dequantized values and are between the pair and the node: it cannot read around these. */
  movedBy: OnnxNode[];
  /** Inputs that are dequantised constants, of which the model has no other values. */
  constants: number[];
}

/** By id, the nodes that read dequantized values; `constant`: the tensor is known before the build. */
export function quantisedReads(graph: OnnxGraph, constant: (tensor: string) => boolean): Map<string, QuantisedReads> {
  const found = new Map<string, QuantisedReads>();
  collectReads(graph, new Map(), constant, found);
  return found;
}

function collectReads(
  graph: OnnxGraph,
  around: ReadonlyMap<string, OnnxNode>,
  constant: (tensor: string) => boolean,
  found: Map<string, QuantisedReads>,
): void {
  const makers = new Map(around);
  for (const node of graph.nodes) {
    for (const name of node.outputs) if (name !== '') makers.set(name, node);
    const reads: QuantisedReads = { around: new Map(), movedBy: [], constants: [] };
    node.inputs.forEach((name, index) => {
      const read = readOf(name, makers, constant);
      if (read.around !== undefined) reads.around.set(index, read.around);
      if (read.fixed) reads.constants.push(index);
      reads.movedBy.push(...read.movedBy);
    });
    if (reads.around.size + reads.movedBy.length + reads.constants.length > 0) found.set(node.id, reads);
    for (const { graph: body } of node.subgraphs) collectReads(body, makers, constant, found);
  }
}

/** Where one tensor comes from, seen through pair after pair. */
function readOf(
  name: string,
  makers: ReadonlyMap<string, OnnxNode>,
  constant: (tensor: string) => boolean,
): { around?: string; movedBy: OnnxNode[]; fixed?: true } {
  const moved: OnnxNode[] = [];
  let maker = makers.get(name);
  while (maker && views.has(maker.op) && maker.inputs[0] !== undefined) {
    moved.push(maker);
    maker = makers.get(maker.inputs[0]);
  }
  if (maker?.op !== 'DequantizeLinear') return { movedBy: [] };
  const quantise = makers.get(maker.inputs[0] ?? '');
  const source = quantise?.op === 'QuantizeLinear' ? quantise.inputs[0] : undefined;
  if (source === undefined) return constant(name) ? { movedBy: [], fixed: true } : { movedBy: [maker] };
  if (moved.length > 0) return { movedBy: constant(name) ? [] : moved };
  const before = readOf(source, makers, constant);
  return { around: before.around ?? source, movedBy: before.movedBy };
}
