import { intAttribute, type OnnxNode, textAttribute } from '../../../../kernel/read/onnx/onnxModel.ts';
import { isStandardDomain } from '../../../../kernel/network/modelGraph.ts';
import { axisOf } from '../../../../kernel/network/outputTypes.ts';
import type { RepairDraft } from '../draft.ts';
import type { Repair } from '../repair.ts';

export const raiseOpset: Repair = {
  id: 'raise-opset',
  title: 'Import operator set 7 and broadcast as it does',
  class: 'exact',
  rejected: 'Add, Mul, PRelu, Gemm and others of operator sets 5 and 6, which broadcast by an attribute.',
  proof:
    'What was broadcast along an axis gets the dimensions of size 1 that numpy broadcasting needs. ONNX Runtime does not run all operators of these versions, so the result may be unproved. Refused where another operator changed.',
  versions: 'all',
  issues: [],
  answers: /opset|broadcast/i,
  apply: (draft) => {
    const { model, opset } = draft.subject;
    if (opset < 5 || opset > 6) return;
    const nodes = model.nodes.filter(({ domain }) => isStandardDomain(domain));
    for (const node of nodes) {
      const reason = changes[node.op]?.(draft, node) ?? null;
      if (reason !== null) return draft.refuse(node, reason);
    }
    for (const node of nodes) rewrite(draft, node);
    draft.raiseTo(7);
    draft.placeOf('operator set', 'import', `${opset} → 7`);
  },
};

const broadcasting = new Set('Add Sub Mul Div Pow And Or Xor Equal Greater Less'.split(' '));

/** Why a node of an operator set before 7 cannot be written for 7; null: it can. */
const changes: Record<string, (draft: RepairDraft, node: OnnxNode) => string | null> = {
  ...Object.fromEntries(
    [...broadcasting].map((op) => [
      op,
      ({ subject }: RepairDraft, node: OnnxNode) =>
        intAttribute(node, 'axis') !== undefined && node.inputs.some((name) => subject.rank(node, name) === null)
          ? 'it broadcasts along an axis, and the ranks of its inputs are not known'
          : null,
    ]),
  ),
  PRelu: ({ subject }, node) =>
    node.inputs.some((name) => subject.rank(node, name) === null) ? 'the ranks of its inputs are not known' : null,
  BatchNormalization: (_, node) =>
    intAttribute(node, 'is_test') !== 1 || intAttribute(node, 'spatial') === 0
      ? 'it is in training mode, or has statistics of every place'
      : null,
  Dropout: (_, node) => (intAttribute(node, 'is_test') === 1 ? null : 'it is in training mode'),
  Cast: (_, node) => (textAttribute(node, 'to') === undefined ? null : 'its type is a text'),
  ...Object.fromEntries(
    ['LSTM', 'GRU', 'RNN', 'Upsample'].map((op) => [op, () => 'it has other attributes since operator set 7']),
  ),
};

const gone = new Set(['broadcast', 'consumed_inputs', 'is_test']);

function rewrite(draft: RepairDraft, node: OnnxNode): void {
  const { subject } = draft;
  const [first = '', second = ''] = node.inputs;
  const axis = broadcasting.has(node.op) ? intAttribute(node, 'axis') : undefined;
  const isSlope = node.op === 'PRelu' && subject.rank(node, second) === 1 && subject.shape(node, second)?.[0] !== 1;
  const attributes = node.attributes.filter(({ name }) => !gone.has(name) && (name !== 'axis' || axis === undefined));
  if (attributes.length === node.attributes.length && !isSlope) return;
  const at = draft.at(node);
  const [rank, other] = [subject.rank(node, first) ?? 0, subject.rank(node, second) ?? 0];
  const from = isSlope ? 1 : axis === undefined ? undefined : axisOf(axis, rank);
  const behind = from === undefined ? 0 : rank - from - other;
  const inputs =
    behind > 0
      ? [first, at.reshape(second, [...Array<number>(other).fill(0), ...Array<number>(behind).fill(1)])]
      : node.inputs;
  at.op(node.op, inputs, { outputs: node.outputs, like: { ...node, attributes } });
  at.done();
}
