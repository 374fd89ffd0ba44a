import type { DataType } from '../onnx/onnxModel.ts';
import type { Add } from './misplaced.ts';
import { isQuantise, type QuantisedGraph, typeWord } from './quantisedGraph.ts';

/** Types of weights that products read in floating point otherwise: TensorRT has kernels that dequantize them. */
const weightOnly: ReadonlySet<string> = new Set(['int4', 'uint4', 'float4e2m1']);

/** Judges what a product reads through Q/DQ nodes. */
export function judgeProduct(network: QuantisedGraph, node: number, add: Add): void {
  const index = network.weightsIndex(node);
  const [data, weights] = [network.input(node, 1 - index), network.input(node, index)];
  const [dataBy, weightsBy] = [network.dequantisedBy(data), network.dequantisedBy(weights)];
  const own = network.words(node);
  const fixed = network.isConstant(weights);
  judgeBias(network, node, add);
  if (dataBy >= 0 && weightsBy < 0 && !network.isConstant(data))
    add(
      'float-weights',
      [node, dataBy],
      `${own} reads a quantized input, but its ${fixed ? 'weights are' : 'second input is'} in floating point, so it does not run in ${typeOf(network, dataBy)}.`,
      fixed ? 'Quantize the weights, too.' : 'Quantize the second input, too.',
    );
  if (weightsBy < 0) return;
  const reduced = weightOnly.has(network.quantisedType(weightsBy));
  if (dataBy < 0 && data >= 0 && !network.isConstant(data) && !reduced)
    add(
      'float-input',
      [node, weightsBy],
      `${own} ${fixed ? 'has quantized weights, but its' : 'reads a quantized second input, but its first'} input is in floating point, so it does not run in ${typeOf(network, weightsBy)}.`,
      `Quantize the ${fixed ? '' : 'first '}input, too.`,
    );
  if (dataBy >= 0 && kindOf(network, dataBy) !== kindOf(network, weightsBy))
    add(
      'mixed-types',
      [node, dataBy, weightsBy],
      `${own} reads ${typeOf(network, dataBy)} and ${typeOf(network, weightsBy)} values; TensorRT multiplies values of one type.`,
      reduced
        ? `Leave the input in floating point, as weights in ${typeOf(network, weightsBy)} need it.`
        : 'Quantize both inputs to the same type.',
    );
  if (fixed) judgeAxis(network, node, weightsBy, add);
}

const typeOf = (network: QuantisedGraph, dequantise: number): string => typeWord(network.quantisedType(dequantise));

/** uint8 is named as asymmetric. */
function kindOf(network: QuantisedGraph, dequantise: number): DataType {
  const type = network.quantisedType(dequantise);
  return type === 'uint8' ? 'int8' : type;
}

function judgeBias(network: QuantisedGraph, node: number, add: Add): void {
  const bias = network.input(node, 2);
  const by = bias >= 0 && network.op(node) !== 'MatMul' ? network.dequantisedBy(bias) : -1;
  if (by >= 0) addBias(network, by, node, node, add);
}

/** Names the bias of a product that a node adds: the product itself, or an Add behind it. */
export function addBias(network: QuantisedGraph, by: number, product: number, reader: number, add: Add): void {
  const wide = network.quantisedType(by) === 'int32';
  add(
    'quantised-bias',
    [by, reader],
    `The bias of ${network.words(product)} is quantized${wide ? " to int32, which TensorRT's ONNX parser rejects" : ''}; TensorRT adds a bias in floating point.`,
    'Leave the bias in floating point (quantize_static: QuantizeBias=False).',
  );
}

/** Per channel means per output channel. */
function judgeAxis(network: QuantisedGraph, node: number, dequantise: number, add: Add): void {
  if ((network.scaleCount(dequantise) ?? 1) <= 1 || network.isBlocked(dequantise)) return;
  let first = dequantise;
  const quantise = network.producer(network.input(dequantise, 0));
  if (quantise >= 0 && isQuantise(network.op(quantise))) first = quantise;
  const rank = network.constantAt(first, 0)?.shape.length;
  const weights = network.input(node, network.weightsIndex(node));
  const order = rank === undefined ? null : axesBetween(network, dequantise, weights, rank);
  if (rank === undefined || order === null) return;
  const given = network.attribute(dequantise, 'axis', 1);
  const axis = given < 0 ? given + rank : given;
  const channels = network.weightAxis(node, rank);
  if (channels === undefined) return;
  // NVIDIA's tools quantise a transposed convolution along its input channels: TensorRT issues 1694 and 2380.
  const wanted = order[channels ?? 0];
  if (axis === wanted) return;
  const scales = `${network.words(dequantise)} has one scale per entry of axis ${axis}`;
  if (channels === null)
    add(
      'weight-axis',
      [dequantise, node],
      `${scales}; for ${network.words(node)}, TensorRT has no kernels with one scale per output channel (NVIDIA/TensorRT issue 2380).`,
      `Quantize the weights with one scale, or along axis ${wanted}.`,
    );
  else
    add(
      'weight-axis',
      [dequantise, node],
      `${scales}; the output channels of ${network.words(node)} are axis ${wanted}.`,
      `Quantize the weights along axis ${wanted}.`,
    );
}

/** By axis of a tensor: the axis of what a DequantizeLinear reads; null: more than Transpose nodes are between them. */
function axesBetween(network: QuantisedGraph, dequantise: number, tensor: number, rank: number): number[] | null {
  let order = Array.from({ length: rank }, (_, axis) => axis);
  for (let maker = network.producer(tensor); maker !== dequantise; maker = network.producer(network.input(maker, 0))) {
    if (maker >= 0 && network.op(maker) === 'Identity') continue;
    if (maker < 0 || network.op(maker) !== 'Transpose') return null;
    const perm = network.graph.nodes[maker]!.attributes.find(({ name }) => name === 'perm')?.value;
    const read = Array.isArray(perm) ? (perm as number[]) : [...order.keys()].toReversed();
    if (read.length !== rank) return null;
    order = order.map((axis) => read[axis]!);
  }
  return order;
}
