import { intAttribute, intsAttribute, type OnnxNode, textAttribute } from '../../../../kernel/read/onnx/onnxModel.ts';
import { axisOf } from '../../../../kernel/network/outputTypes.ts';
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

export const affineGrid: Repair = {
  id: 'affine-grid',
  title: 'Write AffineGrid of a constant size as a product with its coordinates',
  class: 'rounding',
  rejected: 'AffineGrid.',
  proof: 'The coordinates of each point are constants; the products are summed in another order.',
  versions,
  issues: [],
  apply: async (draft) => {
    for (const node of draft.nodes('AffineGrid')) {
      // oxlint-disable-next-line no-await-in-loop
      const size = await draft.subject.constant(node, node.inputs[1]);
      if (!size || size.values.length < 4) {
        draft.refuse(node, 'its size is not constant');
        continue;
      }
      const [batch = 1, , ...sizes] = size.values;
      const corners = intAttribute(node, 'align_corners') === 1;
      const at = draft.at(node);
      const rank = sizes.length;
      const coordinates = sizes.map((count) =>
        Array.from({ length: count }, (_, i) =>
          corners ? (count === 1 ? 0 : (2 * i) / (count - 1) - 1) : (2 * i + 1) / count - 1,
        ),
      );
      const points: number[] = [];
      const total = sizes.reduce((product, dim) => product * dim, 1);
      for (let index = 0; index < total; index++) {
        const place: number[] = [];
        for (let axis = rank - 1, rest = index; axis >= 0; axis--) {
          place.push(coordinates[axis]![rest % sizes[axis]!]!);
          rest = Math.floor(rest / sizes[axis]!);
        }
        points.push(...place, 1);
      }
      const type = draft.subject.type(node, node.inputs[0]!) ?? 'float';
      const base = at.constant(type, [total, rank + 1], points);
      const product = at.op('MatMul', [base, at.transpose(node.inputs[0]!, [0, 2, 1])]);
      at.keepName();
      at.reshape(product, [batch, ...sizes, rank], node.outputs);
      at.done();
    }
  },
};

export const centerCropPad: Repair = {
  id: 'center-crop-pad',
  title: 'Write CenterCropPad as Slice and Pad',
  class: 'exact',
  rejected: 'CenterCropPad.',
  proof: 'Sizes are known, so what is cut off and added at each side is; elements are only moved.',
  versions,
  issues: [],
  apply: async (draft) => {
    // oxlint-disable-next-line no-await-in-loop
    for (const node of draft.nodes('CenterCropPad')) await cropped(draft, node);
  },
};

async function cropped(draft: RepairDraft, node: OnnxNode): Promise<void> {
  const shape = draft.subject.shape(node, node.inputs[0]!);
  const target = await draft.subject.constant(node, node.inputs[1]);
  if (!shape || !target) return draft.refuse(node, 'its sizes are not known');
  const axes = (intsAttribute(node, 'axes') ?? shape.map((_, axis) => axis)).map((axis) => axisOf(axis, shape.length)!);
  const [before, after] = [shape.map(() => 0), shape.map(() => 0)];
  const cuts: { axis: number; start: number; end: number }[] = [];
  for (const [index, axis] of axes.entries()) {
    const [have, want] = [shape[axis], target.values[index]!];
    if (typeof have !== 'number') return draft.refuse(node, 'its sizes are not known');
    const off = Math.floor(Math.abs(have - want) / 2);
    if (have > want) cuts.push({ axis, start: off, end: off + want });
    else [before[axis], after[axis]] = [off, want - have - off];
  }
  const at = draft.at(node);
  const cut =
    cuts.length === 0
      ? node.inputs[0]!
      : at.op('Slice', [
          node.inputs[0]!,
          at.ints(...cuts.map(({ start }) => start)),
          at.ints(...cuts.map(({ end }) => end)),
          at.ints(...cuts.map(({ axis }) => axis)),
        ]);
  at.op('Pad', [cut, at.ints(...before, ...after)], { outputs: node.outputs });
  at.done();
}

export const columnsToImage: Repair = {
  id: 'columns-to-image',
  title: 'Write Col2Im as ConvTranspose with a constant kernel',
  class: 'rounding',
  rejected: 'Col2Im.',
  proof:
    'Each column is written to its place by a kernel of ones and zeros; overlapping columns are added in another order. Two dimensions and known sizes only.',
  versions,
  issues: [],
  apply: async (draft) => {
    // oxlint-disable-next-line no-await-in-loop
    for (const node of draft.nodes('Col2Im')) await columns(draft, node);
  },
};

async function columns(draft: RepairDraft, node: OnnxNode): Promise<void> {
  const shape = draft.subject.shape(node, node.inputs[0]!);
  const [image, block] = [
    await draft.subject.constant(node, node.inputs[1]),
    await draft.subject.constant(node, node.inputs[2]),
  ];
  const rows = shape?.[1];
  if (!image || !block || image.values.length !== 2 || typeof rows !== 'number')
    return draft.refuse(node, 'its sizes are not known, or it has not two dimensions');
  const [height = 1, width = 1] = block.values;
  const dilations = intsAttribute(node, 'dilations') ?? [1, 1];
  const strides = intsAttribute(node, 'strides') ?? [1, 1];
  const pads = intsAttribute(node, 'pads') ?? [0, 0, 0, 0];
  const steps = [0, 1].map((axis) => {
    const room = image.values[axis]! + pads[axis]! + pads[axis + 2]! - dilations[axis]! * (block.values[axis]! - 1) - 1;
    return { count: Math.floor(room / strides[axis]!) + 1, rest: room % strides[axis]! };
  });
  const channels = rows / (height * width);
  const kernel = new Float64Array(rows * height * width);
  for (let row = 0; row < rows; row++) kernel[row * height * width + (row % (height * width))] = 1;
  const type = draft.subject.type(node, node.inputs[0]!) ?? 'float';
  const at = draft.at(node);
  const placed = at.reshape(node.inputs[0]!, [0, 0, steps[0]!.count, steps[1]!.count]);
  at.op('ConvTranspose', [placed, at.constant(type, [rows, 1, height, width], kernel)], {
    outputs: node.outputs,
    attributes: {
      group: { int: channels },
      kernel_shape: { ints: [height, width] },
      strides: { ints: strides },
      dilations: { ints: dilations },
      pads: { ints: pads },
      output_padding: { ints: steps.map(({ rest }) => rest) },
    },
  });
  at.done();
}
