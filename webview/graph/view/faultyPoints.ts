import type { NodeFault } from '../../../src/kernel/build/diagnosis.ts';
import type { GraphIndex } from '../../../src/kernel/picture/graph/graphIndex.ts';
import { addTo } from '../../../src/kernel/base/addTo.ts';

/** What a build that did not pass says about nodes, by their points. */
export function faultyPoints(graph: GraphIndex, faults: readonly NodeFault[] = []): Map<number, NodeFault[]> {
  const found = new Map<number, NodeFault[]>();
  for (const fault of faults)
    for (const id of fault.nodes) {
      const point = graph.byId.get(id);
      if (point !== undefined) addTo(found, point, fault);
    }
  return found;
}

/** The node to look at first: the first with an error, otherwise with a warning; undefined: no node is to blame. */
export const firstFault = (faults: ReadonlyMap<number, readonly NodeFault[]>): number | undefined =>
  [...faults].toSorted(([, a], [, b]) => Number(hasError(b)) - Number(hasError(a)))[0]?.[0];

export const hasError = (faults: readonly NodeFault[]): boolean => faults.some(({ severity }) => severity === 'error');
