import { statesOf, type BuildDiff, type ChangeState } from '../../report/buildDiff.ts';
import type { GraphData } from './viewData.ts';
/** What happened to each node of such a graph, by its id there; what is missing is the same. */
export function graphStates({ nodes }: GraphData, diff: BuildDiff): Map<string, ChangeState> {
  const { nodesA, nodesB } = statesOf(diff);
  for (const { id, older } of nodes) {
    const state = older && nodesA.get(older.id);
    if (state !== undefined) nodesB.set(id, state);
  }
  return nodesB;
}
