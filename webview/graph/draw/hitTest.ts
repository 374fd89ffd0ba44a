import type { Camera, LabelBox } from './drawView.ts';
import type { GraphModel, Picture } from '../view/graphModel.ts';

/**
 * The innermost box at a point of the screen, -1 for none. What is too small to be distinguished counts as its module.
 */
export function itemAt(
  { scene, layout, subtreeEnd }: Picture,
  { k, x, y }: Camera,
  screenX: number,
  screenY: number,
): number {
  const px = (screenX - x) / k;
  const py = (screenY - y) / k;
  let found = -1;
  for (let item = 0; item < scene.kind.length;) {
    const inside =
      px >= layout.x[item]! &&
      py >= layout.y[item]! &&
      px <= layout.x[item]! + layout.width[item]! &&
      py <= layout.y[item]! + layout.height[item]!;
    if (inside) {
      found = item;
      if (scene.kind[item] !== 'open' || layout.height[item]! * k < 22) return item;
    }
    item = inside ? item + 1 : subtreeEnd[item]!;
  }
  return found;
}

/** The label at a point of the screen; later ones are on top. */
export const labelAt = (labels: LabelBox[], x: number, y: number): LabelBox | undefined =>
  labels.findLast((box) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height);

/** Boundaries surround their boxes at about this distance, at scale 1. */
const around = 10;

/** The group whose boundary surrounds a point of the screen, the innermost of several; -1 for none. */
export function groupAt(model: GraphModel, { k, x, y }: Camera, screenX: number, screenY: number): number {
  const px = (screenX - x) / k;
  const py = (screenY - y) / k;
  const inside = model.regions.findLast(({ boxes, left, top, right, bottom, items, group }) => {
    if (items < 2 && model.fusion.groups[group]!.kind !== 'foreign') return false;
    if (px < left - around || px > right + around || py < top - around || py > bottom + around) return false;
    for (let i = 0; i < boxes.length; i += 4) {
      const [dx, dy] = [px - boxes[i]!, py - boxes[i + 1]!];
      if (dx >= -around && dy >= -around && dx <= boxes[i + 2]! + around && dy <= boxes[i + 3]! + around) return true;
    }
    return false;
  });
  return inside?.group ?? -1;
}
