import { NodesByName } from '../model/nodesByName.ts';
import { nodesInName } from '../model/nodesInName.ts';

/** A model that a replay may be of. */
export interface ReplayCandidate<T> {
  model: T;
  nodes: readonly { name: string; outputs: readonly string[] }[];
}

/**
 * The models whose nodes the layers of a replay name, most layers first: those with as many as the best one, and none
 * unless at least half of the layers name nodes of it. TensorRT's own layers (reformats, constants) name none of any.
 */
export function fittingModels<T>(layers: readonly string[], candidates: readonly ReplayCandidate<T>[]): T[] {
  const counts = candidates.map(({ nodes }) => {
    const names = new NodesByName(nodes);
    return layers.filter((layer) => nodesInName(names, layer).length > 0).length;
  });
  const best = Math.max(0, ...counts);
  if (best === 0 || best < layers.length / 2) return [];
  return candidates.filter((_, index) => counts[index] === best).map(({ model }) => model);
}
