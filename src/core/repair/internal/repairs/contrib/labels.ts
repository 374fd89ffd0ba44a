import type { Repair } from '../../repair.ts';

const classifiers = ['LinearClassifier', 'TreeEnsembleClassifier'];

export const indexLabels: Repair = {
  id: 'index-labels',
  title: 'Give the index of a class instead of its name',
  class: 'signature',
  rejected: 'Classifiers whose labels are strings.',
  proof:
    'The index counts the names of the model in their order, from 0. Only where the label is an output of the model or is not used; probabilities stay the same.',
  versions: 'all',
  issues: [],
  operators: classifiers,
  apply: async (draft) => {
    const { subject } = draft;
    for (const node of draft.nodes(...classifiers.map((op) => `ai.onnx.ml:${op}`))) {
      // oxlint-disable-next-line no-await-in-loop
      const names = (await subject.lists(node, 'classlabels_strings'))?.strings ?? [];
      const [label = ''] = node.outputs;
      if (names.length === 0) continue;
      const passed = subject.readers(node, label).filter((reader) => subject.op(reader) === 'Identity');
      const ends = [label, ...passed.map(({ outputs: [output = ''] }) => output)];
      const readers = ends.flatMap((name, index) => subject.readers(passed[index - 1] ?? node, name));
      if (readers.some((reader) => !passed.includes(reader))) {
        draft.refuse(node, 'something reads the name of the class');
        continue;
      }
      const attributes = node.attributes.filter(({ name }) => name !== 'classlabels_strings');
      const at = draft.at(node);
      at.op(node.op, node.inputs, {
        outputs: node.outputs,
        domain: node.domain,
        like: { ...node, attributes },
        attributes: {
          [node.op === 'LinearClassifier' ? 'classlabels_ints' : 'classlabels_int64s']: { ints: [...names.keys()] },
        },
      });
      at.done(`0 is ${names[0]}, ${names.length - 1} is ${names.at(-1)}`);
      for (const end of ends) {
        const output = subject.model.graph.outputs.find(({ name }) => name === end);
        if (!output) continue;
        draft.reshape('outputs', { name: end, newType: 'int64', ...(output.shape && { shape: output.shape }) });
        draft.outputs.set(end, null);
      }
    }
  },
};
