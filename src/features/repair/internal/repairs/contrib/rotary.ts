import { intAttribute, type OnnxNode } from '../../../../../kernel/read/onnx/onnxModel.ts';
import type { RepairDraft } from '../../draft.ts';
import type { NewPlace } from '../../place.ts';
import type { Repair } from '../../repair.ts';

const issues = ['NVIDIA/TensorRT#1515'];
const versions = 'all';

export const rotaryEmbedding: Repair = {
  id: 'rotary-embedding',
  title: 'Write RotaryEmbedding of com.microsoft in ONNX operators',
  class: 'rounding',
  rejected:
    'RotaryEmbedding of com.microsoft. TensorRT-RTX ignores its domain, and takes it for the ONNX operator with other inputs.',
  proof:
    'Each pair of elements is turned by the angle of its position. Partial rotation and a single position are refused.',
  versions,
  issues,
  apply: (draft) => {
    for (const node of draft.nodes('com.microsoft:RotaryEmbedding')) {
      const [input = '', positions = '', cosines = '', sines = ''] = node.inputs;
      const half = draft.subject.shape(node, cosines)?.[1];
      const rank = draft.subject.rank(node, input);
      const known = typeof half === 'number' && (rank === 3 || rank === 4) && draft.subject.rank(node, positions) === 2;
      if (!known || (intAttribute(node, 'rotary_embedding_dim') ?? 0) !== 0) {
        draft.refuse(node, 'it turns a part of each head, or the ranks of its inputs are not known');
        continue;
      }
      const at = draft.at(node);
      const heads = rank === 3 ? at.reshape(input, [0, 0, -1, 2 * half]) : input;
      const [cos, sin] = [cosines, sines].map((table) =>
        at.unsqueeze(at.gather(table, positions, 0), [rank === 3 ? 2 : 1]),
      );
      const turned = rotate(at, heads, {
        cos: cos!,
        sin: sin!,
        half,
        interleaved: intAttribute(node, 'interleaved') === 1,
      });
      const back = rank === 3 ? [0, 0, -1] : [0, 0, 0, -1];
      at.reshape(turned, back, node.outputs);
      at.done();
    }
  },
};

interface Angles {
  /** Broadcast to [batch, …, half]. */
  cos: string;
  sin: string;
  half: number;
  interleaved: boolean;
}

/** The last axis, of size 2 · half, turned in pairs. */
function rotate(at: NewPlace, input: string, { cos, sin, half, interleaved }: Angles): string {
  const places = (from: number, step: number): string =>
    at.ints(...Array.from({ length: half }, (_, i) => from + i * step));
  const [first, second] = interleaved
    ? [at.gather(input, places(0, 2), -1), at.gather(input, places(1, 2), -1)]
    : [at.gather(input, places(0, 1), -1), at.gather(input, places(half, 1), -1)];
  const product = (a: string, b: string): string => at.op('Mul', [a, b]);
  const real = at.op('Sub', [product(first, cos), product(second, sin)]);
  const imaginary = at.op('Add', [product(first, sin), product(second, cos)]);
  if (!interleaved) return at.concat([real, imaginary], -1);
  const order = Array.from({ length: 2 * half }, (_, i) => (i % 2 === 0 ? i / 2 : half + (i - 1) / 2));
  return at.gather(at.concat([real, imaginary], -1), at.ints(...order), -1);
}

export const groupQueryAttention: Repair = {
  id: 'group-query-attention',
  title: 'Write GroupQueryAttention in ONNX operators',
  class: 'rounding',
  rejected: 'GroupQueryAttention of com.microsoft.',
  proof:
    'The new keys and values behind the past ones, each query sees what is not after it. Only for batch 1, where the lengths follow from the shapes, and past states that are full; windows, soft caps and packed queries are refused.',
  versions,
  issues,
  apply: (draft) => {
    for (const node of draft.nodes('com.microsoft:GroupQueryAttention')) grouped(draft, node);
  },
};

/** What `GroupQueryAttention` says that is not in its inputs. */
interface Groups {
  heads: number;
  stored: number;
  /** Of one head. */
  size: number;
}

