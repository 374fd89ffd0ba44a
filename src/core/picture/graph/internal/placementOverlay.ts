import type { NodePlacement, ProviderShare } from '../../../fusion/fusionReport.ts';

/** Colors of the providers that run engines of TensorRT, of CUDA and of the CPU; others follow. */
const colors: Readonly<Record<string, number>> = {
  TensorrtExecutionProvider: 6,
  NvTensorRTRTXExecutionProvider: 6,
  CUDAExecutionProvider: 0,
  CPUExecutionProvider: 1,
};

const others = [2, 3, 4, 5, 7];

/** Takes what one point is: key and label of its line in the legend, paint, meaning. */
type PaintNode = (point: number, key: string, label: string, paint: number, meaning: string) => void;

/**
 * Where ONNX Runtime runs each node; derived ones in the second shade of their provider's color.
 * @param paints of core/picture/graph/overlay.ts
 * @returns keys of the legend's lines, in their order
 */
export function paintPlacement(
  put: PaintNode,
  placements: readonly (NodePlacement | undefined)[],
  providers: readonly ProviderShare[],
  paints: { derived: number; unknown: number },
): string[] {
  const free = providers.filter(({ provider }) => colors[provider] === undefined).map(({ provider }) => provider);
  const colorOf = (provider: string) => colors[provider] ?? others[free.indexOf(provider) % others.length]!;
  for (const [point, placement] of placements.entries()) {
    if (placement === undefined || placement.provider === null)
      put(point, 'unplaced', 'Not listed', paints.unknown, 'the log of ONNX Runtime does not say where it runs');
    else {
      const { provider, exact } = placement;
      const label = provider.replace(/ExecutionProvider$/, '');
      if (exact) put(point, provider, label, colorOf(provider), 'the log of ONNX Runtime lists it');
      else
        put(
          point,
          `${provider} derived`,
          `${label} (derived)`,
          paints.derived + colorOf(provider),
          'derived from the log',
        );
    }
  }
  return [...providers.flatMap(({ provider }) => [provider, `${provider} derived`]), 'unplaced'];
}
