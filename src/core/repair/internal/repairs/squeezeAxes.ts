import { isKnown } from '../../../network/outputTypes.ts';
import type { Repair } from '../repair.ts';

export const squeezeAxes: Repair = {
  id: 'squeeze-axes',
  title: 'Write the axes of Squeeze into the model',
  class: 'exact',
  rejected: 'Squeeze without axes removes every dimension of size 1, so its rank depends on the shapes.',
  proof:
    'The axes are those of size 1 in all shapes that the model is built for. Where a dimension is 1 only in some of them, nothing is changed, because the rank of the output would change with the shapes.',
  versions: 'TensorRT up to 11.4, TensorRT-RTX up to 1.7',
  issues: ['NVIDIA/TensorRT#3420', 'NVIDIA/TensorRT#3515', 'PaddlePaddle/Paddle2ONNX#1161'],
  apply: (draft) => {
    for (const node of draft.nodes('Squeeze')) {
      if (node.attributes.some(({ name }) => name === 'axes') || (node.inputs[1] ?? '') !== '') continue;
      const shapes = draft.subject.shapes(node, node.inputs[0]!);
      const known = shapes.flatMap((shape) => (shape && isKnown(shape) ? [shape] : []));
      if (known.length < shapes.length) {
        draft.refuse(node, 'the shape of its input is not known for the given shapes');
        continue;
      }
      const axes = known.map((shape) => shape.flatMap((dim, axis) => (dim === 1 ? [axis] : [])));
      if (new Set(axes.map(String)).size > 1) {
        draft.refuse(node, 'a dimension of its input has size 1 only in some of the given shapes');
        continue;
      }
      const at = draft.at(node);
      at.squeeze(node.inputs[0]!, axes[0]!, node.outputs);
      at.done(`axes ${axes[0]!.join(', ')}`);
    }
  },
};
