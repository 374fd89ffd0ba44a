import type { Building } from '../../../src/protocol/views.ts';
import type { GraphModel } from './graphModel.ts';
import type { Highlights } from '../draw/highlights.ts';

/**
 * Says in `line` what a running build does, in place of the model's hints, and marks the nodes of the layer that is
 * being timed; null brings the hints back.
 * @returns whether the graph must be drawn again
 */
export function showBuilding(
  building: Building | null,
  model: GraphModel | null,
  line: HTMLElement,
  marks: Highlights,
): boolean {
  const text = building?.text ?? model?.data.hints.join(' ') ?? '';
  line.textContent = text;
  line.hidden = text === '';
  if (model === null) return false;
  const points = building === null ? [] : model.pointsOfSelection({ kind: 'nodes', ids: building.nodes });
  if (points.join() === marks.lit.join()) return false;
  marks.lit = points;
  marks.refresh(model);
  return true;
}
