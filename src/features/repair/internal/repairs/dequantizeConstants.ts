import { graphPathOf } from '../../../../kernel/network/modelGraph.ts';
import { dataTypeName, intAttribute, type OnnxNode } from '../../../../kernel/read/onnx/onnxModel.ts';
import { axisOf } from '../../../../kernel/network/outputTypes.ts';
import type { RepairDraft } from '../draft.ts';
import type { Repair } from '../repair.ts';
import type { Constant } from '../../subject.ts';

/** Operators that only move elements: what they read may as well be dequantized before. */
const moves = new Set(['Gather', 'Transpose', 'Reshape', 'Identity', 'Squeeze', 'Unsqueeze', 'Slice', 'Flatten']);

export const dequantizeConstants: Repair = {
  id: 'dequantize-constants',
  title: 'Store quantized weights as the floats that DequantizeLinear makes of them',
  class: 'exact',
  rejected:
    'DequantizeLinear of a constant with a zero point that is not 0, of UINT8, INT32 or of what Gather takes from it; Cast of 8-bit constants, or of what Gather takes from them.',
  proof:
    'Each weight becomes (q − zero point) · scale, rounded once to FP32, as DequantizeLinear computes it. Gather and other operators that only move elements move the floats instead.',
  versions: 'TensorRT 8.6 to 11.2, TensorRT-RTX 1.7',
  issues: [
    'NVIDIA/TensorRT#3963',
    'NVIDIA/TensorRT#4698',
    'NVIDIA/TensorRT#2774',
    'microsoft/onnxruntime#21169',
    'onnx/onnx-tensorrt#560',
  ],
  operators: ['DequantizeLinear', 'Gather', 'Cast'],
  apply: async (draft) => {
    const made = new Map<string, string>();
    // oxlint-disable-next-line no-await-in-loop -- one weight in memory at a time
    for (const node of draft.nodes('DequantizeLinear', 'com.microsoft:DequantizeLinear'))
      await dequantize(draft, node, made);
    // oxlint-disable-next-line no-await-in-loop
    for (const node of draft.nodes('Cast')) await convert(draft, node, made);
  },
};

/** A DequantizeLinear with the constant that it reads, directly or through nodes that only move elements. */
interface Found {
  node: OnnxNode;
  chain: OnnxNode[];
  /** Name of the constant, and the node that reads it. */
  source: string;
  reader: OnnxNode;
}

function find(draft: RepairDraft, node: OnnxNode): Found | null {
  const { subject } = draft;
  const chain: OnnxNode[] = [];
  let [source, reader] = [node.inputs[0]!, node];
  for (let mover = subject.producer(reader, source); mover; mover = subject.producer(reader, source)) {
    if (!moves.has(subject.op(mover))) break;
    if (graphPathOf(mover.id) !== graphPathOf(node.id)) return null;
    chain.unshift(mover);
    [source, reader] = [mover.inputs[0]!, mover];
  }
  return subject.isConstant(reader, source) ? { node, chain, source, reader } : null;
}

async function dequantize(draft: RepairDraft, node: OnnxNode, made: Map<string, string>): Promise<void> {
  const { subject } = draft;
  const found = find(draft, node);
  const [, scaleName = '', zeroName = ''] = node.inputs;
  const [scale, zero] = [await subject.constant(node, scaleName), await subject.constant(node, zeroName)];
  if (!found || !scale || (zeroName !== '' && !zero) || isAccepted(draft, found, zero)) return;
  if (found.chain.length > 0 && scale.values.length !== 1)
    return draft.refuse(node, 'its scales are per channel, and the weight is moved before');
  const weight = await subject.constant(found.reader, found.source);
  if (!weight) return draft.refuse(node, 'its weight cannot be read');
  const axis = intAttribute(node, 'axis') ?? 1;
  const block = intAttribute(node, 'block_size') ?? 0;
  const floats = block > 0 ? inBlocks(weight, scale, zero, { axis, block }) : dequantized(weight, scale, zero, axis);
  if (!floats) return draft.refuse(node, 'its scales do not fit its weight');
  const key = [found.source, scaleName, zeroName, axis, block].join('\n');
  const floated = made.get(key) ?? draft.at(node).constant(scale.type, weight.shape, floats);
  made.set(key, floated);
  write(draft, found, floated);
}

