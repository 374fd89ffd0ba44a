import { intAttribute, type OnnxNode } from '../../../../kernel/read/onnx/onnxModel.ts';
import type { RepairDraft } from '../draft.ts';
import type { NewPlace } from '../place.ts';
import type { Repair } from '../repair.ts';
import type { Constant } from '../../subject.ts';
import { centeredWeights, exactLimit, largestSum } from './integerSums.ts';

const versions = 'all';
const issues = ['microsoft/onnxruntime#14626'];
const operators = ['QuantizeLinear', 'DequantizeLinear'];

export const qlinearProducts: Repair = {
  id: 'qlinear-products',
  title: 'Write QLinearConv, QLinearMatMul and QGemm in float operators',
  class: 'exact',
  rejected: 'QLinearConv and QLinearMatMul, and QGemm of com.microsoft.',
  proof:
    'The integers minus their zero points are multiplied in FP32, which is exact below 2^24, then scaled and rounded as the operators do. Weights whose sums may be larger are refused.',
  versions,
  issues,
  operators,
  apply: async (draft) => {
    // oxlint-disable-next-line no-await-in-loop -- one weight in memory at a time
    for (const node of draft.nodes('QLinearConv', 'QLinearMatMul', 'com.microsoft:QGemm')) await multiply(draft, node);
  },
};

/** Where the inputs of each operator are. */
const places: Record<string, { bias: number; scale: number }> = {
  QLinearConv: { bias: 8, scale: 6 },
  QLinearMatMul: { bias: 8, scale: 6 },
  QGemm: { bias: 6, scale: 7 },
};

/** The constants of a product. */
interface Product {
  weight: Constant;
  /** Minus its zero point. */
  centered: Float64Array;
  bias: Constant | null;
  /** What the sums are multiplied by. */
  factors: Float64Array;
}

/** A reason where one of them is not constant. */
async function readProduct(draft: RepairDraft, node: OnnxNode): Promise<Product | string> {
  const { bias: biasAt, scale: scaleAt } = places[node.op]!;
  const read = (index: number): Promise<Constant | null> => draft.subject.constant(node, node.inputs[index]);
  const [aScale, stored, bScale, bZero] = [await read(1), await read(3), await read(4), await read(5)];
  const [scale, bias] = [await read(scaleAt), await read(biasAt)];
  const has = (index: number): boolean => (node.inputs[index] ?? '') !== '';
  if (!aScale || !bScale || (has(scaleAt) && !scale) || aScale.values.length > 1) return 'its scales are not constant';
  if (has(biasAt) && !bias) return 'its bias is not constant';
  const weight = stored && intAttribute(node, 'transB') === 1 ? transposed(stored) : stored;
  const centered = weight && centeredWeights(weight, bZero, node.op === 'QLinearConv');
  if (!weight || !centered) return 'its weight is not constant';
  const to = scale?.values[0] ?? 1;
  const factors = bScale.values.map((own) => Math.fround(Math.fround(aScale.values[0]! * own) / to));
  return { weight, centered, bias, factors };
}

async function multiply(draft: RepairDraft, node: OnnxNode): Promise<void> {
  const isConv = node.op === 'QLinearConv';
  if (node.op === 'QGemm' && !isPlainGemm(node)) return draft.refuse(node, 'it scales or transposes its input');
  const read = await readProduct(draft, node);
  if (typeof read === 'string') return draft.refuse(node, read);
  const { weight, centered, bias, factors } = read;
  const most = 255 * largestSum(centered, weight.shape, isConv) + Math.max(0, ...(bias?.values ?? []).map(Math.abs));
  if (most >= exactLimit) return draft.refuse(node, 'its sums may pass 2^24');
  const at = draft.at(node);
  const one = at.scalar('float', 1);
  const a = at.op('DequantizeLinear', [node.inputs[0]!, one, node.inputs[2]!]);
  const b = at.constant('float', weight.shape, centered);
  const channels = (values: ArrayLike<number>): string =>
    at.constant('float', shapeOf(values, weight.shape, isConv), values);
  let sum = at.op(isConv ? 'Conv' : 'MatMul', [a, b], isConv ? { like: node, domain: '' } : {});
  at.keepName();
  if (bias) sum = at.op('Add', [sum, channels(bias.values)]);
  const [scale = '', zero] = node.inputs.slice(places[node.op]!.scale);
  if (scale !== '') return quantize(at, at.op('Mul', [sum, channels(factors)]), one, zero);
  at.op('Mul', [sum, channels(factors)], { outputs: node.outputs });
  at.done();
}

const isPlainGemm = (node: OnnxNode): boolean =>
  (intAttribute(node, 'transA') ?? 0) === 0 && (node.attributes.find(({ name }) => name === 'alpha')?.value ?? 1) === 1;

function transposed({ type, shape, values }: Constant): Constant {
  const [rows = 1, columns = 1] = shape;
  return {
    type,
    shape: [columns, rows],
    values: values.map((_, index) => values[(index % rows) * columns + Math.floor(index / rows)]!),
  };
}

/** One value for all, or one for each channel of a convolution or column of a matrix. */
function shapeOf({ length }: ArrayLike<number>, weight: readonly number[], isConv: boolean): number[] {
  if (length === 1) return [];
  return isConv ? [length, ...weight.slice(2).map(() => 1)] : [length];
}

