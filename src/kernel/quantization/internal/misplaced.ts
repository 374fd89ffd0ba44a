// Pairs that TensorRT cannot fuse, and where they belong.
import type { DataType } from '../../read/onnx/onnxModel.ts';
import { pools, products } from '../../network/modelGraph.ts';
import { type NodeRole, nodeRoles } from '../../network/nodeRoles.ts';
import {
  isDequantize,
  isPart,
  isQuantize,
  movers,
  type QuantizedGraph,
  typeWord,
} from '../../fusion/quantizedGraph.ts';

/** Judges a DequantizeLinear against the QuantizeLinear before it, and what reads it. */
export function judgePair(network: QuantizedGraph, dequantize: number, valuesOf: ScaleValues, add: Add): void {
  const quantize = network.producer(network.input(dequantize, 0));
  if (quantize < 0 || !isQuantize(network.op(quantize))) return;
  const differ = differences(network, quantize, dequantize, valuesOf);
  if (differ.length > 0)
    add(
      'pair-mismatch',
      [dequantize, quantize],
      `${network.words(dequantize)} has another ${differ.join(' and ')} than ${network.words(quantize)}, whose values it reads: the pair changes values instead of only rounding them.`,
      `Give both nodes the same ${differ.join(' and ')}.`,
    );
  const isGiven = network.graph.outputs[quantize]!.some((tensor) => network.graph.graphOutputs.includes(tensor));
  const output = isGiven ? null : givenBy(network, dequantize);
  if (output !== null)
    add(
      'quantized-output',
      [dequantize, quantize],
      `${network.words(dequantize)} makes only the output "${output}" of the graph: no kernel behind it reads the quantized values, so the pair costs accuracy and saves nothing.`,
      `Remove the pair in front of "${output}".`,
    );
}

function differences(network: QuantizedGraph, quantize: number, dequantize: number, valuesOf: ScaleValues): string[] {
  const same = (index: number) => network.input(quantize, index) === network.input(dequantize, index);
  const [first, second] = [valuesOf(quantize), valuesOf(dequantize)];
  const [zero, other] = [network.zeroPoint(quantize), network.zeroPoint(dequantize)];
  const axisOf = (node: number) => network.attribute(node, 'axis', 1);
  const several = (network.scaleCount(quantize) ?? 1) > 1 && (network.scaleCount(dequantize) ?? 1) > 1;
  // An axis from the end and one from the start may be the same.
  const comparable = axisOf(quantize) < 0 === axisOf(dequantize) < 0;
  return [
    ...(!same(1) && first !== null && second !== null && !sameScales(first, second) ? ['scale'] : []),
    ...(!same(2) && zero !== null && other !== null && zero !== other ? ['zero point'] : []),
    ...(several && comparable && axisOf(quantize) !== axisOf(dequantize) ? ['axis'] : []),
  ];
}

/** The name of the output of the graph that a node makes, itself or through operators that only move it, and nothing else; null: none. */
function givenBy(network: QuantizedGraph, node: number): string | null {
  const { graph } = network;
  const given = new Set(graph.graphOutputs);
  for (let at = node; ;) {
    const [output, ...more] = graph.outputs[at]!;
    if (output === undefined || more.length > 0) return null;
    const { name, consumers } = graph.tensors[output]!;
    const [reader] = consumers;
    if (reader === undefined) return given.has(output) ? name : null;
    // A pool reads the quantized values.
    const moves =
      movers.has(network.op(reader)) && !pools.has(network.op(reader)) && network.input(reader, 0) === output;
    if (given.has(output) || consumers.length > 1 || !moves) return null;
    at = reader;
  }
}

/** Types of weights that products read in floating point otherwise: TensorRT has kernels that dequantize them. */
const weightOnly: ReadonlySet<string> = new Set(['int4', 'uint4', 'float4e2m1']);

