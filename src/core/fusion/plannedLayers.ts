import type { BuildPhase } from '../engine/buildLog.ts';
import type { EngineLayer } from '../engine/engineLayer.ts';
import { bareLayer } from '../engine/readLayerLine.ts';
import { atomsOf, parseLayerName } from '../model/layerName.ts';
import type { NodeNames } from '../model/nodeNames.ts';

/**
 * The layers that a build meant to have when its log ended: those in final order where that is known, otherwise those
 * that it timed, then those that its fusions made and that it had not come to. Without tensors, since no engine exists.
 */
export function plannedLayers(phase: BuildPhase, finalLayers: readonly string[], known: NodeNames): EngineLayer[] {
  const layers = new Map<string, EngineLayer>();
  const add = (name: string, line: number | null): void => {
    // `Optimizer Reformat(a -> b)` is timed to know what a reformat would cost; it is not a layer yet.
    if (name !== '' && !name.startsWith('Optimizer Reformat(') && !layers.has(name))
      layers.set(name, bareLayer(name, line));
  };
  for (const name of finalLayers) add(name, null);
  for (const { name, line } of phase.tactics) add(name, line);
  for (const { name, line } of fusedLater(phase, known, layers.keys())) add(name, line);
  return [...layers.values()];
}

/** What fusions after the Myelin stage made: before it, the result may still have gone into a ForeignNode. */
function fusedLater(phase: BuildPhase, known: NodeNames, timed: Iterable<string>): { name: string; line: number }[] {
  const stage = phase.funnel.find(({ stage: name }) => /myelin/i.test(name));
  if (!stage) return [];
  const done = new Set<string>();
  for (const name of timed) for (const atom of atomsOf(parseLayerName(name, known))) done.add(atom);
  const made = new Map<string, number>();
  const fused = new Set<string>();
  for (const event of phase.events) {
    if (event.line < stage.line) continue;
    const [first = '', second = ''] = event.layers;
    // What is converted to another type of layer is in no ForeignNode, otherwise it would not be there any more.
    if (event.kind === 'convert' && first !== '' && !fused.has(first)) made.set(first, event.line);
    if (event.kind !== 'fuse') continue;
    fused.add(first).add(second);
    made.delete(first);
    made.delete(second);
    if (first !== '' && second !== '') made.set(joined(first, second), event.line);
  }
  return [...made]
    .filter(([name]) => !atomsOf(parseLayerName(name, known)).some((atom) => done.has(atom)))
    .map(([name, line]) => ({ name, line }));
}

const joined = (first: string, second: string): string =>
  first.startsWith('PWN(') || second.startsWith('PWN(') ? `PWN(${first}, ${second})` : `${first} + ${second}`;
