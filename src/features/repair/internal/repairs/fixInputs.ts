import type { Repair } from '../repair.ts';

export const fixInputs: Repair = {
  id: 'fix-inputs',
  title: 'Write the given values of an input into the model',
  class: 'signature',
  rejected:
    'An If, size, axis or other setting that an input of the model decides, as the sampling rate of a speech model.',
  proof:
    'Only with values passed as the shape of the input (`--shapes sr:16000`), the same in all profiles. The model is then for these values alone: programs must no longer pass the input. Compared on these values.',
  versions: 'all',
  issues: [],
  answers: /./,
  apply: (draft) => {
    const { graph, model, options } = draft.subject;
    for (const { name, type, shape } of model.graph.inputs) {
      const values = options.values?.get(name);
      const tensor = graph.tensors[graph.byName.get(name) ?? -1];
      if (!values || !tensor || type === null || shape === null) continue;
      // One value could be the size that it is, too: only what a failing node reads.
      const isSize = values.length === 1 && shape.length === 1 && shape[0] === values[0];
      if (isSize && !tensor.consumers.some((index) => draft.blocked.has(graph.nodes[index]!.id))) continue;
      if (graph.graphOutputs.includes(graph.byName.get(name)!)) continue;
      draft.undeclare('inputs', name);
      draft.addInitializer(name, type, shape.length === 0 ? [] : [values.length], values);
      draft.placeOf(name, 'input', `${type} ${values.join(', ')}`);
    }
  },
};
