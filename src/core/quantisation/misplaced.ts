import { products } from '../model/products.ts';
import { sameScales, ScaleJudge, type ScaleValues } from './judgeScales.ts';
import { judgeJoin } from './judgeJoins.ts';
import { judgePair } from './judgePairs.ts';
import { judgeProduct } from './judgeProducts.ts';
import { isDequantise, isPart, isQuantise, type QuantisedGraph } from './quantisedGraph.ts';

/** A placement of Q/DQ nodes that can keep TensorRT from computing in INT8, or in one kernel, what it could. */
export interface Misplaced {
  code:
    | 'before-activation'
    | 'one-side-of-residual'
    | 'one-side-of-concat'
    | 'concat-scales'
    | 'quantised-bias'
    | 'quantised-output'
    | 'quantised-twice'
    | 'pair-mismatch'
    | 'weight-axis'
    | 'per-channel-activation'
    | 'asymmetric'
    | 'scale-value'
    | 'scale-at-run-time'
    | 'unsupported-type'
    | 'float-weights'
    | 'float-input'
    | 'mixed-types'
    | 'integer-operator';
  /** Ids of the Q, DQ and other nodes concerned, the one to look at first. */
  nodes: string[];
  message: string;
  fix: string;
}

/** @param nodes indices */
export type Add = (code: Misplaced['code'], nodes: readonly number[], message: string, fix: string) => void;

const activations: ReadonlySet<string> = new Set(
  'Relu Clip LeakyRelu PRelu Sigmoid Tanh Elu Selu Softplus HardSigmoid HardSwish Mish Gelu Erf'.split(' '),
);

/** Operators on integers, of which TensorRT's ONNX parser has none; those of ONNX Runtime begin with QLinear, too. */
const integerOperator = /^(?:QLinear.+|ConvInteger|MatMulInteger|DynamicQuantizeLinear)$/;

/**
 * Placements against the rules of NVIDIA's documentation on explicit quantization, node by node in the model's order.
 * @param valuesOf the values of scales
 */
export function misplaced(network: QuantisedGraph, valuesOf: ScaleValues = () => null): Misplaced[] {
  const { graph } = network;
  const found: Misplaced[] = [];
  const scales = new ScaleJudge(network, valuesOf);
  const add: Add = (code, nodes, message, fix) =>
    found.push({ code, nodes: nodes.map((node) => graph.nodes[node]!.id), message, fix });
  for (const node of graph.nodes.keys()) {
    const op = network.op(node);
    if (isQuantise(op)) judgeQuantise(network, node, valuesOf, add);
    if (isDequantise(op)) judgePair(network, node, valuesOf, add);
    if (isPart(op) && !repeatsScale(network, node)) scales.judge(node, add);
    if (products.has(op)) judgeProduct(network, node, add);
    judgeJoin(network, node, valuesOf, add);
    if (integerOperator.test(op)) judgeOperator(network, node, add);
  }
  return found;
}

function judgeQuantise(network: QuantisedGraph, node: number, valuesOf: ScaleValues, add: Add): void {
  const input = network.input(node, 0);
  if (network.isConstant(input)) return;
  const product = network.productBefore(input);
  const after = product < 0 ? undefined : epilogueAfter(network, node);
  if (after !== undefined)
    add(
      'before-activation',
      [node, product, after.reader],
      `${network.words(node)} is between ${network.words(product)} and ${network.words(after.reader)}, which works on rounded values then; TensorRT may run it as a kernel of its own.`,
      `Quantize the output of ${network.words(after.last)} instead.`,
    );
  const before = network.dequantisedBy(input);
  const [own, earlier] = [valuesOf(node), before < 0 ? null : valuesOf(before)];
  if (own !== null && earlier !== null && !sameScales(own, earlier))
    add(
      'quantised-twice',
      [node, before],
      `${network.words(node)} quantizes what ${network.words(before)} dequantizes, with another scale: values are rounded twice.`,
      'Remove one of the pairs, or give both the same scale.',
    );
  const count = network.scaleCount(node) ?? 1;
  if (count > 1 && !network.isBlocked(node))
    add(
      'per-channel-activation',
      [node],
      `${network.words(node)} quantizes an activation with ${count} scales; TensorRT takes one for activations.`,
      'Quantize activations per tensor and only weights per channel.',
    );
}

/** Whether a DequantizeLinear reads the scale and the zero point of the QuantizeLinear before it, which is judged. */
function repeatsScale(network: QuantisedGraph, node: number): boolean {
  const quantise = isDequantise(network.op(node)) ? network.producer(network.input(node, 0)) : -1;
  if (quantise < 0 || !isQuantise(network.op(quantise))) return false;
  return [1, 2].every((index) => network.input(node, index) === network.input(quantise, index));
}

/** What a product's kernel computes after it, and reads a pair; `last`: where the chain ends of x · f(x), as SiLU is exported. */
function epilogueAfter(network: QuantisedGraph, quantise: number): { reader: number; last: number } | undefined {
  for (const dequantise of network.readers(quantise)) {
    if (!isDequantise(network.op(dequantise))) continue;
    const readers = network.readers(dequantise);
    const reader = readers.find((one) => activations.has(network.op(one)) || addsConstant(network, one));
    if (reader === undefined) continue;
    const [next, ...others] = network.readers(reader);
    const gated = next !== undefined && network.op(next) === 'Mul' && readers.includes(next);
    const activated = next !== undefined && others.length === 0 && activations.has(network.op(next));
    return { reader, last: gated || activated ? next : reader };
  }
  return undefined;
}

/** A bias, or what is computed like one. */
function addsConstant(network: QuantisedGraph, node: number): boolean {
  if (network.op(node) === 'BatchNormalization') return true;
  return network.op(node) === 'Add' && network.graph.inputs[node]!.some((tensor) => network.isConstant(tensor));
}

function judgeOperator(network: QuantisedGraph, node: number, add: Add): void {
  const dynamic = network.op(node) === 'DynamicQuantizeLinear';
  add(
    'integer-operator',
    [node],
    `TensorRT's ONNX parser does not support ${network.words(node)}: it reads quantized models with QuantizeLinear and DequantizeLinear nodes only.`,
    dynamic
      ? 'Quantize with scales from calibration (quantize_static) instead of dynamically.'
      : 'Quantize again into Q/DQ nodes (quantize_static: QuantFormat.QDQ).',
  );
}
