import { textAttribute } from '../../../../kernel/read/onnx/onnxModel.ts';
import type { Repair } from '../repair.ts';

/** Nearest modes that take the same pixels with the half-pixel coordinates, which are less by one half. */
const SAME_PIXELS: Readonly<Record<string, string>> = { floor: 'round_prefer_ceil', round_prefer_floor: 'ceil' };

export const halfPixelNearest: Repair = {
  id: 'half-pixel-nearest',
  title: 'Write nearest Resize with tf_half_pixel_for_nn with half_pixel',
  class: 'exact',
  rejected: 'Resize with the coordinates tf_half_pixel_for_nn and sizes, or nearest_mode floor as tf2onnx writes it.',
  proof:
    'The coordinates of half_pixel are less by one half, and rounding them up at one half takes the pixel that floor took. For nearest_mode floor and round_prefer_floor.',
  versions: 'TensorRT-RTX 1.7',
  issues: [],
  apply: (draft) => {
    for (const node of draft.nodes('Resize')) {
      if (textAttribute(node, 'coordinate_transformation_mode') !== 'tf_half_pixel_for_nn') continue;
      const rounded = SAME_PIXELS[textAttribute(node, 'nearest_mode') ?? 'round_prefer_floor'];
      if (rounded === undefined || (textAttribute(node, 'mode') ?? 'nearest') !== 'nearest') {
        draft.refuse(node, 'no nearest_mode of half_pixel takes the same pixels');
        continue;
      }
      const at = draft.at(node);
      const attributes = {
        coordinate_transformation_mode: { string: 'half_pixel' },
        nearest_mode: { string: rounded },
      };
      at.op('Resize', node.inputs, { outputs: node.outputs, like: node, attributes });
      at.done();
    }
  },
};
