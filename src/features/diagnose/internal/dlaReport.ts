import type { BuildLog } from '../../../kernel/read/tensorrt/buildOutput.ts';
import { addTo } from '../../../kernel/base/addTo.ts';
import { counted } from '../../../kernel/base/text.ts';
import type { Diagnosis } from '../../../kernel/build/diagnosis.ts';
/** Why a layer left the DLA where TensorRT says no more; the row `dla-fallback` says so. */
const UNEXPLAINED = 'not supported on DLA';

/** What TensorRT says of a layer when it has no reason, or has given it in a line before. */
const VAGUE = new RegExp(`^(?:Unsupported on DLA|${UNEXPLAINED})$`);

/** As many layers are named for each reason. */
const SHOWN = 3;

interface Left {
  kind: string;
  why: string;
  diagnosis: Diagnosis;
}

/**
 * All layers that left the DLA in one diagnosis: how many of each kind, why, which, and what it costs. TensorRT writes up
 * to three lines about a layer: the reason, the kind, and what it does.
 */
export function dlaReport(found: readonly Diagnosis[], { devices }: BuildLog): Diagnosis[] {
  const [first] = found;
  if (first === undefined) return [];
  const whole = found.find(({ message }) => message.startsWith('Every layer '));
  if (whole !== undefined)
    return [
      {
        ...whole,
        advice:
          'The DLA needs fixed shapes: build with the same --minShapes, --optShapes and --maxShapes. If you do not use the DLA, ignore this.',
      },
    ];
  const layers = new Map<string, Left>();
  for (const diagnosis of found) {
    const [, kind = 'layer', why = ''] = /\((\w+)\) runs on the GPU: (.*?)\.?$/s.exec(diagnosis.message) ?? [];
    const name = diagnosis.layer ?? '';
    const known = layers.get(name);
    if (known === undefined) layers.set(name, { kind, why, diagnosis });
    else {
      if (VAGUE.test(known.why)) known.why = why;
      if (known.kind === 'layer') known.kind = kind;
    }
  }
  const groups = new Map<string, string[]>();
  for (const [name, { kind, why }] of layers) addTo(groups, `${kind}\n (${why})`, name);
  const list = [...groups]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([key, names]) => {
      const [kind, why] = key.split('\n');
      return `${kind === 'layer' ? counted(names.length, kind) : `${names.length} ${kind}`}${why}: ${namesOf(names)}`;
    })
    .join('; ');
  const count = layers.size;
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

const namesOf = (names: readonly string[]): string =>
  names.slice(0, SHOWN).join(', ') + (names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '');
