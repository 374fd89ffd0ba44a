import type { BuildLog } from '../../formats/tensorrt/buildOutput.ts';
import { counted } from '../../base/text.ts';
import type { Diagnosis } from '../diagnosis.ts';

/** All layers that left the DLA in one diagnosis: how many of each kind, why, and what it costs. */
export function dlaReport(found: readonly Diagnosis[], { devices }: BuildLog): Diagnosis[] {
  const [first] = found;
  if (first === undefined) return [];
  const layers = layersOf(found);
  const kinds = new Map<string, number>();
  for (const { kind, why } of layers) {
    const key = `${kind} (${why})`;
    kinds.set(key, (kinds.get(key) ?? 0) + 1);
  }
  const count = layers.length;
  const list = [...kinds]
    .toSorted((a, b) => b[1] - a[1])
    .map(([key, times]) => `${times} ${key}`)
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

/** Each layer once: one line often says the limit of the DLA, and the next one the kind of layer. */
function layersOf(found: readonly Diagnosis[]): { kind: string; why: string }[] {
  const layers = new Map<string, { kind: string; why: string }>();
  for (const [at, { message, layer }] of found.entries()) {
    const [, kind = 'layer', reason = ''] = /\(([^()]*)\) runs on the GPU: (.*)$/.exec(message) ?? [];
    const why = reason.replace(/\.$/, '');
    const name = layer ?? String(at);
    const known = layers.get(name);
    layers.set(name, {
      kind: kind === 'layer' ? (known?.kind ?? kind) : kind,
      why: known !== undefined && /^(?:Uns|not s)upported on DLA$/i.test(why) ? known.why : why,
    });
  }
  return [...layers.values()];
}
