import type { Repair } from '../repair.ts';

export const loopCondition: Repair = {
  id: 'loop-condition',
  title: 'Give Loop a condition that is always true',
  class: 'exact',
  rejected: 'Loop without its optional condition.',
  proof: 'ONNX defines a missing condition as true.',
  versions: 'TensorRT 8.6 to 11.2, TensorRT-RTX 1.7',
  issues: [],
  apply: (draft) => {
    for (const node of draft.nodes('Loop')) {
      if ((node.inputs[1] ?? '') !== '') continue;
      const at = draft.at(node);
      const condition = at.scalar('bool', 1);
      // A Loop within its body may be edited, too, so what surrounds that stays.
      if (node.inputs.length > 1) {
        draft.rewire(node, 1, condition);
        draft.place(node);
        continue;
      }
      at.op('Loop', [node.inputs[0] ?? '', condition, ...node.inputs.slice(2)], { outputs: node.outputs, like: node });
      at.done();
    }
  },
};
