import { intAttribute, type OnnxNode } from '../../../formats/onnx/onnxModel.ts';
import { graphPathOf } from '../../../network/modelGraph.ts';
import { axisOf } from '../../../network/outputTypes.ts';
import type { RepairDraft } from '../draft.ts';
import type { NewPlace } from '../place.ts';
import type { Repair } from '../../repair.ts';
import type { Constant } from '../../subject.ts';

const issues = [
  'NVIDIA/TensorRT#3963',
  'NVIDIA/TensorRT#1749',
  'microsoft/onnxruntime#14626',
  'onnx/onnx-tensorrt#560',
];

export const shiftUint8: Repair = {
  id: 'shift-uint8',
  title: 'Quantize to INT8 around 0 instead of UINT8 around 128',
  class: 'exact',
  rejected: 'QuantizeLinear and DequantizeLinear of UINT8 with zero point 128.',
  proof:
    'Every quantized value moves down by 128, its zero point as well, so the dequantized values are the same. Only pairs whose quantized values nothing else reads, and weights.',
  versions: 'TensorRT 8.6 to 11.2, TensorRT-RTX 1.7',
  issues,
  operators: ['QuantizeLinear', 'DequantizeLinear'],
  apply: async (draft) => {
    for (const node of draft.nodes('QuantizeLinear')) {
      // oxlint-disable-next-line no-await-in-loop
      if (!(await isMiddle(draft, node))) continue;
      const readers = draft.subject.readers(node, node.outputs[0]!);
      if (draft.subject.isOutput(node, node.outputs[0]!) || readers.length === 0) continue;
      // oxlint-disable-next-line no-await-in-loop
      const pairs = await Promise.all(
        readers.map((reader) => (reader.op === 'QuantizeLinear' ? Promise.resolve(false) : isMiddle(draft, reader))),
      );
      if (!pairs.every(Boolean)) continue;
      for (const one of [node, ...readers]) shift(draft, one, one.inputs[0]!);
    }
    for (const node of draft.nodes('DequantizeLinear')) {
      // oxlint-disable-next-line no-await-in-loop
      if (!draft.subject.isConstant(node, node.inputs[0]!) || !(await isMiddle(draft, node))) continue;
      // oxlint-disable-next-line no-await-in-loop
      const weight = await draft.subject.constant(node, node.inputs[0]);
      if (!weight) continue;
      const at = draft.at(node);
      const moved = at.constant(
        'int8',
        weight.shape,
        weight.values.map((value) => value - 128),
      );
      shift(draft, node, moved, at);
    }
  },
};

async function isMiddle(draft: RepairDraft, node: OnnxNode): Promise<boolean> {
  if (draft.isReplaced(node) || !['QuantizeLinear', 'DequantizeLinear'].includes(draft.subject.op(node))) return false;
  const zero = await draft.subject.constant(node, node.inputs[2]);
  return zero?.type === 'uint8' && zero.values.every((value) => value === 128);
}

function shift(draft: RepairDraft, node: OnnxNode, input: string, at: NewPlace = draft.at(node)): void {
  const shape = draft.subject.constantTensor(node, node.inputs[2]!)?.shape ?? [];
  const zero = at.constant('int8', shape, Array<number>(shape.reduce((size, dim) => size * dim, 1)).fill(0));
  const dtype = node.attributes.some(({ name }) => name === 'output_dtype' && node.op === 'QuantizeLinear');
  at.op(node.op, [input, node.inputs[1]!, zero], {
    outputs: node.outputs,
    like: node,
    ...(dtype && { attributes: { output_dtype: { int: 3 } } }),
  });
  at.done();
}

export const quantizeInFloat: Repair = {
  id: 'quantize-in-float',
  title: 'Write quantization with a zero point in float operators',
  class: 'exact',
  rejected: 'QuantizeLinear of activations with a zero point that is not 0.',
  proof:
    'Div, Round (to even), Add, Clip, Sub and Mul in FP32 do what the pair does; integers up to 255 are exact in FP32. Only where the quantized values go to DequantizeLinear, at most through operators that move them.',
  versions: 'TensorRT 8.6 to 11.2, TensorRT-RTX 1.7',
  issues,
  operators: ['QuantizeLinear', 'DequantizeLinear'],
  apply: async (draft) => {
    // oxlint-disable-next-line no-await-in-loop
    for (const node of draft.nodes('QuantizeLinear')) await inFloat(draft, node);
  },
};

