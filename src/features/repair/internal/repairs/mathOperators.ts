import { intAttribute, type OnnxNode, textAttribute } from '../../../../kernel/read/onnx/onnxModel.ts';
import type { RepairDraft } from '../draft.ts';
import type { Repair } from '../repair.ts';

const versions = 'all';

/** Of larger matrices, the sums have thousands of terms. */
const largestMatrix = 8;

export const expandDeterminant: Repair = {
  id: 'expand-determinant',
  title: `Write Det of matrices up to ${largestMatrix}×${largestMatrix} as sums of products`,
  class: 'rounding',
  rejected: 'Det.',
  proof:
    'Expansion by cofactors, from the last row up: each minor is made once. ONNX Runtime factorizes instead, so the last bits differ.',
  versions,
  issues: [],
  apply: (draft) => {
    for (const node of draft.nodes('Det')) {
      const size = draft.subject.shape(node, node.inputs[0]!)?.at(-1);
      if (typeof size !== 'number' || size > largestMatrix || size < 1) {
        draft.refuse(node, `its matrices are larger than ${largestMatrix}×${largestMatrix}, or of unknown size`);
        continue;
      }
      const at = draft.at(node);
      const type = draft.subject.type(node, node.inputs[0]!) ?? 'float';
      const row = (index: number): string => at.gather(node.inputs[0]!, at.scalar('int64', index), -2);
      const table = (of: string, rows: readonly number[][]): string =>
        at.constant(of, [rows.length, rows[0]!.length], rows.flat());
      // The determinants of the last rows and of each choice of as many columns.
      let minors = row(size - 1);
      let before = choices(size, 1);
      for (let count = 2; count <= size; count++) {
        const chosen = choices(size, count);
        const places = new Map(before.map((columns, place) => [columns.join(), place]));
        const smaller = chosen.map((columns) => columns.map((_, i) => places.get(columns.toSpliced(i, 1).join())!));
        const signs = chosen.map((columns) => columns.map((_, i) => (i % 2 === 0 ? 1 : -1)));
        const factors = at.op('Mul', [at.gather(row(size - count), table('int64', chosen), -1), table(type, signs)]);
        const terms = at.op('Mul', [factors, at.gather(minors, table('int64', smaller), -1)]);
        minors = at.reduce('ReduceSum', terms, [-1], false);
        before = chosen;
      }
      at.squeeze(minors, [-1], node.outputs);
      at.done();
    }
  },
};

/** All choices of so many of the first `size` numbers, in order. */
const choices = (size: number, count: number): number[][] =>
  count === 0
    ? [[]]
    : choices(size, count - 1).flatMap((chosen) =>
        Array.from({ length: size }, (_, next) => next)
          .filter((next) => next > (chosen.at(-1) ?? -1))
          .map((next) => [...chosen, next]),
      );

export const expandAttention: Repair = {
  id: 'expand-attention',
  title: 'Write Attention as MatMul, Softmax and MatMul',
  class: 'rounding',
  rejected: 'Attention that has no kernel in TensorRT-RTX, or whose query and key are one tensor.',
  proof:
    'The definition of the operator; the query is scaled before the product. What a mask leaves out gets the lowest number, as in ONNX Runtime. A cache is joined in front of keys and values (Concat). Without soft caps and groups of heads, with sizes that are known.',
  versions,
  issues: [],
  answers: /Attention/,
  operators: ['Attention'],
  apply: (draft) => {
    for (const node of draft.nodes('Attention')) attend(draft, node);
  },
};

interface Attended {
  type: string;
  heads: number;
  isFlat: boolean;
  scale: number;
  /** Lengths of query and key; 0: without a causal mask. */
  causal: readonly [number, number];
}

/** How many of the two tensors of a cache an Attention is given, and whether it has more than is written. */
function cacheOf(node: OnnxNode): { cached: number; hasMore: boolean } {
  const cached = [node.inputs[4], node.inputs[5]].filter(Boolean).length;
  // A cache is joined with key and value, and what is joined is given back.
  const hasMore =
    node.inputs.slice(6).some(Boolean) ||
    node.outputs.slice(3).some(Boolean) ||
    cached === 1 ||
    (cached === 0 && node.outputs.slice(1).some(Boolean));
  return { cached, hasMore };
}

