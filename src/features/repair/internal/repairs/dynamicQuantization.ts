import { graphPathOf } from '../../../../kernel/network/modelGraph.ts';
import type { OnnxNode } from '../../../../kernel/read/onnx/onnxModel.ts';
import type { RepairDraft } from '../draft.ts';
import type { NewPlace } from '../place.ts';
import type { Repair } from '../repair.ts';
import type { Constant } from '../../subject.ts';
import { centeredWeights, exactLimit, largestSum } from './integerSums.ts';

const issues = ['NVIDIA/TensorRT#3963', 'NVIDIA/TensorRT#4698', 'microsoft/onnxruntime#21169'];
const operators = ['DynamicQuantizeLinear', 'MatMulInteger', 'ConvInteger'];
const rejected =
  'DynamicQuantizeLinear, MatMulInteger and ConvInteger, as dynamic quantization in ONNX Runtime writes them.';

export const dynamicQuantizationExact: Repair = {
  id: 'dynamic-quantization-exact',
  title: 'Write dynamic quantization in float operators',
  class: 'exact',
  rejected,
  proof:
    'The integers are computed as FP32 numbers, which is exact while sums stay below 2^24. Where the weights do not guarantee that, the sum is split into parts that do, which are added as INT32. A tensor of zeros has scale 1, as in ONNX.',
  versions: 'all',
  issues,
  operators,
  apply: async (draft) => {
    const centered = new Map<string, { tensor: string; path: string; zero: string }>();
    for (const node of draft.nodes('DynamicQuantizeLinear')) {
      if (!readersFit(draft, node)) continue;
      const at = draft.at(node);
      centered.set(node.outputs[0]!, {
        tensor: quantized(at, node),
        path: graphPathOf(node.id),
        zero: node.outputs[2]!,
      });
      at.done();
    }
    for (const node of draft.nodes('DequantizeLinear')) {
      const a = centered.get(node.inputs[0]!);
      if (!a) continue;
      const at = draft.at(node);
      at.op('Mul', [a.tensor, node.inputs[1]!], { outputs: node.outputs });
      at.done();
    }
    for (const node of draft.nodes('MatMulInteger', 'ConvInteger')) {
      const a = centered.get(node.inputs[0]!);
      if (!a) continue;
      // oxlint-disable-next-line no-await-in-loop -- one weight in memory at a time
      await multiply(draft, node, a.tensor, centered.get(node.inputs[1]!)?.tensor);
    }
  },
};

export const integerProducts: Repair = {
  id: 'integer-products',
  title: 'Write MatMulInteger and ConvInteger of 8-bit tensors in FP32',
  class: 'exact',
  rejected: 'MatMulInteger and ConvInteger of integers that no DynamicQuantizeLinear makes, as inputs of the model.',
  proof:
    'The integers minus their zero points are exact in FP32, and so are their sums below 2^24. Where the sizes do not guarantee that, the sum is split into parts that do.',
  versions: 'all',
  issues,
  operators: ['MatMulInteger', 'ConvInteger'],
  apply: async (draft) => {
    const { subject } = draft;
    for (const node of draft.nodes('MatMulInteger', 'ConvInteger')) {
      const [a = '', b = '', aZero = '', bZero = ''] = node.inputs;
      const makers = [a, b].map((name) => subject.producer(node, name));
      if (makers.some((maker) => maker?.op.endsWith('QuantizeLinear'))) continue;
      const isOpen = !subject.isConstant(node, b);
      const isSingle = (name: string): boolean => name === '' || /^1?$/.test(subject.shape(node, name)?.join() ?? '?');
      if (!isSingle(aZero) || (isOpen && !isSingle(bZero))) {
        draft.refuse(node, 'its zero points are not single numbers');
        continue;
      }
      const at = draft.at(node);
      // oxlint-disable-next-line no-await-in-loop -- one weight in memory at a time
      const first = await centeredFloat(at, a, aZero);
      // oxlint-disable-next-line no-await-in-loop
      await multiply(draft, node, first, isOpen ? await centeredFloat(at, b, bZero) : undefined, at);
    }
  },
};