const ranges: Partial<Record<string, [number, number]>> = {
  uint8: [0, 255],
  int8: [-128, 127],
  uint16: [0, 65535],
  int16: [-32768, 32767],
};

async function inFloat(draft: RepairDraft, node: OnnxNode): Promise<void> {
  const { subject } = draft;
  const zero = await subject.constant(node, node.inputs[2]);
  const range = zero && ranges[zero.type];
  if (!zero || !range || zero.values.every((value) => value === 0)) return;
  const scale = await subject.constant(node, node.inputs[1]);
  if (!scale || scale.type !== 'float' || !subject.isUsed(node, node.outputs[0]!)) return;
  const found = endsOf(draft, node);
  if (!found || found.ends.some((end) => draft.isReplaced(end)))
    return draft.refuse(node, 'something other than DequantizeLinear reads its quantized values');
  const { movers, ends: readers } = found;
  const axis = intAttribute(node, 'axis') ?? 1;
  const rank = subject.rank(node, node.inputs[0]!);
  if (scale.values.length > 1 && rank === null) return draft.refuse(node, 'the rank of its input is not known');
  const at = draft.at(node);
  const shaped = (constant: Constant): string =>
    at.constant('float', alongAxis(constant, axis, rank ?? 1), constant.values);
  for (const mover of movers)
    if (subject.model.graph.values.some(({ name }) => name === mover.outputs[0]))
      draft.undeclare('values', mover.outputs[0]!);
  const [scales, zeros] = [shaped(scale), shaped(zero)];
  const rounded = at.op('Round', [at.op('Div', [node.inputs[0]!, scales])]);
  at.clip(at.op('Add', [rounded, zeros]), 'float', ...range, node.outputs);
  at.done();
  for (const reader of readers) if (!(await dequantized(draft, reader, rank ?? 1, movers.length > 0))) return;
}

/** Writes a DequantizeLinear in float operators; false: it cannot, and the draft says why. */
async function dequantized(draft: RepairDraft, node: OnnxNode, rank: number, isMoved: boolean): Promise<boolean> {
  const [input = '', scaleName, zeroName] = node.inputs;
  const [scale, zero] = [await draft.subject.constant(node, scaleName), await draft.subject.constant(node, zeroName)];
  const refuse = (reason: string): false => {
    draft.refuse(node, reason);
    return false;
  };
  if (isMoved && scale && scale.values.length > 1)
    return refuse('its scales are per channel, and the values are moved before');
  if (!scale || (zeroName && !zero)) return refuse('its scale is not constant');
  const at = draft.at(node);
  const axis = intAttribute(node, 'axis') ?? 1;
  const own = (constant: Constant): string => at.constant('float', alongAxis(constant, axis, rank), constant.values);
  const shifted = zero ? at.op('Sub', [input, own(zero)]) : input;
  at.op('Mul', [shifted, own(scale)], { outputs: node.outputs });
  at.done();
  return true;
}

/** Operators that give some of the elements that they read, of any type. */
const moves = new Set([
  'MaxPool',
  'Flatten',
  'Transpose',
  'Reshape',
  'Identity',
  'Squeeze',
  'Unsqueeze',
  'Slice',
  'Gather',
]);

/** What dequantizes the values in the end, and the nodes that only move them before; null: something else reads them. */
function endsOf({ subject }: RepairDraft, from: OnnxNode): { movers: OnnxNode[]; ends: OnnxNode[] } | null {
  const [movers, ends, open]: OnnxNode[][] = [[], [], [from]];
  for (let at = open!.pop(); at; at = open!.pop()) {
    const [output = ''] = at.outputs;
    if (subject.isOutput(at, output) || graphPathOf(at.id) !== graphPathOf(from.id)) return null;
    if (at.outputs.length > 1) return null;
    for (const reader of subject.readers(at, output)) {
      const op = subject.op(reader);
      if (op === 'DequantizeLinear') ends!.push(reader);
      else if (moves.has(op) && reader.inputs.lastIndexOf(output) === 0) {
        movers!.push(reader);
        open!.push(reader);
      } else return null;
    }
  }
  return { movers: movers!, ends: ends! };
}

/** The shape of one value for all, or of one for each channel. */
function alongAxis({ values, shape }: Constant, axis: number, rank: number): number[] {
  if (values.length === 1) return [];
  return Array.from({ length: rank }, (_, i) => (i === axisOf(axis, rank) ? (shape[0] ?? 1) : 1));
}