function quantize(at: NewPlace, result: string, scale: string, zero: string | undefined): void {
  at.op('QuantizeLinear', [result, scale, ...(zero ? [zero] : [])], { outputs: at.node.outputs });
  at.done();
}

/** Attributes that only the quantized operators have. */
const own = new Set(['channels_last', 'opset', 'alpha']);
const microsoft = (op: string): string => `com.microsoft:${op}`;

/** Writes the operator in floats; a reason where it can't. */
type Write = (pair: Pair) => Promise<string | null>;

interface Pair {
  draft: RepairDraft;
  node: OnnxNode;
  at: NewPlace;
  /** The tensor at an index, followed by its scale and zero point, as floats. */
  float: (index: number) => string;
  /** Writes the result with the scale and zero point from an index on. */
  end: (result: string, index: number) => null;
}

/** @param count how many tensors the operator reads */
const plain =
  (op: string, count: number): Write =>
  ({ node, at, float, end }) => {
    const attributes = node.attributes.filter(({ name }) => op === 'LeakyRelu' || !own.has(name));
    const inputs = Array.from({ length: count }, (_, index) => float(3 * index));
    return Promise.resolve(end(at.op(op, inputs, { like: { ...node, attributes }, domain: '' }), 3 * count));
  };

const inFloats: Record<string, Write> = {
  [microsoft('QLinearAdd')]: plain('Add', 2),
  [microsoft('QLinearMul')]: plain('Mul', 2),
  [microsoft('QLinearSigmoid')]: plain('Sigmoid', 1),
  [microsoft('QLinearLeakyRelu')]: plain('LeakyRelu', 1),
  [microsoft('QLinearAveragePool')]: async (pair) =>
    intAttribute(pair.node, 'channels_last') === 1 ? 'its channels are last' : plain('AveragePool', 1)(pair),
  [microsoft('QLinearReduceMean')]: plain('ReduceMean', 1),
  [microsoft('QLinearSoftmax')]: async (pair) =>
    (intAttribute(pair.node, 'opset') ?? 13) < 13 && intAttribute(pair.node, 'axis') !== -1
      ? 'it goes over more than one axis'
      : plain('Softmax', 1)(pair),
  // The mean of integers, scaled once.
  [microsoft('QLinearGlobalAveragePool')]: async ({ draft, node, at }) => {
    const { subject } = draft;
    const shape = subject.shape(node, node.inputs[0]!);
    const [from, to] = [await subject.constant(node, node.inputs[1]), await subject.constant(node, node.inputs[3])];
    const first = intAttribute(node, 'channels_last') === 1 ? 1 : 2;
    const axes = Array.from({ length: (shape?.length ?? 2) - 2 }, (_, index) => first + index);
    const count = axes.reduce((size, axis) => size * (Number(shape?.[axis]) || 0), 1);
    if (!shape || !from || !to || count === 0) return 'the size of its input is not known';
    const one = at.scalar('float', 1);
    const integers = at.op('DequantizeLinear', [node.inputs[0]!, one, node.inputs[2]!]);
    const sum = at.reduce('ReduceSum', integers, axes, true);
    at.keepName();
    const factor = Math.fround(from.values[0]! / Math.fround(to.values[0]! * count));
    quantize(at, at.op('Mul', [sum, at.scalar('float', factor)]), one, node.inputs[4]);
    return null;
  },
  [microsoft('QLinearConcat')]: ({ node, at, float, end }) => {
    const starts = node.inputs.flatMap((_, index) => (index >= 2 && index % 3 === 2 ? [index] : []));
    return Promise.resolve(end(at.op('Concat', starts.map(float), { like: node, domain: '' }), 0));
  },
  [microsoft('QLinearWhere')]: ({ node, at, float, end }) =>
    Promise.resolve(end(at.op('Where', [node.inputs[0]!, float(1), float(4)]), 7)),
  // Weights that are constant are those of `qlinear-products`.
  QLinearMatMul: async (pair) => {
    const { draft, node } = pair;
    return (await draft.subject.constant(node, node.inputs[3])) ? 'its weight is constant' : plain('MatMul', 2)(pair);
  },
};

export const qlinearPairs: Repair = {
  id: 'qlinear-pairs',
  title: 'Write QLinear operators with DequantizeLinear and QuantizeLinear around them',
  class: 'rounding',
  rejected:
    'QLinearAdd, QLinearMul, QLinearSigmoid, QLinearLeakyRelu, QLinearSoftmax, QLinearConcat, QLinearWhere, QLinearReduceMean, and pools of com.microsoft, and QLinearMatMul of two activations.',
  proof: 'The same arithmetic in FP32; a result that falls between two steps may be rounded to the other one.',
  versions,
  issues,
  operators,
  apply: async (draft) => {
    for (const node of draft.nodes(...Object.keys(inFloats))) {
      const at = draft.at(node);
      const float = (index: number): string => at.op('DequantizeLinear', node.inputs.slice(index, index + 3));
      const end = (result: string, index: number): null => {
        at.keepName();
        const [scale = '', zero] = node.inputs.slice(index, index + 2);
        quantize(at, result, scale, zero);
        return null;
      };
      // oxlint-disable-next-line no-await-in-loop
      const reason = await inFloats[draft.subject.op(node)]!({ draft, node, at, float, end });
      if (reason !== null && node.op !== 'QLinearMatMul') draft.refuse(node, reason);
    }
  },
};
