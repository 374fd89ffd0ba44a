import { intAttribute, type OnnxNode, textAttribute } from '../../../../../kernel/read/onnx/onnxModel.ts';
import type { NewAttribute } from '../../../../../kernel/read/onnx/writeModel.ts';
import type { RepairDraft } from '../../draft.ts';
import type { NewPlace } from '../../place.ts';
import type { Repair } from '../../repair.ts';

const issues = ['NVIDIA/TensorRT#1515', 'microsoft/onnxruntime#10905'];
const versions = 'all';
const rejected = 'Operators of com.microsoft, into which ONNX Runtime fuses nodes when it saves an optimized model.';

export const fusedMatmul: Repair = {
  id: 'fused-matmul',
  title: 'Write FusedMatMul as Transpose, MatMul and Mul',
  class: 'rounding',
  rejected,
  proof: 'The same product; the factor is multiplied after the sum.',
  versions,
  issues,
  apply: (draft) => {
    for (const node of draft.nodes('com.microsoft:FusedMatMul')) {
      const at = draft.at(node);
      const sides = ['A', 'B'].map((side, index) => {
        const input = node.inputs[index]!;
        const [turns, movesBatch] = [intAttribute(node, `trans${side}`), intAttribute(node, `transBatch${side}`)];
        if (!turns && !movesBatch) return input;
        const rank = draft.subject.rank(node, input);
        if (rank === null) return null;
        if (rank < 2) return input;
        const axes = [...Array(rank).keys()];
        // The first dimension goes behind the other batches, where the rows are.
        const rows = movesBatch ? [...axes.slice(1, -1), 0, rank - 1] : axes;
        return at.transpose(input, turns ? [...rows.slice(0, -2), rows.at(-1)!, rows.at(-2)!] : rows);
      });
      if (sides.includes(null)) {
        draft.refuse(node, 'the rank of what it transposes is not known');
        continue;
      }
      const alpha = intAttribute(node, 'alpha') ?? 1;
      const type = draft.subject.type(node, node.inputs[0]!) ?? 'float';
      const product = at.op('MatMul', sides as string[], alpha === 1 ? { outputs: node.outputs } : {});
      at.keepName();
      if (alpha !== 1) at.op('Mul', [product, at.scalar(type, alpha)], { outputs: node.outputs });
      at.done();
    }
  },
};

export const fusedConv: Repair = {
  id: 'fused-conv',
  title: 'Write FusedConv and FusedGemm as Conv or Gemm and their activation',
  class: 'rounding',
  rejected,
  proof: 'The same convolution or product, followed by Add and the activation that it names.',
  versions,
  issues,
  apply: async (draft) => {
    for (const node of draft.rest)
      if (node.domain === 'com.microsoft.nchwc')
        draft.refuse(
          node,
          'ONNX Runtime wrote the model for the processor that it ran on; save it with ORT_ENABLE_EXTENDED or below',
        );
    for (const node of draft.nodes('com.microsoft:FusedConv', 'com.microsoft:FusedGemm')) {
      // oxlint-disable-next-line no-await-in-loop
      const { floats = [] } = (await draft.subject.lists(node, 'activation_params')) ?? {};
      for (const name of ['activation_alpha', 'activation_beta']) {
        const given = intAttribute(node, name);
        if (given !== undefined) floats.push(given);
      }
      const activation = textAttribute(node, 'activation') ?? '';
      const parameters = activationAttributes(activation, floats);
      if (!parameters) {
        draft.refuse(node, `its activation ${activation} is not known`);
        continue;
      }
      const at = draft.at(node);
      if (node.op === 'FusedGemm') {
        const attributes = node.attributes.filter(({ name }) => !name.startsWith('activation'));
        const sum = at.op('Gemm', node.inputs, { like: { ...node, attributes }, domain: '' });
        at.keepName();
        at.op(activation, [sum], { outputs: node.outputs, attributes: parameters });
        at.done();
        continue;
      }
      const [x = '', w = '', bias = '', added = ''] = node.inputs;
      const attributes = node.attributes.filter(({ name }) => !name.startsWith('activation'));
      const sum = at.op('Conv', [x, w, ...(bias === '' ? [] : [bias])], { like: { ...node, attributes }, domain: '' });
      at.keepName();
      const whole = added === '' ? sum : at.op('Add', [sum, added]);
      at.op(activation, [whole], { outputs: node.outputs, attributes: parameters });
      at.done();
    }
  },
};

