import type { Building } from '../../../src/protocol/views.ts';
import type { GraphModel } from './graphModel.ts';
import type { Highlights } from '../draw/highlights.ts';

/**
 * Marks the nodes of the layer that a running build times; null: none runs.
 * @returns whether the graph must be drawn again
 */
export function showBuilding(building: Building | null, model: GraphModel | null, marks: Highlights): boolean {
  if (model === null) return false;
  const points = building === null ? [] : model.pointsOfSelection({ kind: 'nodes', ids: building.nodes });
  if (points.join() === marks.lit.join()) return false;
  marks.lit = points;
  marks.refresh(model);
  return true;
}