/** Integers minus their zero point, as floats. */
async function centeredFloat(at: NewPlace, name: string, zero: string): Promise<string> {
  const float = at.cast(name, 'float');
  const known = await at.subject.constant(at.node, zero);
  if (zero === '' || known?.values[0] === 0) return float;
  return at.op('Sub', [float, known ? at.scalar('float', known.values[0]!) : at.cast(zero, 'float')]);
}

/** Everything that reads the integers must be rewritten with them. */
function readersFit(draft: RepairDraft, node: OnnxNode): boolean {
  const { subject } = draft;
  const [integers = '', , zero = ''] = node.outputs;
  if (subject.isOutput(node, integers) || (zero !== '' && subject.isOutput(node, zero))) return false;
  const readers = [...subject.readers(node, integers), ...(zero === '' ? [] : subject.readers(node, zero))];
  const fits = readers.every((reader) => {
    if (subject.op(reader) === 'DequantizeLinear') return reader.inputs[0] === integers && reader.inputs[2] === zero;
    if (!['MatMulInteger', 'ConvInteger'].includes(subject.op(reader))) return false;
    const [a, b, aZero = '', bZero = ''] = reader.inputs;
    const other = b === integers ? null : subject.producer(reader, b!);
    const known =
      subject.isConstant(reader, b!) || b === integers || (other && subject.op(other) === 'DynamicQuantizeLinear');
    const isFirst =
      a === integers ? aZero === zero : subject.op(subject.producer(reader, a!) ?? reader) === 'DynamicQuantizeLinear';
    const isSecond = b !== integers || bZero === zero;
    return Boolean(known) && isFirst && isSecond;
  });
  if (!fits)
    draft.refuse(
      node,
      'something other than MatMulInteger, ConvInteger or DequantizeLinear with its zero point reads its integers',
    );
  return fits;
}

/** The nodes of DynamicQuantizeLinear. @returns the integers minus their zero point, as floats */
function quantized(at: NewPlace, { inputs: [input = ''], outputs: [, scaleName = ''] }: OnnxNode): string {
  const number = (value: number): string => at.scalar('float', value);
  const low = at.op('Min', [at.reduce('ReduceMin', input, null, false), number(0)]);
  const high = at.op('Max', [at.reduce('ReduceMax', input, null, false), number(0)]);
  const range = at.op('Sub', [high, low]);
  const scale = at.op('Where', [at.op('Equal', [range, number(0)]), number(1), at.op('Div', [range, number(255)])], {
    outputs: [scaleName],
  });
  const zero = at.op('Round', [at.clip(at.op('Div', [at.op('Sub', [number(0), low]), scale]), 'float', 0, 255)]);
  const rounded = at.op('Add', [at.op('Round', [at.op('Div', [input, scale])]), zero]);
  return at.op('Sub', [at.clip(rounded, 'float', 0, 255), zero]);
}

async function multiply(
  draft: RepairDraft,
  node: OnnxNode,
  a: string,
  other: string | undefined,
  at: NewPlace = draft.at(node),
): Promise<void> {
  const { subject } = draft;
  const isConv = node.op === 'ConvInteger';
  const weight = other === undefined ? await subject.constant(node, node.inputs[1]) : null;
  const zero = other === undefined ? await subject.constant(node, node.inputs[3]) : null;
  if (other !== undefined && isConv) {
    const sizes = subject.shape(node, node.inputs[1]!)?.slice(1) ?? [null];
    const length = sizes.reduce<number>((product, size) => product * (typeof size === 'number' ? size : Infinity), 1);
    if (255 * 255 * length >= exactLimit) return draft.refuse(node, 'its sums may pass 2^24');
    return convolved(at, [a, other]);
  }
  if (other !== undefined) {
    const [inner] = subject.shape(node, node.inputs[0]!)?.slice(-1) ?? [];
    if (typeof inner !== 'number') return draft.refuse(node, 'the length of its sums is not known');
    return product(draft, at, { a, b: other, length: inner, most: 255 * 255 * inner });
  }
  if (!weight) return draft.refuse(node, 'its weight cannot be read');
  const centered = centeredWeights(weight, zero, isConv);
  if (!centered) return draft.refuse(node, 'its zero point does not fit its weight');
  const most = 255 * largestSum(centered, weight.shape, isConv);
  if (isConv) {
    if (most >= exactLimit) return draft.refuse(node, 'its sums may pass 2^24');
    return convolved(at, [a, at.constant('float', weight.shape, centered)]);
  }
  const length = weight.shape.at(-2) ?? weight.shape[0]!;
  product(draft, at, { a, b: at.constant('float', weight.shape, centered), length, most });
}

