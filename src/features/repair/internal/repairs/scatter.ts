import { intAttribute, type OnnxNode, textAttribute } from '../../../../kernel/read/onnx/onnxModel.ts';
import { axisOf, type Dim, isKnown } from '../../../../kernel/network/outputTypes.ts';
import type { RepairDraft } from '../draft.ts';
import type { Repair } from '../repair.ts';

const issues = ['NVIDIA/TensorRT#2396', 'NVIDIA/TensorRT#3650', 'NVIDIA/TensorRT#3750', 'onnx/onnx-tensorrt#957'];

export const scatterNone: Repair = {
  id: 'scatter-none',
  title: 'Leave out the reduction "none" of ScatterElements and ScatterND',
  class: 'exact',
  rejected: 'An explicit reduction="none".',
  proof: '"none" is what a missing attribute means.',
  versions: 'TensorRT up to 10, TensorRT-RTX 1.7',
  issues: ['microsoft/onnxruntime#23618'],
  apply: (draft) => {
    for (const node of draft.nodes('ScatterElements', 'ScatterND')) {
      if (textAttribute(node, 'reduction') !== 'none') continue;
      const at = draft.at(node);
      const attributes = node.attributes.filter(({ name }) => name !== 'reduction');
      at.op(node.op, node.inputs, { outputs: node.outputs, like: { ...node, attributes } });
      at.done();
    }
  },
};

/** Elements of the largest tensor that stands for one scatter. */
const mostElements = 2 ** 27;

export const scatterReduction: Repair = {
  id: 'scatter-reduction',
  title: 'Write scatter with a reduction as a masked sum, product, maximum or minimum',
  class: 'rounding',
  rejected: 'ScatterElements and ScatterND with reduction add, mul, max or min.',
  proof:
    'Every element takes the updates whose index is its own: a Where with the neutral element and a reduction, so that infinities stay in their row. Sums and products are in another order; maxima and minima are exact. The memory is that of rows times updates, so large ones are refused.',
  versions: 'all',
  issues,
  operators: ['ScatterElements', 'ScatterND'],
  answers: /reduction/i,
  apply: (draft) => {
    for (const node of draft.nodes('ScatterElements', 'ScatterND')) masked(draft, node);
  },
};

const reductions: Partial<Record<string, { reduce: string; merge: string; neutral: number }>> = {
  add: { reduce: 'ReduceSum', merge: 'Add', neutral: 0 },
  mul: { reduce: 'ReduceProd', merge: 'Mul', neutral: 1 },
  max: { reduce: 'ReduceMax', merge: 'Max', neutral: -Infinity },
  min: { reduce: 'ReduceMin', merge: 'Min', neutral: Infinity },
};

interface Scatter {
  reduction: NonNullable<(typeof reductions)[string]>;
  axis: number;
  rank: number;
  type: string;
}

function masked(draft: RepairDraft, node: OnnxNode): void {
  const reduction = reductions[textAttribute(node, 'reduction') ?? 'none'];
  if (!reduction) return;
  const [shape, places, values] = node.inputs.map((name) => draft.subject.shape(node, name));
  const type = draft.subject.type(node, node.inputs[0]!);
  if (!shape || !places || !values || type === null) return draft.refuse(node, 'the ranks of its inputs are not known');
  const isNd = node.op === 'ScatterND';
  const axis = isNd ? 0 : axisOf(intAttribute(node, 'axis') ?? 0, shape.length);
  if (axis === undefined) return;
  const reason = isNd ? unfitList(places) : unfitColumns(shape, places, axis);
  const count = isNd ? (values[0] ?? null) : (places[axis] ?? null);
  const elements = [...shape, count];
  const size = isKnown(elements) ? elements.reduce<number>((product, dim) => product * Number(dim), 1) : 0;
  if (!type.startsWith('float') && reduction.merge !== 'Add') draft.refuse(node, `its type is ${type}`);
  else if (reason !== null) draft.refuse(node, reason);
  else if (size > mostElements) draft.refuse(node, 'it would take more than 2^27 elements at a time');
  else write(draft, node, { reduction, axis, rank: shape.length, type });
}

const unfitList = (places: readonly Dim[]): string | null =>
  places.length === 2 && places[1] === 1 ? null : 'its indices are more than a list of rows';

/** Where the other dimensions are smaller than those of the data, some columns have no updates. */
const unfitColumns = (shape: readonly Dim[], places: readonly Dim[], axis: number): string | null =>
  shape.some((dim, i) => i !== axis && (dim === null || dim !== places[i]))
    ? 'its indices cover only a part of the other dimensions, or these are not known'
    : null;

function write(draft: RepairDraft, node: OnnxNode, { reduction, axis, rank, type }: Scatter): void {
  const [data = '', indices = '', updates = ''] = node.inputs;
  const at = draft.at(node);
  const number = (value: number): string => at.scalar('int64', value);
  const rows = at.gather(at.op('Shape', [data]), number(axis), 0);
  const wide = draft.subject.type(node, indices) === 'int64' ? indices : at.cast(indices, 'int64');
  const positive = at.op('Where', [at.op('Less', [wide, number(0)]), at.op('Add', [wide, rows]), wide]);
  // For each row all updates: rows at `axis`, updates right behind it.
  const ones = Array<number>(rank - axis).fill(1);
  const row = at.reshape(at.op('Range', [number(0), rows, number(1)]), [-1, ...ones]);
  const isNd = node.op === 'ScatterND';
  const index = isNd ? at.reshape(positive, [1, -1, ...ones.slice(1)]) : at.unsqueeze(positive, [axis]);
  const updated = at.unsqueeze(updates, [axis]);
  const chosen = at.op('Where', [at.op('Equal', [row, index]), updated, at.scalar(type, reduction.neutral)]);
  const reduced = at.reduce(reduction.reduce, chosen, [axis + 1], false);
  at.op(reduction.merge, [data, reduced], { outputs: node.outputs });
  at.done();
}
