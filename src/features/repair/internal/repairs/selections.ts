import { intsAttribute, type OnnxNode, textAttribute } from '../../../../kernel/read/onnx/onnxModel.ts';
import type { RepairDraft } from '../draft.ts';
import type { Repair } from '../repair.ts';

const issues = ['NVIDIA/TensorRT-RTX#36'];

export const countNonzero: Repair = {
  id: 'count-nonzero',
  title: 'Count instead of listing with NonZero',
  class: 'exact',
  rejected: 'NonZero, whose output has as many columns as there are elements that are not 0.',
  proof:
    'Only where nothing but Shape and Size reads the list, or its Transpose: the shape is the rank and a count, which is exact in INT32.',
  versions: 'TensorRT-RTX 1.7',
  issues,
  apply: (draft) => {
    const { subject } = draft;
    for (const node of draft.nodes('NonZero')) {
      const [input = '', list = ''] = [node.inputs[0], node.outputs[0]];
      const turned = subject.readers(node, list).filter(turnsList);
      const readers = subject.readers(node, list).filter((reader) => !turned.includes(reader));
      const behind = turned.flatMap((reader) => subject.readers(reader, reader.outputs[0]!));
      const all = [...readers, ...behind];
      const rank = subject.rank(node, input);
      const type = subject.type(node, input);
      const isOutput = subject.isOutput(node, list) || turned.some((one) => subject.isOutput(one, one.outputs[0]!));
      if (isOutput || rank === null || type === null || all.length === 0) continue;
      if (!all.every((reader) => ['Shape', 'Size'].includes(subject.op(reader)) && reader.attributes.length === 0)) {
        draft.refuse(node, 'something other than Shape and Size reads its list');
        continue;
      }
      const at = draft.at(node);
      const set = type === 'bool' ? input : at.op('Not', [at.op('Equal', [input, at.scalar(type, 0)])]);
      const count = at.cast(at.reduce('ReduceSum', at.cast(set, 'int32'), null, false), 'int64');
      const sizes = [at.ints(rank), at.reshape(count, [1])];
      const shape = at.concat(sizes, 0);
      const back = behind.length > 0 ? at.concat(sizes.toReversed(), 0) : shape;
      at.done();
      for (const transpose of turned) draft.remove(transpose);
      for (const reader of all) {
        const its = draft.at(reader);
        if (reader.op === 'Shape')
          its.op('Identity', [behind.includes(reader) ? back : shape], { outputs: reader.outputs });
        else its.reduce('ReduceProd', shape, null, false, reader.outputs);
        its.done();
      }
    }
  },
};

/** The list with a row for each element. */
const turnsList = (node: OnnxNode): boolean =>
  node.op === 'Transpose' && (intsAttribute(node, 'perm') ?? [1, 0]).join() === '1,0';

export const maskWhere: Repair = {
  id: 'mask-where',
  title: 'Write x[mask] = value as Where',
  class: 'exact',
  rejected: 'NonZero, from which ScatterND takes the places to write one value to.',
  proof:
    'The list is that of all elements of a mask of the shape of the data, and every element that is written is the same constant.',
  versions: 'TensorRT-RTX 1.7',
  issues,
  operators: ['NonZero', 'Transpose'],
  apply: async (draft) => {
    // oxlint-disable-next-line no-await-in-loop
    for (const node of draft.nodes('ScatterND')) await where(draft, node);
  },
};

async function where(draft: RepairDraft, node: OnnxNode): Promise<void> {
  const { subject } = draft;
  if ((textAttribute(node, 'reduction') ?? 'none') !== 'none') return;
  const turned = subject.producer(node, node.inputs[1]!);
  const list = turned && turned.op === 'Transpose' ? subject.producer(turned, turned.inputs[0]!) : null;
  if (!list || subject.op(list) !== 'NonZero') return;
  const [data, mask] = [subject.shape(node, node.inputs[0]!), subject.shape(list, list.inputs[0]!)];
  if (!data || !mask || data.length !== mask.length)
    return draft.refuse(node, 'its mask has another rank than its data');
  let filler = subject.producer(node, node.inputs[2]!);
  while (filler && ['Reshape', 'Slice', 'Identity'].includes(filler.op))
    filler = subject.producer(filler, filler.inputs[0]!);
  if (!filler) return;
  const at = draft.at(node);
  const type = subject.type(node, node.inputs[0]!);
  const value = await valueIn(draft, filler);
  if (value === null || type === null) return draft.refuse(node, 'it writes more than one value');
  const maskType = subject.type(list, list.inputs[0]!);
  const set = maskType === 'bool' ? list.inputs[0]! : at.cast(list.inputs[0]!, 'bool');
  at.op('Where', [set, at.scalar(type, value), node.inputs[0]!], { outputs: node.outputs });
  at.done();
}

async function valueIn({ subject }: RepairDraft, filler: OnnxNode): Promise<number | null> {
  if (filler.op === 'Expand') {
    const constant = await subject.constant(filler, filler.inputs[0]);
    return constant?.values.length === 1 ? constant.values[0]! : null;
  }
  if (filler.op !== 'ConstantOfShape') return null;
  return subject.filling(filler);
}