/** null: it has a form that is not written. */
function attendedOf({ subject }: RepairDraft, node: OnnxNode): Attended | null {
  const [query, key] = [0, 1].map((at) => subject.shape(node, node.inputs[at]!));
  const type = subject.type(node, node.inputs[0]!);
  const { cached, hasMore } = cacheOf(node);
  const isSpecial = ['softcap', 'softmax_precision', 'qk_matmul_output_mode'].some((name) => intAttribute(node, name));
  if (!query || !key || query.length !== key.length || type === null || hasMore || isSpecial) return null;
  const isFlat = query.length === 3;
  const [heads, others] = isFlat
    ? [intAttribute(node, 'q_num_heads'), intAttribute(node, 'kv_num_heads')]
    : [query[1], key[1]];
  const [length, keys] = [query.at(-2), key.at(-2)];
  const width = Number(query.at(-1)) / (isFlat ? Number(heads) : 1);
  const isCausal = intAttribute(node, 'is_causal') === 1;
  if (typeof heads !== 'number' || heads !== others || !(width > 0)) return null;
  if (isCausal && cached > 0) return null;
  if (isCausal && (typeof length !== 'number' || typeof keys !== 'number')) return null;
  const scale = intAttribute(node, 'scale') ?? 1 / Math.sqrt(width);
  return { type, heads, isFlat, scale, causal: isCausal ? [Number(length), Number(keys)] : [0, 0] };
}

function attend(draft: RepairDraft, node: OnnxNode): void {
  const form = attendedOf(draft, node);
  if (!form)
    return draft.refuse(node, 'it has a causal or unusual cache, a soft cap, groups of heads or unknown sizes');
  const { type, heads, isFlat, scale, causal } = form;
  const at = draft.at(node);
  const [query, key, value] = node.inputs.slice(0, 3).map((name, index) => {
    const past = index === 0 ? '' : (node.inputs[3 + index] ?? '');
    if (past !== '') {
      const added = isFlat ? at.transpose(at.reshape(name, [0, 0, heads, -1]), [0, 2, 1, 3]) : name;
      const present = node.outputs[index] ?? '';
      const options = { attributes: { axis: { int: 2 } }, ...(present !== '' && { outputs: [present] }) };
      const joined = at.op('Concat', [past, added], options);
      return index === 1 ? at.transpose(joined, [0, 1, 3, 2]) : joined;
    }
    const order = index === 1 ? [0, 2, 3, 1] : [0, 2, 1, 3];
    if (isFlat) return at.transpose(at.reshape(name, [0, 0, heads, -1]), order);
    return index === 1 ? at.transpose(name, [0, 1, 3, 2]) : name;
  });
  const lowest = at.scalar(type, type === 'float16' ? -65504 : -3.3895e38);
  // Scaled before: the product may be too large for FP16.
  let scores = at.op('MatMul', [at.op('Mul', [query!, at.scalar(type, scale)]), key!]);
  const [length, keys] = causal;
  if (length > 0) {
    const sees = Array.from({ length: length * keys }, (_, place) =>
      place % keys <= Math.floor(place / keys) ? 1 : 0,
    );
    scores = at.op('Where', [at.constant('bool', [length, keys], sees), scores, lowest]);
  }
  const mask = node.inputs[3] ?? '';
  if (mask !== '')
    scores =
      draft.subject.type(node, mask) === 'bool' ? at.op('Where', [mask, scores, lowest]) : at.op('Add', [scores, mask]);
  const shares = at.op('Softmax', [scores], { attributes: { axis: { int: -1 } } });
  const sums = at.op('MatMul', [shares, value!], isFlat ? {} : { outputs: node.outputs.slice(0, 1) });
  at.keepName();
  if (isFlat) at.reshape(at.transpose(sums, [0, 2, 1, 3]), [0, 0, -1], node.outputs.slice(0, 1));
  at.done();
}

const widths: Partial<Record<string, number>> = { uint8: 8, uint16: 16 };

export const shiftBits: Repair = {
  id: 'shift-bits',
  title: 'Write BitShift by constants as Mul and Mod, or Div',
  class: 'exact',
  rejected: 'BitShift.',
  proof:
    'Integers of 8 or 16 bits in INT32, where multiplication by a power of two is exact and the remainder drops the bits that leave.',
  versions,
  issues: [],
  apply: async (draft) => {
    for (const node of draft.nodes('BitShift')) {
      const type = draft.subject.type(node, node.inputs[0]!);
      const bits = widths[type ?? ''];
      // oxlint-disable-next-line no-await-in-loop
      const by = await draft.subject.constant(node, node.inputs[1]);
      if (bits === undefined || !by) {
        draft.refuse(node, 'it shifts by a computed number, or integers of more than 16 bits');
        continue;
      }
      const at = draft.at(node);
      const wide = at.cast(node.inputs[0]!, 'int32');
      const left = textAttribute(node, 'direction') === 'LEFT';
      const power = (shift: number): number => (shift < bits ? 2 ** shift : left ? 0 : 2 ** bits);
      const powers = at.constant('int32', by.shape, by.values.map(power));
      const shifted = left
        ? at.op('Mod', [at.op('Mul', [wide, powers]), at.scalar('int32', 2 ** bits)])
        : at.op('Div', [wide, powers]);
      at.cast(shifted, type!, node.outputs);
      at.done();
    }
  },
};
