import { atomsOf, parseLayerName } from './layerName.ts';
import type { LayerNodes } from './nodesByName.ts';

/**
 * The nodes that the name of a TensorRT layer contains, for each of its parts all that the part may mean: of a fused
 * layer its parts, of a ForeignNode the two ends, of a kernel the nodes that its name spells.
 */
export function nodesInName(names: LayerNodes, layer: string): (readonly number[])[] {
  const whole = names.nodesOfLayer(layer);
  // Most names in a log are of one layer; without a separator there is nothing to parse.
  if (whole.length > 0) return [whole];
  if (!/[ ({]|_myl\d/.test(layer)) return [];
  const name = parseLayerName(layer, names);
  const parts =
    name.kind === 'kernel' ? [names.nodesOfKernel(name.base)] : atomsOf(name).map((atom) => names.nodesOfLayer(atom));
  return parts.filter((nodes) => nodes.length > 0);
}
