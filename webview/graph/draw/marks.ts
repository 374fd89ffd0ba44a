import type { GraphModel } from '../view/graphModel.ts';

/** Per item of the picture: 2 where all of it is selected, 1 where some of it is. null: nothing is selected. */
export function markItems(model: GraphModel, points: readonly number[]): Uint8Array | null {
  if (points.length === 0 || model.picture === null) return null;
  const { scene } = model.picture;
  const counts = new Uint32Array(scene.kind.length);
  for (const point of points) {
    for (let item = scene.itemOfPoint[point]!; item >= 0; item = scene.parent[item]!) counts[item]! += 1;
  }
  return Uint8Array.from(counts, (count, item) => (count === 0 ? 0 : count >= model.pointsOf(item).length ? 2 : 1));
}
