import type { Camera, LabelBox } from './drawView.ts';
import type { Picture } from '../view/graphModel.ts';

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
