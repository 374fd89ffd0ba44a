import type { BuildPhase, EngineLayer, FusionEvent } from '../../read/tensorrt/buildOutput.ts';
import { bareLayer } from '../../read/tensorrt/readLayerLine.ts';
import { atomsOf, parseLayerName } from '../../network/layerName.ts';
import type { NodeNames } from '../../network/nodeNames.ts';

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
  const later = madeLater(phase, known);
  const done = new Set<string>();
  for (const name of layers.keys()) for (const atom of partsOf(name, known)) done.add(atom);
  for (const { name, line, parts } of later) if (![...parts].some((part) => done.has(part))) add(name, line);
  return [...layers.values()];
}

const partsOf = (name: string, known: NodeNames): string[] => {
  const atoms = atomsOf(parseLayerName(name, known));
  return atoms.length > 0 ? atoms : [name];
};

/** A layer that fusions made, and the names of all that went into it. */
interface Made {
  name: string;
  line: number;
  parts: Set<string>;
}

/**
 * What fusions, conversions and copies after the Myelin stage made: before it, the result may still have gone into a
 * ForeignNode. A layer that is fused again is part of the result and no layer any more.
 */
function madeLater(phase: BuildPhase, known: NodeNames): Set<Made> {
  const made = new Set<Made>();
  const stage = phase.funnel.find(({ stage: name }) => /myelin/i.test(name));
  if (!stage) return made;
  const home = new Map<string, Made>();
  const put = (name: string, line: number, parts: Iterable<string>): void => {
    const layer: Made = { name, line, parts: new Set(parts) };
    for (const part of parts) {
      const before = home.get(part);
      if (!before) continue;
      made.delete(before);
      for (const other of before.parts) layer.parts.add(other);
    }
    for (const part of layer.parts) home.set(part, layer);
    made.add(layer);
  };
  const changes: Partial<Record<FusionEvent['kind'], (event: FusionEvent) => void>> = {
    // What is converted to another type of layer is in no ForeignNode, otherwise it would not be there any more.
    convert: ({ layers: [name = ''], line }) => {
      const parts = partsOf(name, known);
      if (!parts.some((part) => home.has(part))) put(name, line, parts);
    },
    fuse: ({ layers: [first = '', second = ''], line }) =>
      put(joined(first, second), line, [...partsOf(first, known), ...partsOf(second, known)]),
    // What is absorbed leaves the layer its name.
    absorb: ({ layers: [into = '', ...absorbed], line }) =>
      put(home.get(into)?.name ?? into, line, [...partsOf(into, known), ...absorbed]),
    remove: ({ layers: [name = ''] }) => {
      for (const layer of made) if (layer.name === name) made.delete(layer);
    },
    copy: ({ pass, layers: [tensor = ''], line }) => {
      if (pass === 'copy') put(`${tensor} copy`, line, [`${tensor} copy`]);
    },
  };
  for (const event of phase.events)
    if (event.line >= stage.line && event.layers[0] !== '') changes[event.kind]?.(event);
  return made;
}

const joined = (first: string, second: string): string =>
  first.startsWith('PWN(') || second.startsWith('PWN(') ? `PWN(${first}, ${second})` : `${first} + ${second}`;
