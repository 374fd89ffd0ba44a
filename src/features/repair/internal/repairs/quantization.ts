import { intAttribute, type OnnxNode } from '../../../../kernel/read/onnx/onnxModel.ts';
import { graphPathOf } from '../../../../kernel/network/modelGraph.ts';
import { axisOf } from '../../../../kernel/network/outputTypes.ts';
import type { RepairDraft } from '../draft.ts';
import type { NewPlace } from '../place.ts';
import type { Repair } from '../repair.ts';
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
  rejected: 'QuantizeLinear of activations with a zero point that is not 0, or to another type than INT8.',
  proof:
    'Div, Round (to even), Add, Clip, Sub and Mul in FP32 do what the pair does; integers up to 255 are exact in FP32. Only where the quantized values go to DequantizeLinear, at most through operators that move them, or out of the model.',
  versions: 'TensorRT 8.6 to 11.2, TensorRT-RTX 1.7',
  issues,
  operators: ['QuantizeLinear', 'DequantizeLinear'],
  apply: async (draft) => {
    for (const node of draft.nodes('QuantizeLinear', 'com.microsoft:QuantizeLinear'))
      // Round is new there, and Clip takes its bounds as inputs.
      // oxlint-disable-next-line no-await-in-loop
      if (draft.subject.opset >= 11) await inFloat(draft, node);
      else if (draft.blocked.has(node.id))
        draft.refuse(node, 'the operators that it needs exist since operator set 11');
  },
};

export const dequantizeInFloat: Repair = {
  id: 'dequantize-in-float',
  title: 'Write DequantizeLinear of UINT8 inputs or of computed INT32 as Sub and Mul',
  class: 'exact',
  rejected:
    'DequantizeLinear of a UINT8 input, or with a zero point that is not 0, which no QuantizeLinear made, and of INT32 that is computed.',
  proof:
    'Integers of 8 bits and their differences are exact in floating point, and those of INT32 are subtracted as integers; the product is rounded as there.',
  versions: 'TensorRT 8.6 to 11.2, TensorRT-RTX 1.7',
  issues,
  operators: ['DequantizeLinear'],
  apply: (draft) => {
    const { subject } = draft;
    for (const node of draft.nodes('DequantizeLinear')) {
      const [input = '', scale = '', zero = ''] = node.inputs;
      const type = subject.type(node, input);
      const scales = subject.type(node, scale);
      const maker = subject.producer(node, input);
      const isWide = type === 'int32';
      if (!draft.blocked.has(node.id) || !/^(?:u?int8|int32)$/.test(type ?? '') || scales === null) continue;
      const isOther = !isWide && maker !== null && subject.op(maker) !== 'Cast';
      if (subject.isConstant(node, input) || isOther) continue;
      const rank = subject.rank(node, input);
      const isScalar = [scale, zero].every((name) => name === '' || subject.rank(node, name) === 0);
      const axis = axisOf(intAttribute(node, 'axis') ?? 1, rank ?? 0);
      if (intAttribute(node, 'block_size') || (!isScalar && (rank === null || axis === undefined))) {
        draft.refuse(node, 'it has scales for blocks, or the rank of its input is not known');
        continue;
      }
      const shape = isScalar ? null : Array.from({ length: rank! }, (_, i) => (i === axis ? -1 : 1));
      writeDequantized(draft.at(node), isWide, scales, shape);
    }
  },
};

/** @param shape that of scales and zero points for each channel; null: they are one each */
function writeDequantized(at: NewPlace, isWide: boolean, type: string, shape: number[] | null): void {
  const [input = '', scale = '', zero = ''] = at.node.inputs;
  const along = (name: string): string => (shape === null ? name : at.reshape(name, shape));
  const own = isWide ? input : at.cast(input, type);
  const centered = zero === '' ? own : at.op('Sub', [own, along(isWide ? zero : at.cast(zero, type))]);
  at.op('Mul', [isWide ? at.cast(centered, type) : centered, along(scale)], { outputs: at.node.outputs });
  at.done();
}

const ranges: Partial<Record<string, [number, number]>> = {
  uint8: [0, 255],
  int8: [-128, 127],
  uint16: [0, 65535],
  int16: [-32768, 32767],
};

/** What TensorRT takes as it is. */
const isCentered = ({ type, values }: Constant): boolean => type === 'int8' && values.every((value) => value === 0);