/** Judges what a product reads through Q/DQ nodes. */
export function judgeProduct(network: QuantizedGraph, node: number, add: Add): void {
  const index = network.weightsIndex(node);
  const [data, weights] = [network.input(node, 1 - index), network.input(node, index)];
  const [dataBy, weightsBy] = [network.dequantizedBy(data), network.dequantizedBy(weights)];
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
  const reduced = weightOnly.has(network.quantizedType(weightsBy));
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

const typeOf = (network: QuantizedGraph, dequantize: number): string => typeWord(network.quantizedType(dequantize));

/** uint8 is named as asymmetric. */
function kindOf(network: QuantizedGraph, dequantize: number): DataType {
  const type = network.quantizedType(dequantize);
  return type === 'uint8' ? 'int8' : type;
}

function judgeBias(network: QuantizedGraph, node: number, add: Add): void {
  const bias = network.input(node, 2);
  const by = bias >= 0 && network.op(node) !== 'MatMul' ? network.dequantizedBy(bias) : -1;
  if (by >= 0) addBias(network, by, node, node, add);
}

/** Names the bias of a product that a node adds: the product itself, or an Add behind it. */
export function addBias(network: QuantizedGraph, by: number, product: number, reader: number, add: Add): void {
  const wide = network.quantizedType(by) === 'int32';
  add(
    'quantized-bias',
    [by, reader],
    `The bias of ${network.words(product)} is quantized${wide ? " to int32, which TensorRT's ONNX parser rejects" : ''}; TensorRT adds a bias in floating point.`,
    'Leave the bias in floating point (quantize_static: QuantizeBias=False).',
  );
}

/** Per channel means per output channel. */
function judgeAxis(network: QuantizedGraph, node: number, dequantize: number, add: Add): void {
  if ((network.scaleCount(dequantize) ?? 1) <= 1 || network.isBlocked(dequantize)) return;
  let first = dequantize;
  const quantize = network.producer(network.input(dequantize, 0));
  if (quantize >= 0 && isQuantize(network.op(quantize))) first = quantize;
  const rank = network.constantAt(first, 0)?.shape.length;
  const weights = network.input(node, network.weightsIndex(node));
  const order = rank === undefined ? null : axesBetween(network, dequantize, weights, rank);
  if (rank === undefined || order === null) return;
  const given = network.attribute(dequantize, 'axis', 1);
  const axis = given < 0 ? given + rank : given;
  const channels = network.weightAxis(node, rank);
  if (channels === undefined) return;
  // NVIDIA's tools quantize a transposed convolution along its input channels: TensorRT issues 1694 and 2380.
  const wanted = order[channels ?? 0];
  if (axis === wanted) return;
  const scales = `${network.words(dequantize)} has one scale per entry of axis ${axis}`;
  if (channels === null)
    add(
      'weight-axis',
      [dequantize, node],
      `${scales}; for ${network.words(node)}, TensorRT has no kernels with one scale per output channel (NVIDIA/TensorRT issue 2380).`,
      `Quantize the weights with one scale, or along axis ${wanted}.`,
    );
  else
    add(
      'weight-axis',
      [dequantize, node],
      `${scales}; the output channels of ${network.words(node)} are axis ${wanted}.`,
      `Quantize the weights along axis ${wanted}.`,
    );
}

/** By axis of a tensor: the axis of what a DequantizeLinear reads; null: more than Transpose nodes are between them. */
function axesBetween(network: QuantizedGraph, dequantize: number, tensor: number, rank: number): number[] | null {
  let order = Array.from({ length: rank }, (_, axis) => axis);
  for (let maker = network.producer(tensor); maker !== dequantize; maker = network.producer(network.input(maker, 0))) {
    if (maker >= 0 && network.op(maker) === 'Identity') continue;
    if (maker < 0 || network.op(maker) !== 'Transpose') return null;
    const perm = network.graph.nodes[maker]!.attributes.find(({ name }) => name === 'perm')?.value;
    const read = Array.isArray(perm) ? (perm as number[]) : [...order.keys()].toReversed();
    if (read.length !== rank) return null;
    order = order.map((axis) => read[axis]!);
  }
  return order;
}

/** Judges what a sum or a Concat reads through Q/DQ nodes. */
export function judgeJoin(network: QuantizedGraph, node: number, valuesOf: ScaleValues, add: Add): void {
  const inputs = network.graph.inputs[node]!;
  const op = network.op(node);
  if ((op !== 'Add' && op !== 'Sum' && op !== 'Concat') || inputs.length < 2 || inputs.some((tensor) => tensor < 0))
    return;
  if (op === 'Concat') judgeConcat(network, node, valuesOf, add);
  else if (inputs.some((tensor) => network.isConstant(tensor))) judgeAddedBias(network, node, add);
  else judgeSum(network, node, add);
}

/** A bias that is added behind its product, as MatMul has none. */
function judgeAddedBias(network: QuantizedGraph, node: number, add: Add): void {
  const inputs = network.graph.inputs[node]!;
  const bias = inputs.find((tensor) => network.isConstant(tensor) && network.dequantizedBy(tensor) >= 0);
  const product = inputs.map((tensor) => network.productBefore(tensor)).find((one) => one >= 0);
  if (bias !== undefined && product !== undefined && !inputs.every((tensor) => network.isConstant(tensor)))
    addBias(network, network.dequantizedBy(bias), product, node, add);
}

function judgeSum(network: QuantizedGraph, node: number, add: Add): void {
  const { quantized, others } = sides(network, node);
  // The output of a product is added in its kernel, in floating point: there, only the other inputs are to be quantized.
  const own = others.findIndex((tensor) => network.productBefore(tensor) >= 0);
  const floats = others.filter((_, index) => index !== own);
  if (quantized.length === 0 || floats.length === 0) return;
  const name = network.graph.tensors[floats[0]!]!.name;
  add(
    'one-side-of-residual',
    [node, quantized[0]!],
    `${network.words(node)} adds a quantized input and "${name}", which is not.`,
    `Quantize "${name}", too, or neither input.`,
  );
}

/**
 * A QuantizeLinear behind a Concat moves to each of its inputs: what has its scale already needs no kernel, other
 * quantized inputs are quantized again (ModelOpt's get_concat_eliminated_tensors gives them one scale).
 */
function judgeConcat(network: QuantizedGraph, node: number, valuesOf: ScaleValues, add: Add): void {
  const { graph } = network;
  const { quantized, others } = sides(network, node);
  if (quantized.length === 0) return;
  const output = graph.outputs[node]![0];
  const behind = output === undefined ? undefined : network.quantizedAs(output)[0];
  const words = network.words(node);
  const floats = others.filter((tensor) => !network.isConstant(tensor));
  if (floats.length > 0 && behind === undefined) {
    const name = graph.tensors[floats[0]!]!.name;
    add(
      'one-side-of-concat',
      [node, quantized[0]!],
      `${words} joins a quantized input and "${name}", which is not, so it copies floating-point values.`,
      `Quantize "${name}", too, with the same scale, or the output of ${words}.`,
    );
    return;
  }
  const first = behind ?? quantized[0]!;
  const scales = valuesOf(first);
  const other = quantized.find((one) => {
    const own = valuesOf(one);
    return own !== null && scales !== null && !sameScales(own, scales);
  });
  if (other === undefined) return;
  add(
    'concat-scales',
    [node, other, first],
    `${words} joins values that ${network.words(other)} dequantizes with another scale than that of ${network.words(first)}: TensorRT has to quantize them again.`,
    `Give all inputs ${behind === undefined ? '' : 'and the output '}of ${words} the same scale, the largest of them.`,
  );
}

/** The DequantizeLinear nodes behind the inputs of a node, and the inputs that have none. */
function sides(network: QuantizedGraph, node: number): { quantized: number[]; others: number[] } {
  const inputs = network.graph.inputs[node]!;
  return {
    quantized: inputs.map((tensor) => network.dequantizedBy(tensor)).filter((one) => one >= 0),
    others: inputs.filter((tensor) => network.dequantizedBy(tensor) < 0),
  };
}

/** A placement of Q/DQ nodes that can keep TensorRT from computing in INT8, or in one kernel, what it could. */
export interface Misplaced {
  code:
    | 'before-activation'
    | 'one-side-of-residual'
    | 'one-side-of-concat'
    | 'concat-scales'
    | 'quantized-bias'
    | 'quantized-output'
    | 'quantized-twice'
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
export function misplaced(network: QuantizedGraph, valuesOf: ScaleValues = () => null): Misplaced[] {
  const { graph } = network;
  const found: Misplaced[] = [];
  const scales = new ScaleJudge(network, valuesOf);
  const add: Add = (code, nodes, message, fix) =>
    found.push({ code, nodes: nodes.map((node) => graph.nodes[node]!.id), message, fix });
  for (const node of graph.nodes.keys()) {
    const op = network.op(node);
    if (isQuantize(op)) judgeQuantize(network, node, valuesOf, add);
    if (isDequantize(op)) judgePair(network, node, valuesOf, add);
    if (isPart(op) && !repeatsScale(network, node)) scales.judge(node, add);
    if (products.has(op)) judgeProduct(network, node, add);
    judgeJoin(network, node, valuesOf, add);
    if (integerOperator.test(op)) judgeOperator(network, node, add);
  }
  return found;
}

function judgeQuantize(network: QuantizedGraph, node: number, valuesOf: ScaleValues, add: Add): void {
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
  const before = network.dequantizedBy(input);
  const [own, earlier] = [valuesOf(node), before < 0 ? null : valuesOf(before)];
  if (own !== null && earlier !== null && !sameScales(own, earlier))
    add(
      'quantized-twice',
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
function repeatsScale(network: QuantizedGraph, node: number): boolean {
  const quantize = isDequantize(network.op(node)) ? network.producer(network.input(node, 0)) : -1;
  if (quantize < 0 || !isQuantize(network.op(quantize))) return false;
  return [1, 2].every((index) => network.input(node, index) === network.input(quantize, index));
}

/** What a product's kernel computes after it, and reads a pair; `last`: where the chain ends of x · f(x), as SiLU is exported. */
function epilogueAfter(network: QuantizedGraph, quantize: number): { reader: number; last: number } | undefined {
  for (const dequantize of network.readers(quantize)) {
    if (!isDequantize(network.op(dequantize))) continue;
    const readers = network.readers(dequantize);
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
function addsConstant(network: QuantizedGraph, node: number): boolean {
  if (network.op(node) === 'BatchNormalization') return true;
  return network.op(node) === 'Add' && network.graph.inputs[node]!.some((tensor) => network.isConstant(tensor));
}

function judgeOperator(network: QuantizedGraph, node: number, add: Add): void {
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

/** The values of a node's scales; null: they are not stored in the model. */
export type ScaleValues = (node: number) => readonly number[] | null;

/** Whether two nodes have the same scales, alone or by channel. One of them may have them in half precision. */
export function sameScales(first: readonly number[], second: readonly number[]): boolean {
  const at = (scales: readonly number[], index: number): number => scales[scales.length === 1 ? 0 : index] ?? NaN;
  const count = Math.max(first.length, second.length);
  return Array.from({ length: count }, (_, index) => [at(first, index), at(second, index)] as const).every(
    ([own, other]) => Object.is(own, other) || Math.abs(own - other) <= Math.abs(own) / 256,
  );
}

/** Types that TensorRT's ONNX parser takes. */
const supported: ReadonlySet<string> = new Set(['int8', 'int4', 'float8e4m3fn', 'float4e2m1']);

const defaulted = 'has no zero point, so ONNX quantizes to uint8 and TensorRT to int8';
const rejected = (what: string): string => `${what}, which TensorRT's ONNX parser rejects`;

/** Judges the scale and the zero point of one Q or DQ node. */
export class ScaleJudge {
  readonly #network: QuantizedGraph;
  readonly #valuesOf: ScaleValues;
  #roles: readonly NodeRole[] | null = null;

  constructor(network: QuantizedGraph, valuesOf: ScaleValues) {
    this.#network = network;
    this.#valuesOf = valuesOf;
  }

  judge(node: number, add: Add): void {
    const network = this.#network;
    const words = network.words(node);
    const shifted = network.zeroPoints(node)?.some((point) => point !== 0) ?? false;
    const stored = isDequantize(network.op(node)) && network.isConstant(network.input(node, 0));
    const type = network.quantizedType(node);
    const byDefault = isQuantize(network.op(node)) && network.typeByDefault(node);
    if (shifted || type === 'uint8' || byDefault)
      add(
        'asymmetric',
        [node],
        `${words} ${shifted ? rejected('has a zero point other than 0') : byDefault ? defaulted : stored ? rejected('dequantizes stored uint8 values') : 'quantizes to uint8; TensorRT takes int8 in its place, which ends at 127'}.`,
        byDefault
          ? 'Add a zero point: 0, in int8.'
          : 'Quantize again with symmetric int8 (quantize_static: ActivationSymmetric, WeightSymmetric, QInt8).',
      );
    else if (!supported.has(type) && !(type === 'int32' && network.isBias(node)))
      add(
        'unsupported-type',
        [node],
        `${words} ${isQuantize(network.op(node)) ? 'quantizes to' : 'dequantizes'} ${type}, which TensorRT does not support: it has INT8, INT4, FP8 (float8e4m3fn) and FP4 (float4e2m1).`,
        'Quantize again, to int8.',
      );
    const bad = this.#valuesOf(node)?.find((scale) => !(scale > 0 && Number.isFinite(scale)));
    if (bad !== undefined)
      add(
        'scale-value',
        [node],
        `${words} has a scale of ${Number(bad.toPrecision(4))}, which is not a positive finite number.`,
        'Calibrate again with representative data. A tensor that is always 0 can have any positive scale.',
      );
    if (this.#isRunTime(node))
      add(
        'scale-at-run-time',
        [node],
        `The scale of ${words} is known only when the engine runs; TensorRT needs it for the build.`,
        'Calibrate the model and store the scale as an initializer.',
      );
  }

  #isRunTime(node: number): boolean {
    const { graph } = this.#network;
    const scale = this.#network.input(node, 1);
    if (scale < 0 || this.#network.isConstant(scale)) return false;
    const maker = this.#network.producer(scale);
    if (maker < 0) return true;
    // TensorRT's own operators for FP4 and MXFP8 give the scales of blocks with the values.
    if (graph.nodes[maker]!.op.startsWith('TRT_')) return false;
    this.#roles ??= nodeRoles(graph).roles;
    return this.#roles[maker] !== 'constant';
  }
}
