import type { OnnxNode } from '../../../../../kernel/read/onnx/onnxModel.ts';
import type { RepairDraft } from '../../draft.ts';
import type { Repair } from '../../repair.ts';

const classifiers = ['LinearClassifier', 'TreeEnsembleClassifier', 'SVMClassifier'].map((op) => `ai.onnx.ml:${op}`);
const lookups = ['Gather', 'ai.onnx.ml:ArrayFeatureExtractor', 'ai.onnx.ml:LabelEncoder'];

export const indexLabels: Repair = {
  id: 'index-labels',
  title: 'Give the index of a class instead of its name',
  class: 'signature',
  rejected: 'Labels that are strings: of classifiers, of LabelEncoder and in tables.',
  proof:
    'The index counts the names of the model in their order, from 0; −1 is the default of a LabelEncoder. Only where the label is an output of the model or is not used; probabilities stay the same.',
  versions: 'all',
  issues: [],
  operators: [
    'LinearClassifier',
    'TreeEnsembleClassifier',
    'SVMClassifier',
    'Gather',
    'ArrayFeatureExtractor',
    'LabelEncoder',
  ],
  answers: /initializer|string/i,
  apply: async (draft) => {
    for (const node of draft.nodes(...classifiers, ...lookups)) {
      // oxlint-disable-next-line no-await-in-loop
      const names = await namesOf(draft, node);
      if (names.length === 0) continue;
      const ends = endsOf(draft, node);
      if (ends) indexed(draft, node, names, ends);
      else draft.refuse(node, 'something reads the name of the class');
    }
  },
};

/** The strings that a node gives one of. */
async function namesOf({ subject }: RepairDraft, node: OnnxNode): Promise<string[]> {
  const list = async (name: string): Promise<string[]> => (await subject.lists(node, name))?.strings ?? [];
  if (classifiers.includes(subject.op(node))) return list('classlabels_strings');
  if (node.op === 'LabelEncoder') return (await list('keys_strings')).length > 0 ? [] : list('values_strings');
  return (await subject.strings(node, node.inputs[0]!)) ?? [];
}

const movers = new Set(['Identity', 'Reshape', 'Squeeze', 'Unsqueeze', 'Flatten']);

/** The outputs of the model that a node's first output becomes; null: something else reads it. */
function endsOf({ subject }: RepairDraft, from: OnnxNode): string[] | null {
  const ends: string[] = [];
  const open = [from];
  for (let node = open.pop(); node; node = open.pop()) {
    const [name = ''] = node.outputs;
    if (subject.isOutput(node, name)) ends.push(name);
    for (const reader of subject.readers(node, name)) {
      if (!movers.has(subject.op(reader)) || reader.inputs[0] !== name) return null;
      open.push(reader);
    }
  }
  return ends;
}

/** Attributes with strings, and what stands for them. */
const renamed: Record<string, string> = {
  LinearClassifier: 'classlabels_ints',
  SVMClassifier: 'classlabels_ints',
  TreeEnsembleClassifier: 'classlabels_int64s',
  LabelEncoder: 'values_int64s',
};
const texts = new Set(['classlabels_strings', 'values_strings', 'default_string']);

function indexed(draft: RepairDraft, node: OnnxNode, names: readonly string[], ends: readonly string[]): void {
  const { subject } = draft;
  const at = draft.at(node);
  const attribute = renamed[node.op];
  const numbers = [...names.keys()];
  const shape = subject.constantTensor(node, node.inputs[0]!)?.shape ?? [names.length];
  const attributes = node.attributes.filter(({ name }) => !texts.has(name));
  at.op(node.op, attribute ? node.inputs : [at.constant('int64', shape, numbers), ...node.inputs.slice(1)], {
    outputs: node.outputs,
    domain: node.domain,
    like: { ...node, attributes },
    ...(attribute && { attributes: { [attribute]: { ints: numbers } } }),
  });
  at.done(`0 is ${names[0]}, ${names.length - 1} is ${names.at(-1)}`);
  for (const end of ends) {
    const output = subject.model.graph.outputs.find(({ name }) => name === end);
    if (!output) continue;
    draft.reshape('outputs', { name: end, newType: 'int64', ...(output.shape && { shape: output.shape }) });
    draft.outputs.set(end, null);
  }
}
