import { textAttribute } from '../../../../../kernel/read/onnx/onnxModel.ts';
import type { Repair } from '../../repair.ts';

/** Differences of the largest tensor that stands for one distance matrix. */
const mostElements = 2 ** 27;

export const pairwiseDistance: Repair = {
  id: 'pairwise-distance',
  title: 'Write CDist as differences of all pairs of rows',
  class: 'rounding',
  rejected: 'CDist of com.microsoft, as converters of nearest neighbors and Gaussian processes write it.',
  proof:
    'The squares of all differences are added in another order. The memory is that of all pairs times the columns, so large ones are refused, and so are sizes that are not known.',
  versions: 'all',
  issues: [],
  apply: (draft) => {
    for (const node of draft.nodes('com.microsoft:CDist')) {
      const [left = '', right = ''] = node.inputs;
      const metric = textAttribute(node, 'metric') ?? 'sqeuclidean';
      const sizes = [left, right].flatMap((name) =>
        draft.subject.shapes(node, name).map((shape) => (shape?.length === 2 ? Math.max(...shape.map(Number)) : NaN)),
      );
      const columns = draft.subject.shape(node, right)?.[1];
      if (metric !== 'sqeuclidean' && metric !== 'euclidean') draft.refuse(node, `its metric is ${metric}`);
      else if (sizes.some(Number.isNaN) || typeof columns !== 'number')
        draft.refuse(node, 'the sizes of its inputs are not known');
      else if (Math.max(...sizes) ** 2 * columns > mostElements)
        draft.refuse(node, 'it would take more than 2^27 elements at a time');
      else {
        const at = draft.at(node);
        const apart = at.op('Sub', [at.unsqueeze(left, [1]), at.unsqueeze(right, [0])]);
        const last = metric === 'euclidean' ? undefined : node.outputs;
        const sum = at.reduce('ReduceSum', at.op('Mul', [apart, apart]), [2], false, last);
        if (metric === 'euclidean') at.op('Sqrt', [sum], { outputs: node.outputs });
        at.done();
      }
    }
  },
};
