// What is known of one attention before a build: what fusions into one kernel depend on.
import type { DataType } from '../read/onnx/onnxModel.ts';
import { QuantizedGraph, typeWord } from './quantizedGraph.ts';
import { type Attention, attentionNodes, attentions, type ModelGraph, standardOpset } from '../network/modelGraph.ts';
import type { Network } from '../network/network.ts';

/** Forms of an attention, by the model alone. `null`: not known. Sizes are those of the two products. */
export interface AttentionFacts {
  /** Type of what the first product reads. */
  type: DataType | null;
  /** Columns of a head. */
  head: number | null;
  queries: number | null;
  keys: number | null;
  /** What is added or selected between the first product and the Softmax. */
  mask: 'none' | 'add' | 'where';
  /**
   * `plain`: over the keys; `other-axis`: over another axis, or with the probabilities or the scores transposed; `capped`:
   * behind a Tanh.
   */
  softmax: 'plain' | 'other-axis' | 'capped';
  /** Q/DQ pairs in front of the products: `scores` of the first only, `values` of the second only. */
  quantized: 'none' | 'scores' | 'values' | 'both' | 'part';
  /** Type of these pairs: `INT8`, `FP8`; null: none. */
  quantizedType: string | null;
  /** Whether the products that make what is quantized are themselves quantized. */
  projections: boolean;
  /** Whether sizes of the scores are open. */
  dynamic: boolean;
  /** Inner tensors that something else reads, or that are outputs of the model: by their index. */
  leaving: number[];
}

/** Every attention of a network with its facts, in the order of the nodes. */
export function attentionFacts(
  network: Network,
  quantization = new QuantizedGraph(network),
): { attention: Attention; facts: AttentionFacts }[] {
  return attentions(attentionNodes(network)).map((attention) => ({
    attention,
    facts: factsOf(network, quantization, attention),
  }));
}

function quantizedProducts(ofScores: boolean, ofValues: boolean): AttentionFacts['quantized'] {
  if (ofScores) return ofValues ? 'both' : 'scores';
  return ofValues ? 'values' : 'part';
}

function factsOf(network: Network, quantization: QuantizedGraph, attention: Attention): AttentionFacts {
  const { nodes, inputs, outputs, inferred } = network;
  const { scores, softmax, values, path } = attention;
  const [query = -1, key = -1] = inputs[scores]!;
  const [made = -1] = outputs[scores]!;
  const isPlain = nodes[scores]!.op === 'MatMul';
  const sizesOf = (tensor: number) => inferred.shapes[tensor] ?? null;
  const size = (tensor: number, at: number): number | null => {
    const found = sizesOf(tensor)?.at(at);
    return isPlain && typeof found === 'number' ? found : null;
  };
  const ends = [size(made, -1), size(made, -2)];
  const shape = sizesOf(made);
  const before = path.slice(0, path.indexOf(softmax)).map((node) => nodes[node]!.op);
  const behind = path.slice(path.indexOf(softmax) + 1).map((node) => nodes[node]!.op);
  const pairs = [...inputs[scores]!.slice(0, 2), ...inputs[values]!.slice(0, 2)].map((tensor) =>
    quantization.dequantizedBy(tensor),
  );
  const [ofScores, ofValues] = [pairs.slice(0, 2), pairs.slice(2)].map((some) => some.every((by) => by >= 0));
  const some = pairs.find((by) => by >= 0);
  return {
    type: inferred.types[query] ?? inferred.types[key] ?? null,
    head: size(query, -1) ?? size(key, -2),
    queries: ends[1] ?? null,
    keys: ends[0] ?? null,
    mask: before.includes('Where') ? 'where' : before.some((op) => op === 'Add' || op === 'Sub') ? 'add' : 'none',
    softmax:
      [...before, ...behind].includes('Transpose') || !isOverLast(network, softmax)
        ? 'other-axis'
        : before.includes('Tanh')
          ? 'capped'
          : 'plain',
    quantized: some === undefined ? 'none' : quantizedProducts(ofScores!, ofValues!),
    quantizedType: some === undefined ? null : typeWord(quantization.quantizedType(some)),
    projections: isPlain && quantizedProjection(quantization, query),
    dynamic: isPlain && shape !== null && shape.slice(-2).some((dim) => typeof dim !== 'number'),
    leaving: leavingTensors(network, attention),
  };
}

/** Whether a Softmax is over the last axis. Its axis counts from the start or the end; until opset 12 it is 1 by default. */
function isOverLast({ nodes, outputs, inferred, model }: Network, softmax: number): boolean {
  const given = nodes[softmax]!.attributes.find(({ name }) => name === 'axis')?.value;
  const rank = inferred.shapes[outputs[softmax]![0] ?? -1]?.length;
  const axis = typeof given === 'number' ? given : standardOpset(model) < 13 ? 1 : -1;
  return axis === -1 || rank === undefined || axis === rank - 1;
}

/** Whether the product that makes a tensor, behind Q/DQ nodes, bias, reshapes and the like, reads quantized values itself. */
function quantizedProjection(quantization: QuantizedGraph, tensor: number): boolean {
  const { graph } = quantization;
  for (let at = tensor, steps = 0; at >= 0 && steps < 16; steps++) {
    const maker = quantization.producer(at);
    if (maker < 0) return false;
    if (['MatMul', 'Gemm', 'Conv'].includes(quantization.op(maker)))
      return quantization.dequantizedBy(quantization.input(maker, 0)) >= 0;
    at = graph.inputs[maker]!.find((input) => input >= 0 && !quantization.isConstant(input)) ?? -1;
  }
  return false;
}

/** Tensors between the two products that are outputs of the model, or that lead somewhere else than to the second product. */
function leavingTensors(
  { nodes, outputs, tensors, graphOutputs }: ModelGraph,
  { scores, values, path }: Attention,
): number[] {
  const inside = new Set([...path, values]);
  const given = new Set(graphOutputs);
  /** A guard against NaN reads the probabilities twice. */
  const comesBack = (node: number, steps: number): boolean =>
    inside.has(node) ||
    (steps > 0 &&
      ['IsNaN', 'Shape', 'Cast', 'Not'].includes(nodes[node]!.op) &&
      outputs[node]!.every(
        (tensor) => !given.has(tensor) && tensors[tensor]!.consumers.every((reader) => comesBack(reader, steps - 1)),
      ));
  return [scores, ...path].flatMap((node) =>
    outputs[node]!.filter(
      (tensor) =>
        given.has(tensor) ||
        tensors[tensor]!.consumers.some((reader) => nodes[reader]!.op !== 'Shape' && !comesBack(reader, 3)),
    ),
  );
}
