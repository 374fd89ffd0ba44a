import { byteLength, type OnnxNode } from '../../../../kernel/read/onnx/onnxModel.ts';
import { rawElements } from '../../../../kernel/read/onnx/readElements.ts';
import { isKnown } from '../../../../kernel/network/outputTypes.ts';
import type { RepairDraft } from '../draft.ts';
import type { Repair } from '../repair.ts';
import { isRandom, randomFunctions } from './randomness.ts';

/** Results up to this size are kept although what they are made of is smaller. */
const small = 1 << 16;

export const foldConstants: Repair = {
  id: 'fold-constants',
  title: 'Compute what depends on no input',
  class: 'exact',
  rejected:
    'Loop, LSTM, Conv, TopK and many other operators of constants, and shapes that must be known while parsing.',
  proof:
    'ONNX Runtime computes the values once. Never across random operators, also inside of functions and subgraphs, and never into a result that is larger than what it is made of and 64 KiB. Only the failing nodes and others of their operator, and what they read.',
  versions: 'all',
  issues: ['NVIDIA/TensorRT#2774'],
  apply: fold,
};

async function fold(draft: RepairDraft): Promise<void> {
  const { subject } = draft;
  const random = randomFunctions(subject.model);
  const foldable = new Map<string, boolean>();
  const isFoldable = (node: OnnxNode): boolean => {
    const known = foldable.get(node.id);
    if (known !== undefined) return known;
    // A node on a cycle.
    foldable.set(node.id, false);
    const result = canFold(draft, node, random, isFoldable);
    foldable.set(node.id, result);
    return result;
  };
  const near = [...draft.blocked].flatMap((id) => subject.model.nodes.find((node) => node.id === id) ?? []);
  const wanted = new Map<string, OnnxNode>();
  // The others of the same operator fail next.
  const ops = new Set(near.filter((node) => !node.id.includes('/') && isFoldable(node)).map(({ op }) => op));
  const alike = subject.model.nodes.filter((node) => ops.has(node.op) && !near.includes(node));
  for (const node of [...near, ...alike])
    for (const one of [node, ...node.inputs.flatMap((name) => subject.producer(node, name) ?? [])])
      if (!one.id.includes('/') && subject.op(one) !== 'Constant' && isFoldable(one))
        for (const name of one.outputs) if (name !== '' && subject.isUsed(one, name)) wanted.set(name, one);
  if (wanted.size === 0) return;
  const values = await subject.options.compute([...wanted.keys()]);
  for (const node of new Set(wanted.values())) {
    const outputs = node.outputs.filter((name) => wanted.get(name) === node);
    const made = outputs.map((name) => values.get(name));
    if (made.some((value) => value === undefined)) continue;
    const size = made.reduce((sum, value) => sum + value!.bytes.length, 0);
    if (size > small && size > inputBytes(draft, node)) continue;
    put(draft, node, outputs, (name) => values.get(name)!);
  }
}

/** Lets initializers stand for the outputs of a node. An output of the model needs a node that writes it. */
function put(
  draft: RepairDraft,
  node: OnnxNode,
  outputs: string[],
  valueOf: (name: string) => { type: string; shape: number[]; bytes: Uint8Array },
): void {
  const at = draft.at(node);
  for (const name of outputs) {
    const { type, shape, bytes } = valueOf(name);
    if (draft.subject.isOutput(node, name))
      at.op('Identity', [draft.initializer(`${name}/folded`, type, shape, bytes)], { outputs: [name] });
    else draft.initializer(name, type, shape, bytes, true);
  }
  at.done();
}

function canFold(
  draft: RepairDraft,
  node: OnnxNode,
  random: ReadonlySet<string>,
  isFoldable: (node: OnnxNode) => boolean,
): boolean {
  const { subject } = draft;
  if (isRandom(node, random) || /^(?:Sequence|SplitToSequence|Optional)/.test(node.op)) return false;
  const index = subject.graph.indexOfId.get(node.id)!;
  const reads = [...subject.graph.inputs[index]!, ...subject.graph.captured[index]!];
  return reads.every((tensor) => {
    if (tensor < 0) return true;
    const { kind, producer } = subject.graph.tensors[tensor]!;
    if (kind === 'initializer') return true;
    const maker = subject.graph.nodes[producer];
    return kind === 'node' && maker !== undefined && !maker.id.includes('/') && isFoldable(maker);
  });
}

function inputBytes({ subject }: RepairDraft, node: OnnxNode): number {
  return node.inputs.reduce((sum, name) => {
    const tensor = subject.constantTensor(node, name);
    return sum + (tensor ? (byteLength(tensor.type, tensor.shape) ?? 0) : 0);
  }, 0);
}

export const foldShapes: Repair = {
  id: 'fold-shapes',
  title: 'Write shapes that are the same in all profiles into the model',
  class: 'exact',
  rejected:
    'Operators whose shapes, axes or sizes must be constants while parsing, but are computed from static shapes.',
  proof:
    'The shapes follow from those of the inputs that the model is built for; what the file declares of inner tensors is not used.',
  versions: 'all',
  issues: [],
  apply: (draft) => {
    for (const node of draft.nodes('Shape', 'Size')) {
      if (node.id.includes('/')) continue;
      const shape = draft.subject.shape(node, node.inputs[0]!);
      if (!shape || !isKnown(shape)) continue;
      const of = (name: string): number | undefined => {
        const value = node.attributes.find((one) => one.name === name)?.value;
        return typeof value === 'number' ? value : undefined;
      };
      const dims = shape.slice(of('start') ?? 0, of('end') ?? shape.length);
      const values =
        node.op === 'Size' ? [shape.reduce<number>((size, dim) => size * Number(dim), 1)] : dims.map(Number);
      const dimensions = node.op === 'Size' ? [] : [values.length];
      put(draft, node, [node.outputs[0]!], () => ({
        type: 'int64',
        shape: dimensions,
        bytes: rawElements('int64', values),
      }));
    }
  },
};
