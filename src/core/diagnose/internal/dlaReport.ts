import type { BuildLog } from '../../formats/tensorrt/buildOutput.ts';
import { counted } from '../../base/text.ts';
import type { Diagnosis } from '../diagnosis.ts';

/** All layers that left the DLA in one diagnosis: how many of each kind, why, and what it costs. */
export function dlaReport(found: readonly Diagnosis[], { devices }: BuildLog): Diagnosis[] {
  const [first] = found;
  if (first === undefined) return [];
  const kinds = new Map<string, number>();
  let count = 0;
  for (const { message, count: times = 1 } of found) {
    const [, kind = 'layer', why = ''] = /\(([^()]*)\) runs on the GPU: (.*)$/.exec(message) ?? [];
    const key = `${kind}: ${why.replace(/\.$/, '')}`;
    kinds.set(key, (kinds.get(key) ?? 0) + times);
    count += times;
  }
  const list = [...kinds]
    .toSorted((a, b) => b[1] - a[1])
    .map(([key, times]) => `${times} ${key.replace(': ', ' (')})`)
    .join(', ');
  const loadables = devices?.loadables.length ?? 0;
  const parts =
    loadables === 0
      ? ''
      : ` The network has ${counted(loadables, 'DLA loadable')} and ${counted(devices!.gpuLayers, 'GPU layer')}: up to ${loadables * 2} transitions between them.`;
  return [
    {
      ...first,
      message: `${counted(count, 'layer')} ${count === 1 ? 'runs' : 'run'} on the GPU instead of the DLA (fallback): ${list}.${parts}`,
      advice:
        'Each switch between DLA and GPU is a transition that costs a copy and a synchronization. Move such layers to the ends of the network, or leave them out of the engine: constants and reshapes (Shuffle) of a detection head belong after it. Replace what the DLA lacks (LeakyRelu or SiLU by ReLU, dilated or grouped convolutions, Resize by ConvTranspose or nearest), and keep 4-D tensors with a fixed batch.',
      nodes: [...new Set(found.flatMap(({ nodes }) => nodes))],
      layer: count === 1 ? first.layer : null,
      ...(count > 1 && { count }),
    },
  ];
}