/** Where the quantization is written out as Cast, Sub and Mul, the numbers that Cast makes are stored. */
async function convert(draft: RepairDraft, node: OnnxNode, made: Map<string, string>): Promise<void> {
  const found = find(draft, node);
  const to = dataTypeName(intAttribute(node, 'to') ?? 0);
  const from = found && draft.subject.constantTensor(found.reader, found.source)?.type;
  if (!found || !/^u?int8$/.test(from ?? '') || !/^(?:float|float16|int32|int64)$/.test(to)) return;
  const weight = await draft.subject.constant(found.reader, found.source);
  if (!weight) return draft.refuse(node, 'its weight cannot be read');
  const key = `${found.source}\n${to}`;
  const stored = made.get(key) ?? draft.at(node).constant(to, weight.shape, weight.values);
  made.set(key, stored);
  write(draft, found, stored);
}

/** TensorRT takes signed weights around 0 as they are. */
function isAccepted({ subject }: RepairDraft, { chain, source, reader }: Found, zero: Constant | null): boolean {
  const type = subject.constantTensor(reader, source)?.type ?? '';
  const symmetric = !zero || zero.values.every((value) => value === 0);
  return symmetric && (type.startsWith('float') || (chain.length === 0 && (type === 'int8' || type === 'int4')));
}

function write(draft: RepairDraft, { node, chain }: Found, floated: string): void {
  const place = draft.at(node);
  let tensor = floated;
  for (const [index, mover] of chain.entries()) {
    const last = index === chain.length - 1;
    const inputs = [tensor, ...mover.inputs.slice(1)];
    tensor = place.op(mover.op, inputs, { like: mover, ...(last && { outputs: node.outputs }) });
  }
  // Readers of what DequantizeLinear wrote may be subgraphs, so a node writes it under its name.
  if (chain.length === 0) place.op('Identity', [floated], { outputs: node.outputs });
  place.done();
}

/** (q − zero) · scale in FP32; null: the scales are per channel and don't fit. */
function dequantized(weight: Constant, scale: Constant, zero: Constant | null, along: number): Float32Array | null {
  const perChannel = scale.values.length > 1;
  const axis = axisOf(along, weight.shape.length);
  if (perChannel && (axis === undefined || weight.shape[axis] !== scale.values.length)) return null;
  const inner = perChannel ? weight.shape.slice(axis! + 1).reduce((size, dim) => size * dim, 1) : 1;
  const count = scale.values.length;
  const zeros = zero?.values;
  const result = new Float32Array(weight.values.length);
  for (let index = 0; index < result.length; index++) {
    const channel = perChannel ? Math.floor(index / inner) % count : 0;
    const shift = zeros ? zeros[zeros.length > 1 ? channel : 0]! : 0;
    // The difference is rounded to FP32, as INT32 values may need it, then the product.
    result[index] = Math.fround(weight.values[index]! - shift) * scale.values[channel]!;
  }
  return result;
}

/** The same with one scale and zero point for each `block` elements along the axis; null: they don't fit. */
function inBlocks(
  weight: Constant,
  scale: Constant,
  zero: Constant | null,
  { axis: along, block }: { axis: number; block: number },
): Float32Array | null {
  const axis = axisOf(along, weight.shape.length);
  if (axis === undefined) return null;
  const rows = weight.shape[axis]!;
  const inner = weight.shape.slice(axis + 1).reduce((size, dim) => size * dim, 1);
  const blocks = Math.ceil(rows / block);
  const count = (weight.values.length / Math.max(1, rows)) * blocks;
  if (scale.values.length !== count || (zero && zero.values.length !== count)) return null;
  return Float32Array.from(weight.values, (value, index) => {
    const outer = Math.floor(index / (rows * inner));
    const at = (outer * blocks + Math.floor((Math.floor(index / inner) % rows) / block)) * inner + (index % inner);
    return (value - (zero?.values[at] ?? 0)) * scale.values[at]!;
  });
}
