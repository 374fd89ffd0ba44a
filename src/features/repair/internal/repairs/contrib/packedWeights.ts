import { intAttribute, type OnnxNode } from '../../../../../kernel/read/onnx/onnxModel.ts';
import type { RepairDraft } from '../../draft.ts';
import type { Repair } from '../../repair.ts';
import type { Constant } from '../../../subject.ts';

const rejected = 'MatMulNBits of com.microsoft, as ONNX Runtime stores the weights of language models.';
const versions = 'all; TensorRT-RTX 1.7 takes it with FP16 activations';
const operator = 'com.microsoft:MatMulNBits';

export const packedWeights: Repair = {
  id: 'packed-weights',
  title: 'Write MatMulNBits as MatMul with its dequantized weights',
  class: 'rounding',
  rejected,
  proof:
    'Each weight becomes (q − zero point) · scale, as MatMulNBits computes it; the sums are in another order. The weights take as many bits as the activations. Reordered columns are refused.',
  versions,
  issues: [],
  apply: (draft) => unpackAll(draft, (level) => level !== 4),
};

export const packedWeightsFloat: Repair = {
  id: 'packed-weights-float',
  title: 'Write MatMulNBits with 8-bit activations as MatMul with its dequantized weights',
  class: 'float',
  rejected,
  proof: 'The weights are the same, but the activations are no longer rounded to 8 bits, as accuracy_level 4 allows.',
  versions,
  issues: [],
  apply: (draft) => unpackAll(draft, (level) => level === 4),
};

async function unpackAll(draft: RepairDraft, isMeant: (level: number) => boolean): Promise<void> {
  for (const node of draft.nodes(operator)) {
    if (!isMeant(intAttribute(node, 'accuracy_level') ?? 0)) continue;
    // oxlint-disable-next-line no-await-in-loop -- one weight in memory at a time
    const reason = await unpack(draft, node);
    if (reason !== null) draft.refuse(node, reason);
  }
}

/** How the weights of a node are packed. */
interface Packing {
  rows: number;
  columns: number;
  bits: number;
  block: number;
}

async function unpack(draft: RepairDraft, node: OnnxNode): Promise<string | null> {
  const { subject } = draft;
  const [input = '', weightName, scaleName, zeroName = '', order = '', bias = ''] = node.inputs;
  const [columns, rows] = [intAttribute(node, 'K') ?? 0, intAttribute(node, 'N') ?? 0];
  const [bits, block] = [intAttribute(node, 'bits') ?? 4, intAttribute(node, 'block_size') ?? 0];
  if (order !== '') return 'its columns are reordered';
  if (![2, 4, 8].includes(bits) || block <= 0) return `its weights have ${bits} bits`;
  const [weight, scale, zero] = [
    await subject.constant(node, weightName),
    await subject.constant(node, scaleName),
    await subject.constant(node, zeroName),
  ];
  if (!weight || !scale || (zeroName !== '' && !zero)) return 'its weights are not constant';
  const floats = dequantized({ rows, columns, bits, block }, weight, scale, zero);
  if (!floats) return 'its weights do not have the size that K, N and block_size say';
  const at = draft.at(node);
  const last = bias === '' ? { outputs: node.outputs } : {};
  const product = at.op('MatMul', [input, at.constant(scale.type, [columns, rows], floats)], last);
  at.keepName();
  if (bias !== '') at.op('Add', [product, bias], { outputs: node.outputs });
  at.done();
  return null;
}

/** The weights as [K, N]; null: something has another size. */
function dequantized(
  { rows, columns, bits, block }: Packing,
  weight: Constant,
  scale: Constant,
  zero: Constant | null,
): Float64Array | null {
  const blocks = Math.ceil(columns / block);
  const perByte = 8 / bits;
  const blockBytes = Math.ceil(block / perByte);
  const zeroBytes = Math.ceil(blocks / perByte);
  const isPacked = zero?.type === 'uint8';
  if (weight.values.length !== rows * blocks * blockBytes || scale.values.length !== rows * blocks) return null;
  if (zero && zero.values.length !== rows * (isPacked ? zeroBytes : blocks)) return null;
  const part = (bytes: Float64Array, first: number, index: number): number =>
    (bytes[first + Math.floor(index / perByte)]! >> ((index % perByte) * bits)) & (2 ** bits - 1);
  const floats = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row++)
    for (let at = 0; at < blocks; at++) {
      const place = row * blocks + at;
      const shift =
        zero === null ? 2 ** (bits - 1) : isPacked ? part(zero.values, row * zeroBytes, at) : zero.values[place]!;
      for (let inner = 0; inner < block && at * block + inner < columns; inner++)
        floats[(at * block + inner) * rows + row] =
          (part(weight.values, place * blockBytes, inner) - shift) * scale.values[place]!;
    }
  return floats;
}
