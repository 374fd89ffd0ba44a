import { isKnown } from '../../../../kernel/network/outputTypes.ts';
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