function convolved(at: NewPlace, inputs: readonly string[]): void {
  const sum = at.op('Conv', inputs, { like: at.node, domain: '' });
  at.keepName();
  at.cast(sum, 'int32', at.node.outputs);
  at.done();
}

/** A matrix product of integers in FP32, in as many parts as exactness needs. */
function product(
  draft: RepairDraft,
  at: NewPlace,
  { a, b, length, most }: { a: string; b: string; length: number; most: number },
): void {
  const { outputs } = at.node;
  const parts = Math.ceil(most / (exactLimit - 1));
  if (parts <= 1) {
    const sum = at.op('MatMul', [a, b]);
    at.keepName();
    at.cast(sum, 'int32', outputs);
    return at.done();
  }
  if (parts > 16) return draft.refuse(at.node, 'its sums are too long to be split');
  const size = Math.ceil(length / parts);
  const sizes = Array.from({ length: Math.ceil(length / size) }, (_, i) => Math.min(size, length - i * size));
  const rank = draft.subject.rank(at.node, at.node.inputs[1]!);
  const [left, right] = [sizes.map(() => at.name()), sizes.map(() => at.name())];
  at.split(a, sizes, -1, left);
  at.split(b, sizes, rank === 1 ? -1 : -2, right);
  let sum = '';
  for (const [index] of sizes.entries()) {
    const part = at.cast(at.op('MatMul', [left[index]!, right[index]!]), 'int32');
    const last = index === sizes.length - 1;
    sum = index === 0 ? part : at.op('Add', [sum, part], last ? { outputs } : {});
  }
  at.done(`in ${sizes.length} parts`);
}

export const dynamicQuantizationFloat: Repair = {
  id: 'dynamic-quantization-float',
  title: 'Compute dynamically quantized products in floating point',
  class: 'float',
  rejected,
  proof:
    'The weights are dequantized, and the activations are no longer rounded to 8 bits. The outputs are compared with those of the original, next to what a rounding step does to the original itself.',
  versions: 'all',
  issues,
  operators,
  apply: async (draft) => {
    // oxlint-disable-next-line no-await-in-loop
    for (const node of draft.nodes('MatMulInteger', 'ConvInteger')) await inFloat(draft, node);
  },
};

/** MatMulInteger, Cast, Mul by (scale of the activations · scale of the weights). */
async function inFloat(draft: RepairDraft, node: OnnxNode): Promise<void> {
  const { subject } = draft;
  const quantizer = subject.producer(node, node.inputs[0]!);
  const pattern = scaled(draft, node);
  if (!quantizer || subject.op(quantizer) !== 'DynamicQuantizeLinear' || !pattern) return;
  const { cast, mul, scales } = pattern;
  const second = subject.producer(node, node.inputs[1]!);
  const at = draft.at(node);
  const write = (inputs: string[]): void => {
    at.op(node.op === 'ConvInteger' ? 'Conv' : 'MatMul', inputs, { outputs: mul.outputs, like: node, domain: '' });
    at.done();
    for (const one of [cast, mul]) draft.remove(one);
  };
  if (second && subject.op(second) === 'DynamicQuantizeLinear') {
    if (!scales.inputs.includes(quantizer.outputs[1]!) || !scales.inputs.includes(second.outputs[1]!)) return;
    return write([quantizer.inputs[0]!, second.inputs[0]!]);
  }
  const own = scales.inputs.find((name) => name !== quantizer.outputs[1]);
  const [weight, zero, scale] = await Promise.all(
    [node.inputs[1], node.inputs[3], own].map((name) => subject.constant(node, name)),
  );
  if (!weight || !scale || !scales.inputs.includes(quantizer.outputs[1]!)) return;
  const isConv = node.op === 'ConvInteger';
  const centered = centeredWeights(weight, zero ?? null, isConv);
  if (!centered) return;
  const channels = isConv ? weight.shape[0]! : weight.shape.at(-1)!;
  const inner = isConv ? centered.length / channels : 1;
  const count = scale.values.length;
  if (count !== 1 && count !== channels) return;
  const floats = centered.map((value, index) =>
    Math.fround(value * scale.values[count === 1 ? 0 : isConv ? Math.floor(index / inner) : index % channels]!),
  );
  write([quantizer.inputs[0]!, at.constant('float', weight.shape, floats)]);
}

