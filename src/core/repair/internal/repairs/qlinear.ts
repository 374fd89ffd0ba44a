import type { OnnxNode } from '../../../formats/onnx/onnxModel.ts';
import type { RepairDraft } from '../draft.ts';
import type { NewPlace } from '../place.ts';
import type { Repair } from '../../repair.ts';
import type { Constant } from '../../subject.ts';
import { centeredWeights, exactLimit, largestSum } from './integerSums.ts';

const versions = 'all';
const issues = ['microsoft/onnxruntime#14626'];
const operators = ['QuantizeLinear', 'DequantizeLinear'];

export const qlinearProducts: Repair = {
  id: 'qlinear-products',
  title: 'Write QLinearConv and QLinearMatMul in float operators',
  class: 'exact',
  rejected: 'QLinearConv and QLinearMatMul.',
  proof:
    'The integers minus their zero points are multiplied in FP32, which is exact below 2^24, then scaled and rounded as the operators do. Weights whose sums may be larger are refused.',
  versions,
  issues,
  operators,
  apply: async (draft) => {
    // oxlint-disable-next-line no-await-in-loop -- one weight in memory at a time
    for (const node of draft.nodes('QLinearConv', 'QLinearMatMul')) await multiply(draft, node);
  },
};

async function multiply(draft: RepairDraft, node: OnnxNode): Promise<void> {
  const read = (index: number): Promise<Constant | null> => draft.subject.constant(node, node.inputs[index]);
  const isConv = node.op === 'QLinearConv';
  const [aScale, weight, bScale, bZero, scale] = [
    await read(1),
    await read(3),
    await read(4),
    await read(5),
    await read(6),
  ];
  if (!aScale || !bScale || !scale || aScale.values.length > 1)
    return draft.refuse(node, 'its scales are not constant');
  const bias = await read(8);
  if ((node.inputs[8] ?? '') !== '' && !bias) return draft.refuse(node, 'its bias is not constant');
  const centered = weight && centeredWeights(weight, bZero, isConv);
  if (!weight || !centered) return draft.refuse(node, 'its weight is not constant');
  const most = 255 * largestSum(centered, weight.shape, isConv) + Math.max(0, ...(bias?.values ?? []).map(Math.abs));
  if (most >= exactLimit) return draft.refuse(node, 'its sums may pass 2^24');
  const at = draft.at(node);
  const one = at.scalar('float', 1);
  const a = at.op('DequantizeLinear', [node.inputs[0]!, one, node.inputs[2]!]);
  const b = at.constant('float', weight.shape, centered);
  const channels = (values: ArrayLike<number>): string =>
    at.constant('float', shapeOf(values, weight.shape, isConv), values);
  let sum = at.op(isConv ? 'Conv' : 'MatMul', [a, b], { like: node, domain: '' });
  at.keepName();
  if (bias) sum = at.op('Add', [sum, channels(bias.values)]);
  const factors = bScale.values.map((own) => Math.fround(Math.fround(aScale.values[0]! * own) / scale.values[0]!));
  quantize(at, at.op('Mul', [sum, channels(factors)]), one, node.inputs[7]);
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

const unary = new Map([
  ['com.microsoft:QLinearSigmoid', 'Sigmoid'],
  ['com.microsoft:QLinearLeakyRelu', 'LeakyRelu'],
]);
const binary = new Map([
  ['com.microsoft:QLinearAdd', 'Add'],
  ['com.microsoft:QLinearMul', 'Mul'],
]);

export const qlinearPairs: Repair = {
  id: 'qlinear-pairs',
  title: 'Write QLinear operators with DequantizeLinear and QuantizeLinear around them',
  class: 'rounding',
  rejected: 'QLinearAdd, QLinearMul, QLinearSigmoid and QLinearLeakyRelu of com.microsoft.',
  proof: 'The same arithmetic in FP32; a result that falls between two steps may be rounded to the other one.',
  versions,
  issues,
  operators,
  apply: (draft) => {
    for (const node of draft.nodes(...unary.keys(), ...binary.keys())) {
      const op = draft.subject.op(node);
      const at = draft.at(node);
      const first = at.op('DequantizeLinear', node.inputs.slice(0, 3));
      const isUnary = unary.has(op);
      const inputs = isUnary ? [first] : [first, at.op('DequantizeLinear', node.inputs.slice(3, 6))];
      const [scale = '', zero] = node.inputs.slice(isUnary ? 3 : 6);
      const result = at.op((unary.get(op) ?? binary.get(op))!, inputs, { like: node, domain: '' });
      at.keepName();
      quantize(at, result, scale, zero);
    }
  },
};
