import type { Repair } from '../repair.ts';

export const sliceAxes: Repair = {
  id: 'slice-axes',
  title: 'Write the axes of Slice into the model',
  class: 'exact',
  rejected: 'Slice without axes whose starts are fewer than the dimensions.',
  proof: 'Without axes, Slice takes the first ones, as many as there are starts. These are written out.',
  versions: 'TensorRT 8.6 to 11.2, TensorRT-RTX 1.7',
  issues: [],
  apply: (draft) => {
    if (draft.subject.opset < 10) return;
    for (const node of draft.nodes('Slice')) {
      if ((node.inputs[3] ?? '') !== '') continue;
      const [starts] = draft.subject.shape(node, node.inputs[1]!) ?? [];
      if (typeof starts !== 'number') continue;
      const rank = draft.subject.rank(node, node.inputs[0]!);
      // With as many starts as dimensions TensorRT takes it as it is.
      if (rank === starts) continue;
      const at = draft.at(node);
      const axes = at.ints(...Array.from({ length: starts }, (_, axis) => axis));
      at.op('Slice', [...node.inputs.slice(0, 3), axes, ...node.inputs.slice(4)], { outputs: node.outputs });
      at.done();
    }
  },
};
