import { atomsOf, parseLayerName } from './layerName.ts';
import type { NodeNames } from './nodeNames.ts';

/** The nodes that the name of a TensorRT layer contains, for each atom of the name all that it may mean. */
export function nodesInName(names: NodeNames, layer: string): (readonly number[])[] {
  const whole = names.nodesOfLayer(layer);
  // Most names in a log are of one layer; without a separator there is nothing to parse.
  if (whole.length > 0) return [whole];
  if (!/[ (]/.test(layer)) return [];
  return atomsOf(parseLayerName(layer, names))
    .map((atom) => names.nodesOfLayer(atom))
    .filter((nodes) => nodes.length > 0);
}