function activationAttributes(name: string, [first, second]: number[]): Record<string, NewAttribute> | null {
  if (['Relu', 'Sigmoid', 'Tanh'].includes(name)) return {};
  if (name === 'LeakyRelu') return { alpha: { float: first ?? 0.01 } };
  if (name === 'HardSigmoid') return { alpha: { float: first ?? 0.2 }, beta: { float: second ?? 0.5 } };
  return null;
}

export const contribAttention: Repair = {
  id: 'contrib-attention',
  title: 'Write Attention and MultiHeadAttention of com.microsoft in ONNX operators',
  class: 'rounding',
  rejected,
  proof:
    'Projections, scaled products, Softmax and the masks as ONNX Runtime defines them: a position counts where its mask is greater than 0. Past states, rotary embeddings and masks of other ranks are refused.',
  versions,
  issues,
  apply: async (draft) => {
    // oxlint-disable-next-line no-await-in-loop
    for (const node of draft.nodes('com.microsoft:Attention')) await attention(draft, node);
    for (const node of draft.nodes('com.microsoft:MultiHeadAttention')) multiHead(draft, node);
  },
};

/** The lowest number of a type: Softmax makes 0 of it. */
const lowest = (type: string): number => (type === 'float16' ? -65504 : -3.402_823_466_385_288_6e38);

const used = (draft: RepairDraft, node: OnnxNode, from: number): boolean =>
  node.outputs.slice(from).some((name) => draft.subject.isUsed(node, name));

async function attention(draft: RepairDraft, node: OnnxNode): Promise<void> {
  const [input = '', weight = '', bias = '', mask = '', past = '', added = ''] = node.inputs;
  const heads = intAttribute(node, 'num_heads') ?? 0;
  const special = ['do_rotary', 'past_present_share_buffer'].some((name) => intAttribute(node, name));
  if (past !== '' || special || used(draft, node, 1) || (await draft.subject.lists(node, 'qkv_hidden_sizes')))
    return draft.refuse(node, 'it has past states, rotary embeddings or uneven sizes');
  const width = draft.subject.shape(node, weight)?.[1];
  if (typeof width !== 'number' || heads === 0 || width % (3 * heads) !== 0)
    return draft.refuse(node, 'the size of its weight is not known');
  const known = maskOf(draft, node, mask);
  if (known === null) return draft.refuse(node, unfitMask);
  const causal = causalLength(draft, node);
  if (causal === null) return draft.refuse(node, 'it has a causal mask, and the length of its input is not known');
  const at = draft.at(node);
  const product = at.op('MatMul', [input, weight]);
  const whole = bias === '' ? product : at.op('Add', [product, bias]);
  const parts = [at.name(), at.name(), at.name()];
  at.split(whole, [width / 3, width / 3, width / 3], 2, parts);
  attend(draft, at, { parts, heads, width: width / 3, mask: known, added, causal });
}

/** The length of a causal mask, 0 where there is none; null: not known. */
function causalLength({ subject }: RepairDraft, node: OnnxNode): number | null {
  if (!intAttribute(node, 'unidirectional')) return 0;
  const length = subject.shape(node, node.inputs[0]!)?.[1];
  return typeof length === 'number' ? length : null;
}

