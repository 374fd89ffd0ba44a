import type { TensorFacts } from '../../../src/core/scene/graph/tensorIndex.ts';

/** `float 1×197×192`, with the format of an engine's tensor; a dimension of unknown size is `?`. '' where nothing is known. */
export function graphTensorText(tensor: Pick<TensorFacts, 'type' | 'shape' | 'format'> | undefined): string {
  if (tensor === undefined) return '';
  const shape =
    tensor.shape === null
      ? ''
      : tensor.shape.length === 0
        ? 'scalar'
        : tensor.shape.map((size) => size ?? '?').join('×');
  return [tensor.type ?? '', shape, tensor.format ?? ''].filter((part) => part !== '').join(' ');
}