function scaled(draft: RepairDraft, node: OnnxNode): { cast: OnnxNode; mul: OnnxNode; scales: OnnxNode } | null {
  const { subject } = draft;
  const only = (of: OnnxNode, op: string): OnnxNode | null => {
    const readers = subject.readers(of, of.outputs[0]!);
    const [reader] = readers;
    return readers.length === 1 && reader && subject.op(reader) === op && !subject.isOutput(of, of.outputs[0]!)
      ? reader
      : null;
  };
  const cast = only(node, 'Cast');
  const mul = cast && only(cast, 'Mul');
  const other = mul?.inputs.find((name) => name !== cast!.outputs[0]);
  const scales = mul && other !== undefined ? subject.producer(mul, other) : null;
  return cast && mul && scales && subject.op(scales) === 'Mul' ? { cast, mul, scales } : null;
}

export const dynamicQuantizeLstm: Repair = {
  id: 'dynamic-quantize-lstm',
  title: 'Compute a dynamically quantized LSTM in floating point',
  class: 'float',
  rejected: 'DynamicQuantizeLSTM of ONNX Runtime.',
  proof:
    'The weights are dequantized, and the activations are no longer rounded to 8 bits, so outputs differ by some percent.',
  versions: 'all',
  issues: ['NVIDIA/TensorRT#4698'],
  apply: async (draft) => {
    // oxlint-disable-next-line no-await-in-loop
    for (const node of draft.nodes('com.microsoft:DynamicQuantizeLSTM')) await lstm(draft, node);
  },
};

async function lstm(draft: RepairDraft, node: OnnxNode): Promise<void> {
  const at = draft.at(node);
  const weights: string[] = [];
  for (const [weightAt, scaleAt] of [
    [1, 8],
    [2, 10],
  ] as const) {
    const read = (index: number) => draft.subject.constant(node, node.inputs[index]);
    // oxlint-disable-next-line no-await-in-loop
    const [weight, scale, zero] = await Promise.all([read(weightAt), read(scaleAt), read(scaleAt + 1)]);
    if (!weight || !scale || !zero) return draft.refuse(node, 'its weights are not constant');
    const [directions = 1, rows = 1, columns = 1] = weight.shape;
    const floats = new Float64Array(weight.values.length);
    const of = ({ values }: Constant, direction: number, column: number): number =>
      values[values.length === 1 ? 0 : values.length === directions ? direction : direction * columns + column]!;
    // Stored as [directions, input, 4·hidden], LSTM reads [directions, 4·hidden, input].
    for (let d = 0; d < directions; d++)
      for (let row = 0; row < rows; row++)
        for (let column = 0; column < columns; column++) {
          const value = weight.values[(d * rows + row) * columns + column]!;
          floats[(d * columns + column) * rows + row] = Math.fround(
            (value - of(zero, d, column)) * of(scale, d, column),
          );
        }
    weights.push(at.constant('float', [directions, columns, rows], floats));
  }
  const inputs = [node.inputs[0]!, ...weights, ...node.inputs.slice(3, 8)];
  while (inputs.at(-1) === '') inputs.pop();
  at.op('LSTM', inputs, { outputs: node.outputs, like: node, domain: '' });
  at.done();
}