const isSpecial = (node: OnnxNode): boolean =>
  (intAttribute(node, 'local_window_size') ?? -1) > 0 ||
  ['softcap', 'smooth_softmax'].some((name) => (intAttribute(node, name) ?? 0) !== 0) ||
  ['', undefined].includes(node.inputs[1]) ||
  ['', undefined].includes(node.inputs[2]) ||
  node.inputs.slice(9).some(Boolean);

function grouped(draft: RepairDraft, node: OnnxNode): void {
  const shape = draft.subject.shape(node, node.inputs[0]!);
  const heads = intAttribute(node, 'num_heads') ?? 0;
  const stored = intAttribute(node, 'kv_num_heads') ?? 0;
  const width = shape?.[2];
  if (isSpecial(node)) return draft.refuse(node, 'it has a window, a soft cap or packed queries');
  if (shape?.[0] !== 1 || typeof width !== 'number' || heads === 0 || stored === 0)
    return draft.refuse(node, 'its batch is not 1 in all shapes');
  attend(draft, node, { heads, stored, size: width / heads });
}

const number = (at: NewPlace, value: number): string => at.scalar('int64', value);
const lengthOf = (at: NewPlace, tensor: string, axis: number): string =>
  at.gather(at.op('Shape', [tensor]), number(at, axis), 0);

function attend(draft: RepairDraft, node: OnnxNode, { heads, stored, size }: Groups): void {
  const [query = '', key = '', value = '', pastKey = '', pastValue = ''] = node.inputs;
  const type = draft.subject.type(node, query) ?? 'float';
  const at = draft.at(node);
  const past = pastKey === '' ? number(at, 0) : lengthOf(at, pastKey, 2);
  const positions = at.op('Range', [past, at.op('Add', [past, lengthOf(at, query, 1)]), number(at, 1)]);
  // [batch, stored heads, queries of each, length, size] against [batch, stored heads, 1, all, size].
  const turned = turnedHeads(at, query, positions, size);
  const queries = at.transpose(at.reshape(turned, [0, 0, stored, heads / stored, size]), [0, 2, 3, 1, 4]);
  const fresh = [turnedHeads(at, key, positions, size), at.reshape(value, [0, 0, -1, size])];
  const states = [pastKey, pastValue].map((old, index) => {
    const moved = at.transpose(fresh[index]!, [0, 2, 1, 3]);
    const outputs = node.outputs[index + 1] ? [node.outputs[index + 1]!] : undefined;
    if (old === '') return at.op('Identity', [moved], outputs ? { outputs } : {});
    return at.concat([old, moved], 2, outputs);
  });
  const [keys, values] = states.map((state) => at.unsqueeze(state, [2]));
  const product = at.op('MatMul', [queries, at.transpose(keys!, [0, 1, 2, 4, 3])]);
  at.keepName();
  const scale = intAttribute(node, 'scale') || 1 / Math.sqrt(size);
  const scores = at.op('Mul', [product, at.scalar(type, scale)]);
  const all = at.op('Range', [number(at, 0), lengthOf(at, states[0]!, 2), number(at, 1)]);
  const hidden = at.op('Greater', [at.unsqueeze(all, [0]), at.unsqueeze(positions, [1])]);
  const lowest = type === 'float16' ? -65504 : -3.4028234663852886e38;
  const seen = at.op('Where', [hidden, at.scalar(type, lowest), scores]);
  const shares = at.op('Softmax', [seen], { attributes: { axis: { int: -1 } } });
  const result = at.transpose(at.op('MatMul', [shares, values!]), [0, 3, 1, 2, 4]);
  at.reshape(result, [0, 0, -1], node.outputs.slice(0, 1));
  at.done();
}

/** [batch, length, heads, size], with rotary embeddings where the node has them. */
function turnedHeads(at: NewPlace, tensor: string, positions: string, size: number): string {
  const { node } = at;
  const split = at.reshape(tensor, [0, 0, -1, size]);
  if (intAttribute(node, 'do_rotary') !== 1) return split;
  const [cos, sin] = [node.inputs[7]!, node.inputs[8]!].map((table) =>
    at.unsqueeze(at.gather(table, positions, 0), [0, 2]),
  );
  const interleaved = intAttribute(node, 'rotary_interleaved') === 1;
  return rotate(at, split, { cos: cos!, sin: sin!, half: size / 2, interleaved });
}
