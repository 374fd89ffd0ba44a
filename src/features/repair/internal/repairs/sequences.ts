import { intAttribute, type OnnxNode } from '../../../../kernel/read/onnx/onnxModel.ts';
import { isContainer } from '../../../../kernel/network/outputTypes.ts';
import type { RepairDraft } from '../draft.ts';
import type { NewPlace } from '../place.ts';
import type { Repair } from '../repair.ts';

const rejected = 'Every operator of sequences.';
const issues = ['onnx/onnx-tensorrt#1044'];
const versions = 'all';

export const splitSequences: Repair = {
  id: 'split-sequences',
  title: 'Write SplitToSequence as Split',
  class: 'exact',
  rejected,
  proof:
    'Only where the number and sizes of the parts are known and only SequenceAt, ConcatFromSequence and SequenceLength read them.',
  versions,
  issues,
  operators: ['SplitToSequence', 'SequenceAt', 'ConcatFromSequence', 'SequenceLength'],
  apply: async (draft) => {
    // oxlint-disable-next-line no-await-in-loop
    for (const node of draft.nodes('SplitToSequence')) await split(draft, node);
  },
};

async function split(draft: RepairDraft, node: OnnxNode): Promise<void> {
  const { subject } = draft;
  const shape = subject.shape(node, node.inputs[0]!);
  if (!shape) return draft.refuse(node, 'the shape of its input is not known');
  const axis = (intAttribute(node, 'axis') ?? 0) + ((intAttribute(node, 'axis') ?? 0) < 0 ? shape.length : 0);
  const whole = shape[axis];
  const sizes = await partSizes(draft, node, typeof whole === 'number' ? whole : null);
  if (!sizes) return draft.refuse(node, 'the number of its parts depends on the input');
  const readers = subject.readers(node, node.outputs[0]!);
  if (!(await allReadable(draft, readers)) || subject.isOutput(node, node.outputs[0]!))
    return draft.refuse(node, 'something else reads its sequence');
  const at = draft.at(node);
  let parts = sizes.map(() => at.name());
  at.split(node.inputs[0]!, sizes, axis, parts);
  const keep = (node.inputs[1] ?? '') !== '' || (intAttribute(node, 'keepdims') ?? 1) === 1;
  if (!keep) parts = parts.map((part) => at.squeeze(part, [axis]));
  at.done();
  for (const reader of readers) await readList(draft, reader, parts);
}

async function partSizes(draft: RepairDraft, node: OnnxNode, whole: number | null): Promise<number[] | null> {
  const given = await draft.subject.constant(node, node.inputs[1]);
  if ((node.inputs[1] ?? '') !== '' && !given) return null;
  if (given && given.shape.length === 1) return [...given.values];
  if (whole === null) return null;
  const size = given ? given.values[0]! : 1;
  const rest = whole % size;
  return [...Array<number>(Math.floor(whole / size)).fill(size), ...(rest > 0 ? [rest] : [])];
}

const listReaders = new Set(['SequenceAt', 'ConcatFromSequence', 'SequenceLength']);

async function allReadable(draft: RepairDraft, readers: readonly OnnxNode[]): Promise<boolean> {
  for (const reader of readers) {
    if (!listReaders.has(draft.subject.op(reader)) || draft.isReplaced(reader)) return false;
    // oxlint-disable-next-line no-await-in-loop
    if (reader.op === 'SequenceAt' && !(await draft.subject.constant(reader, reader.inputs[1]))) return false;
  }
  return true;
}

/** A reader of a sequence of which the tensors are known. */
async function readList(draft: RepairDraft, reader: OnnxNode, parts: readonly string[]): Promise<void> {
  const at = draft.at(reader);
  const outputs = reader.outputs;
  if (reader.op === 'SequenceLength') at.op('Identity', [at.scalar('int64', parts.length)], { outputs });
  else if (reader.op === 'SequenceAt') {
    const index = (await draft.subject.constant(reader, reader.inputs[1]))!.values[0]!;
    at.op('Identity', [parts[index < 0 ? index + parts.length : index]!], { outputs });
  } else joinParts(at, reader, parts);
  at.done();
}

function joinParts(at: NewPlace, reader: OnnxNode, parts: readonly string[]): void {
  const axis = intAttribute(reader, 'axis') ?? 0;
  const lists = intAttribute(reader, 'new_axis') === 1 ? parts.map((part) => at.unsqueeze(part, [axis])) : parts;
  at.concat(lists, axis, reader.outputs);
}

export const unrollSequences: Repair = {
  id: 'unroll-sequences',
  title: 'Use the tensors of a sequence themselves',
  class: 'exact',
  rejected,
  proof:
    'Only sequences that are made by SequenceConstruct, SequenceEmpty and SequenceInsert outside of loops, so that their length and order are known.',
  versions,
  issues,
  operators: ['SequenceConstruct', 'SequenceEmpty', 'SequenceInsert', ...listReaders],
  apply: async (draft) => {
    const lists = new Map<string, string[]>();
    for (const node of draft.rest) {
      if (node.id.includes('/')) continue;
      // oxlint-disable-next-line no-await-in-loop
      await follow(draft, node, lists);
    }
  },
};

async function follow(draft: RepairDraft, node: OnnxNode, lists: Map<string, string[]>): Promise<void> {
  const { subject } = draft;
  const op = subject.op(node);
  const known = lists.get(node.inputs[0] ?? '');
  if (op === 'SequenceConstruct') lists.set(node.outputs[0]!, [...node.inputs]);
  else if (op === 'SequenceEmpty') lists.set(node.outputs[0]!, []);
  else if (op === 'SequenceInsert' || op === 'SequenceErase') {
    const isInsert = op === 'SequenceInsert';
    const name = node.inputs[isInsert ? 2 : 1] ?? '';
    const given = await subject.constant(node, name);
    if (!known || (name !== '' && !given)) return;
    const place = given?.values[0] ?? (isInsert ? known.length : -1);
    const from = place < 0 ? place + known.length : place;
    lists.set(node.outputs[0]!, isInsert ? known.toSpliced(from, 0, node.inputs[1]!) : known.toSpliced(from, 1));
  } else if (known && known.length > 0 && (await allReadable(draft, [node]))) await readList(draft, node, known);
}

export const unwrapOptionals: Repair = {
  id: 'unwrap-optionals',
  title: 'Use what an Optional holds itself',
  class: 'exact',
  rejected: 'Optional and its readers.',
  proof: 'Only Optionals that are made in the model, so that it is known whether they hold something.',
  versions: 'all',
  issues: [],
  operators: ['Optional', 'OptionalGetElement', 'OptionalHasElement'],
  apply: (draft) => {
    for (const node of draft.nodes('OptionalGetElement', 'OptionalHasElement')) {
      const [input = ''] = node.inputs;
      const maker = draft.subject.producer(node, input);
      const isMade = maker && draft.subject.op(maker) === 'Optional';
      // Since operator set 18 both also read what is no Optional.
      if (!isMade && input !== '' && isContainer(draft.subject.type(node, input) ?? 'optional()')) continue;
      const held = isMade ? (maker.inputs[0] ?? '') : input;
      if (held === '' && node.op === 'OptionalGetElement') continue;
      const at = draft.at(node);
      at.op('Identity', [node.op === 'OptionalGetElement' ? held : at.scalar('bool', held === '' ? 0 : 1)], {
        outputs: node.outputs,
      });
      at.done();
    }
  },
};
