import { products } from '../model/products.ts';
import { isDequantise, isQuantise, type QuantisedGraph } from './quantisedGraph.ts';

/** A placement of Q/DQ nodes that can keep TensorRT from computing in INT8, or in one kernel, what it could. */
export interface Misplaced {
  code:
    | 'before-activation'
    | 'one-side-of-residual'
    | 'quantised-bias'
    | 'weight-axis'
    | 'per-channel-activation'
    | 'asymmetric'
    | 'float-weights'
    | 'float-input';
  /** Ids of the Q, DQ and other nodes concerned, the one to look at first. */
  nodes: string[];
  message: string;
  fix: string;
}

const activations: ReadonlySet<string> = new Set(
  'Relu Clip LeakyRelu PRelu Sigmoid Tanh Elu Selu Softplus HardSigmoid HardSwish Mish Gelu Erf'.split(' '),
);

/** Placements against the rules of NVIDIA's documentation on explicit quantization, node by node in the model's order. */
export function misplaced(network: QuantisedGraph): Misplaced[] {
  const { graph } = network;
  const found: Misplaced[] = [];
  const add = (code: Misplaced['code'], nodes: readonly number[], message: string, fix: string) =>
    found.push({ code, nodes: nodes.map((node) => graph.nodes[node]!.id), message, fix });
  for (const node of graph.nodes.keys()) {
    const op = network.op(node);
    if (isQuantise(op)) judgeQuantise(network, node, add);
    if (isQuantise(op) || isDequantise(op)) judgeScale(network, node, add);
    if (products.has(op)) judgeProduct(network, node, add);
    if (op === 'Add') judgeSum(network, node, add);
  }
  return found;
}

type Add = (code: Misplaced['code'], nodes: readonly number[], message: string, fix: string) => void;

function judgeQuantise(network: QuantisedGraph, node: number, add: Add): void {
  const input = network.input(node, 0);
  if (network.isConstant(input)) return;
  const product = productBefore(network, input);
  const activation = network
    .readers(node)
    .flatMap((reader) => (isDequantise(network.op(reader)) ? network.readers(reader) : []))
    .find((reader) => activations.has(network.op(reader)));
  if (product >= 0 && activation !== undefined)
    add(
      'before-activation',
      [node, product, activation],
      `${network.words(node)} is between ${network.words(product)} and ${network.words(activation)}: values are rounded twice, and TensorRT may run the activation as a kernel of its own.`,
      `Quantize the output of ${network.words(activation)} instead.`,
    );
  if ((network.scaleCount(node) ?? 1) > 1)
    add(
      'per-channel-activation',
      [node],
      `${network.words(node)} quantizes an activation with ${network.scaleCount(node)} scales; TensorRT takes one for activations.`,
      'Quantize activations per tensor and only weights per channel.',
    );
}

/** The product that makes a tensor, alone or with a bias or a BatchNormalization behind it; -1: none. */
export function productBefore(network: QuantisedGraph, tensor: number): number {
  const maker = network.producer(tensor);
  if (maker < 0 || products.has(network.op(maker))) return maker;
  const own = network.graph.inputs[maker]!.filter((one) => one >= 0 && !network.isConstant(one));
  if (!['Add', 'BatchNormalization'].includes(network.op(maker)) || own.length !== 1) return -1;
  const before = network.producer(own[0]!);
  return before >= 0 && products.has(network.op(before)) ? before : -1;
}

function judgeScale(network: QuantisedGraph, node: number, add: Add): void {
  const zero = network.constantAt(node, 2);
  const shifted = zero?.ints?.some((value) => value !== 0) ?? false;
  if (zero?.type === 'uint8' || shifted)
    add(
      'asymmetric',
      [node],
      `${network.words(node)} has ${shifted ? 'a zero point other than 0' : 'the type uint8'}; TensorRT quantizes symmetrically, to int8.`,
      'Quantize again with symmetric int8 (quantize_static: ActivationSymmetric, WeightSymmetric, QInt8).',
    );
}

function judgeProduct(network: QuantisedGraph, node: number, add: Add): void {
  const [data, weights, bias] = [0, 1, 2].map((index) => network.input(node, index)) as [number, number, number];
  const [dataBy, weightsBy] = [network.dequantisedBy(data), network.dequantisedBy(weights)];
  const own = network.words(node);
  if (bias >= 0 && network.op(node) !== 'MatMul' && network.dequantisedBy(bias) >= 0)
    add(
      'quantised-bias',
      [network.dequantisedBy(bias), node],
      `The bias of ${own} is quantized; TensorRT adds it in FP32.`,
      'Leave the bias in FP32 (quantize_static: QuantizeBias=False).',
    );
  if (dataBy >= 0 && weightsBy < 0 && !network.isConstant(data))
    add(
      'float-weights',
      [node, dataBy],
      `${own} reads a quantized input, but its ${network.isConstant(weights) ? 'weights are' : 'second input is'} in floating point, so it does not run in INT8.`,
      network.isConstant(weights) ? 'Quantize the weights, too.' : 'Quantize the second input, too.',
    );
  if (weightsBy >= 0 && dataBy < 0 && data >= 0 && !network.isConstant(data) && network.isConstant(weights))
    add(
      'float-input',
      [node, weightsBy],
      `${own} has quantized weights, but its input is in floating point, so it does not run in INT8.`,
      'Quantize the input, too.',
    );
  if (weightsBy >= 0) judgeAxis(network, node, weightsBy, add);
}

/** Per channel means per output channel. */
function judgeAxis(network: QuantisedGraph, node: number, dequantise: number, add: Add): void {
  if ((network.scaleCount(dequantise) ?? 1) <= 1 || network.producer(network.input(node, 1)) !== dequantise) return;
  let first = dequantise;
  const quantise = network.producer(network.input(dequantise, 0));
  if (quantise >= 0 && isQuantise(network.op(quantise))) first = quantise;
  const rank = network.constantAt(first, 0)?.shape.length;
  if (rank === undefined) return;
  const given = network.attribute(dequantise, 'axis', 1);
  const axis = given < 0 ? given + rank : given;
  const wanted = network.outputAxis(node, rank);
  if (wanted !== undefined && axis !== wanted)
    add(
      'weight-axis',
      [dequantise, node],
      `${network.words(dequantise)} has one scale per entry of axis ${axis}; the output channels of ${network.words(node)} are axis ${wanted}.`,
      `Quantize the weights along axis ${wanted}.`,
    );
}

function judgeSum(network: QuantisedGraph, node: number, add: Add): void {
  const inputs = network.graph.inputs[node]!;
  if (inputs.length !== 2 || inputs.some((tensor) => tensor < 0 || network.isConstant(tensor))) return;
  const by = inputs.map((tensor) => network.dequantisedBy(tensor));
  const other = by[0]! >= 0 ? 1 : 0;
  if (by.filter((one) => one >= 0).length !== 1) return;
  // The output of a product is added in its kernel, in floating point: there, only the other input is to be quantized.
  if (productBefore(network, inputs[other]!) >= 0) return;
  const name = network.graph.tensors[inputs[other]!]!.name;
  add(
    'one-side-of-residual',
    [node, by[1 - other]!],
    `${network.words(node)} adds a quantized input and "${name}", which is not.`,
    `Quantize "${name}", too, or neither input.`,
  );
}
