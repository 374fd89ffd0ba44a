import { intAttribute, type OnnxNode } from '../../../../kernel/read/onnx/onnxModel.ts';
import type { RepairDraft } from '../draft.ts';
import type { NewPlace } from '../place.ts';
import type { Repair } from '../repair.ts';

const bits: Partial<Record<string, number>> = { int8: 8, uint8: 8, int16: 16, uint16: 16, int32: 32, uint32: 32 };

const isSigned = (type: string): boolean => type.startsWith('int');

/** An integer of any size as the value that a type of so many bits keeps of it. */
function wrapped(at: NewPlace, value: string, own: string, type: string): string {
  const range = 2 ** bits[type]!;
  const rest = at.op('Mod', [value, at.scalar(own, range)]);
  if (!isSigned(type)) return rest;
  const isNegative = at.op('Greater', [rest, at.scalar(own, range / 2 - 1)]);
  return at.op('Where', [isNegative, at.op('Sub', [rest, at.scalar(own, range)]), rest]);
}

/** Operators that move the elements of their first input, or of all. */
const moving = new Set([
  'Concat',
  'Flatten',
  'Gather',
  'Pad',
  'Reshape',
  'Slice',
  'Squeeze',
  'Tile',
  'Transpose',
  'Unsqueeze',
]);
const mayOverflow = new Set(['Add', 'Sub', 'Mul', 'Neg', 'Abs']);
const arithmetic = new Set([
  ...mayOverflow,
  'Div',
  'Mod',
  'Min',
  'Max',
  'Clip',
  'Greater',
  'Less',
  'Equal',
  'Where',
  'ReduceMax',
  'ReduceMin',
  'ArgMax',
  'ArgMin',
  ...moving,
]);

export const narrowIntegers: Repair = {
  id: 'narrow-integers',
  title: 'Compute with 8-bit integers in INT32',
  class: 'exact',
  rejected:
    'Add, Sub, Mul, Div, Mod, Min, Max and Clip of UINT8 and INT8, ArgMax and ArgMin of UINT8, ReduceMax and ReduceMin of BOOL, and what moves UINT8 (Transpose, Reshape, Slice).',
  proof: 'INT32 holds every result; what passes 8 bits is wrapped as 8 bits wrap. Only failing nodes.',
  versions: 'all',
  issues: [],
  apply: (draft) => {
    // Of a Cast to UINT8, those that read it.
    const failing = draft.rest.filter(
      (node) => draft.blocked.has(node.id) && (node.op === 'Cast' || arithmetic.has(draft.subject.op(node))),
    );
    for (const node of withByteReaders(draft, failing)) if (arithmetic.has(draft.subject.op(node))) widen(draft, node);
  },
};

/** Nodes and those that read UINT8 of them, on and on: TensorRT refuses these next. */
function withByteReaders(draft: RepairDraft, nodes: readonly OnnxNode[]): Set<OnnxNode> {
  const { subject } = draft;
  const all = new Set(nodes);
  for (const node of all)
    for (const output of node.outputs.filter((name) => subject.type(node, name) === 'uint8'))
      for (const reader of subject.readers(node, output)) if (arithmetic.has(subject.op(reader))) all.add(reader);
  return all;
}

function widen(draft: RepairDraft, node: OnnxNode): void {
  const { subject } = draft;
  if (moving.has(node.op) && subject.type(node, node.inputs[0]!) !== 'uint8') return;
  const types = node.op.startsWith('Reduce') ? ['bool', 'int8', 'uint8'] : ['int8', 'uint8'];
  const narrow = node.inputs.map((name) => name !== '' && types.includes(subject.type(node, name) ?? ''));
  const type = subject.type(node, node.inputs[narrow.indexOf(true)] ?? '');
  if (type === null || (node.op === 'Mod' && intAttribute(node, 'fmod') === 1)) return;
  const at = draft.at(node);
  const inputs = node.inputs.map((name, index) => (narrow[index] ? at.cast(name, 'int32') : name));
  if (['Greater', 'Less', 'Equal', 'ArgMax', 'ArgMin'].includes(node.op))
    at.op(node.op, inputs, { outputs: node.outputs, like: node });
  else {
    const wide = at.op(node.op, inputs, { like: node });
    at.keepName();
    at.cast(mayOverflow.has(node.op) ? wrapped(at, wide, 'int32', type) : wide, type, node.outputs);
  }
  at.done();
}