function multiHead(draft: RepairDraft, node: OnnxNode): void {
  const [query = '', key = '', value = '', bias = '', mask = '', added = ''] = node.inputs;
  const heads = intAttribute(node, 'num_heads') ?? 0;
  const widths = [query, key, value].map((name) => draft.subject.shape(node, name)?.[2]);
  const ranks = [query, key, value].map((name) => draft.subject.rank(node, name));
  if (node.inputs.slice(6).some(Boolean) || intAttribute(node, 'unidirectional') || used(draft, node, 1))
    return draft.refuse(node, 'it has past states or a causal mask');
  if (ranks.some((rank) => rank !== 3) || widths.some((width) => typeof width !== 'number'))
    return draft.refuse(node, 'its query, key and value do not have three known dimensions');
  const known = maskOf(draft, node, mask);
  if (known === null) return draft.refuse(node, unfitMask);
  const at = draft.at(node);
  let parts = [query, key, value];
  if (bias !== '') {
    const biases = parts.map(() => at.name());
    at.split(bias, widths as number[], 0, biases);
    parts = parts.map((part, index) => at.op('Add', [part, biases[index]!]));
  }
  attend(draft, at, { parts, heads, width: widths[0] as number, mask: known, added, causal: 0 });
}

const unfitMask = 'its mask is neither a matrix nor the lengths of the rows';

/** null: it has another form. */
function maskOf({ subject }: RepairDraft, node: OnnxNode, mask: string): Parts['mask'] | null {
  if (mask === '' || subject.rank(node, mask) === 2) return mask;
  const [shape, batch] = [subject.shape(node, mask), subject.shape(node, node.inputs[0]!)?.[0]];
  return shape?.length === 1 && shape[0] !== null && shape[0] === batch ? { lengths: mask } : null;
}

interface Parts {
  /** Query, key and value. */
  parts: string[];
  heads: number;
  width: number;
  /** A matrix that is above 0 where a position counts, or how many of each row count. */
  mask: string | { lengths: string };
  added: string;
  /** Length of the sequence where each position sees only what is not after it; 0: it sees all. */
  causal: number;
}

/** Whether each position counts, with the dimensions of the scores. */
function countedPositions(draft: RepairDraft, at: NewPlace, mask: Parts['mask']): string {
  const { node } = at;
  if (typeof mask === 'string') {
    const type = draft.subject.type(node, mask) ?? 'int32';
    return at.op('Greater', [at.unsqueeze(mask, [1, 2]), at.scalar(type, 0)]);
  }
  const number = (value: number): string => at.scalar('int64', value);
  // The keys of MultiHeadAttention are an input of their own.
  const keys = node.op === 'Attention' ? node.inputs[0]! : node.inputs[1]!;
  const length = at.gather(at.op('Shape', [keys]), number(1), 0);
  const positions = at.op('Range', [number(0), length, number(1)]);
  return at.op('Less', [positions, at.unsqueeze(at.cast(mask.lengths, 'int64'), [1, 2, 3])]);
}

function attend(draft: RepairDraft, at: NewPlace, { parts, heads, width, mask, added, causal }: Parts): void {
  const { node } = at;
  const type = draft.subject.type(node, node.inputs[0]!) ?? 'float';
  const orders = [
    [0, 2, 1, 3],
    [0, 2, 3, 1],
    [0, 2, 1, 3],
  ];
  const [q, k, v] = parts.map((part, index) => at.transpose(at.reshape(part, [0, 0, heads, -1]), orders[index]!));
  const scale = intAttribute(node, 'scale') || 1 / Math.sqrt(width / heads);
  const product = at.op('MatMul', [q!, k!]);
  at.keepName();
  let scores = at.op('Mul', [product, at.scalar(type, scale)]);
  if (mask !== '') {
    const counts = countedPositions(draft, at, mask);
    const low = at.scalar(type, intAttribute(node, 'mask_filter_value') ?? -10000);
    scores = at.op('Add', [scores, at.op('Where', [counts, at.scalar(type, 0), low])]);
  }
  if (causal > 0) {
    const sees = Array.from({ length: causal ** 2 }, (_, at) => (at % causal <= Math.floor(at / causal) ? 1 : 0));
    scores = at.op('Where', [at.constant('bool', [causal, causal], sees), scores, at.scalar(type, lowest(type))]);
  }
  if (added !== '') scores = at.op('Add', [scores, added]);
  const shares = at.op('Softmax', [scores], { attributes: { axis: { int: -1 } } });
  at.reshape(at.transpose(at.op('MatMul', [shares, v!]), [0, 2, 1, 3]), [0, 0, -1], node.outputs.slice(0, 1));
  at.done();
}
