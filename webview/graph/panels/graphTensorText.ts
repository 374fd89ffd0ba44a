import type { GraphTensor } from '../../../src/core/scene/panel/viewData.ts';

/** `float 1×197×192`; a dimension of unknown size is `?`. '' where neither type nor shape is known. */
export function graphTensorText(tensor: GraphTensor | undefined): string {
  if (tensor === undefined) return '';
  const shape =
    tensor.shape === null
      ? ''
      : tensor.shape.length === 0
        ? 'scalar'
        : tensor.shape.map((size) => size ?? '?').join('×');
  return [tensor.type ?? '', shape].filter((part) => part !== '').join(' ');
}
