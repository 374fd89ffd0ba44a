import type { GraphTensor } from '../../../src/core/scene/panel/viewData.ts';

/** `float 1×197×192`, with the format of an engine's tensor; a dimension of unknown size is `?`. '' where nothing is known. */
export function graphTensorText(tensor: GraphTensor | undefined): string {
  if (tensor === undefined) return '';
  const shape =
    tensor.shape === null
      ? ''
      : tensor.shape.length === 0
        ? 'scalar'
        : tensor.shape.map((size) => size ?? '?').join('×');
  return [tensor.type ?? '', shape, tensor.format ?? ''].filter((part) => part !== '').join(' ');
}