async function inFloat(draft: RepairDraft, node: OnnxNode): Promise<void> {
  const { subject } = draft;
  const zero = await subject.constant(node, node.inputs[2]);
  const range = zero && ranges[zero.type];
  if (!zero || !range || isCentered(zero)) return;
  const scale = await subject.constant(node, node.inputs[1]);
  if (scale?.type !== 'float' || !subject.isUsed(node, node.outputs[0]!)) return;
  const isGiven = subject.isOutput(node, node.outputs[0]!);
  const found = endsOf(draft, node, isGiven);
  if (!found) return draft.refuse(node, 'something other than DequantizeLinear reads its quantized values');
  const rank = subject.rank(node, node.inputs[0]!);
  if (scale.values.length > 1 && rank === null) return draft.refuse(node, 'the rank of its input is not known');
  const ends = await Promise.all(found.ends.map((end) => readEnd(draft, end)));
  if (!ends.every((end) => end !== null))
    return draft.refuse(node, 'the scale of its DequantizeLinear is not constant');
  if (found.movers.length > 0 && ends.some((end) => end.scale.values.length > 1))
    return draft.refuse(node, 'its scales are per channel, and the values are moved before');
  for (const moved of found.movers.flatMap(({ outputs }) => outputs))
    if (subject.model.graph.values.some(({ name }) => name === moved)) draft.undeclare('values', moved);
  if (!(await padInFloat(draft, found.movers)))
    return draft.refuse(node, 'what its values are padded with is not constant');
  const quantized = quantize(draft.at(node), { scale, zero, range, rank, isGiven });
  for (const end of ends) {
    const back = draft.at(end.node);
    const input = isGiven ? quantized : end.node.inputs[0]!;
    const shifted = end.zero ? back.op('Sub', [input, spread(back, end.zero, rank)]) : input;
    back.op('Mul', [shifted, spread(back, end.scale, rank)], { outputs: end.node.outputs });
    back.done();
  }
}

interface Quantizing {
  scale: Constant;
  zero: Constant;
  range: [number, number];
  rank: number | null;
  /** The model gives its quantized values, which are integers then. */
  isGiven: boolean;
}

/** The nodes of a QuantizeLinear. @returns the quantized values as floats */
function quantize(at: NewPlace, { scale, zero, range, rank, isGiven }: Quantizing): string {
  const { outputs } = at.node;
  const rounded = at.op('Round', [at.op('Div', [at.node.inputs[0]!, spread(at, scale, rank)])]);
  const sum = at.op('Add', [rounded, spread(at, zero, rank)]);
  const clipped = at.clip(sum, 'float', ...range, isGiven ? undefined : outputs);
  if (isGiven) at.cast(clipped, zero.type, outputs);
  at.done();
  return clipped;
}

/** Lets Pad fill up with floats. @returns false: what it fills up with is not constant, and nothing was changed */
async function padInFloat(draft: RepairDraft, movers: readonly OnnxNode[]): Promise<boolean> {
  const pads = movers.filter(({ op, inputs }) => op === 'Pad' && inputs[2]);
  const fillings = await Promise.all(pads.map((pad) => draft.subject.constant(pad, pad.inputs[2])));
  if (fillings.includes(null)) return false;
  for (const [index, pad] of pads.entries()) {
    const at = draft.at(pad);
    const filling = at.constant('float', [], fillings[index]!.values);
    at.op('Pad', pad.inputs.toSpliced(2, 1, filling), { outputs: pad.outputs, like: pad });
    at.done();
  }
  return true;
}

/** The scale and zero point of a DequantizeLinear; null: not constant. */
async function readEnd(
  { subject }: RepairDraft,
  node: OnnxNode,
): Promise<{ node: OnnxNode; scale: Constant; zero: Constant | null } | null> {
  const [scale, zero] = [await subject.constant(node, node.inputs[1]), await subject.constant(node, node.inputs[2])];
  return scale && (zero || !node.inputs[2]) ? { node, scale, zero } : null;
}

/** A scale or zero point in the shape in which it meets the tensor. */
const spread = (at: NewPlace, constant: Constant, rank: number | null): string =>
  at.constant('float', alongAxis(constant, intAttribute(at.node, 'axis') ?? 1, rank ?? 1), constant.values);

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
  'Split',
  'Gather',
  'Pad',
]);

/** What dequantizes the values in the end, and the nodes that only move them before; null: something else reads them. */
function endsOf(draft: RepairDraft, from: OnnxNode, isGiven: boolean): { movers: OnnxNode[]; ends: OnnxNode[] } | null {
  const { subject } = draft;
  const movers: OnnxNode[] = [];
  const ends: OnnxNode[] = [];
  const open = [from];
  for (let at = open.pop(); at; at = open.pop()) {
    if (graphPathOf(at.id) !== graphPathOf(from.id) || (at.outputs.length > 1 && at.op !== 'Split')) return null;
    for (const output of at.outputs) {
      if (subject.isOutput(at, output) && !isGiven) return null;
      for (const reader of subject.readers(at, output)) {
        const op = subject.op(reader);
        if (draft.isReplaced(reader)) return null;
        if (op === 'DequantizeLinear' || op === 'com.microsoft:DequantizeLinear') ends.push(reader);
        else if (!isGiven && moves.has(op) && reader.inputs.lastIndexOf(output) === 0) {
          movers.push(reader);
          open.push(reader);
        } else return null;
      }
    }
  }
  return { movers, ends };
}

/** The shape of one value for all, or of one for each channel. */
function alongAxis({ values, shape }: Constant, axis: number, rank: number): number[] {
  if (values.length === 1) return [];
  return Array.from({ length: rank }, (_, i) => (i === axisOf(axis, rank) ? (shape[0] ?? 1) : 1));
}
