import type { Camera } from './brush.ts';
import { barOf } from './drawItems.ts';
import { margins } from './internal/drawRegions.ts';
import { hasBoundary } from '../view/graphModel.ts';
import type { LabelBox } from './drawView.ts';
import type { GraphModel, Picture } from '../view/graphModel.ts';
import type { Area } from './rubberBand.ts';

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

/** The boxes that are entirely in a rectangle of the screen. Of an open module these are the boxes in it. */
export function itemsInside({ scene, layout }: Picture, { k, x, y }: Camera, area: Area): number[] {
  const [left, right] = [(area.left - x) / k, (area.right - x) / k];
  const [top, bottom] = [(area.top - y) / k, (area.bottom - y) / k];
  return [...scene.kind.keys()].filter(
    (item) =>
      scene.kind[item] !== 'open' &&
      layout.x[item]! >= left &&
      layout.y[item]! >= top &&
      layout.x[item]! + layout.width[item]! <= right &&
      layout.y[item]! + layout.height[item]! <= bottom,
  );
}

/** The label at a point of the screen; later ones are on top. */
export const labelAt = (labels: LabelBox[], x: number, y: number): LabelBox | undefined =>
  labels.findLast((box) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height);

/** The group whose boundary surrounds a point of the screen, the innermost of several; -1 for none. */
export function groupAt(model: GraphModel, { k, x, y }: Camera, screenX: number, screenY: number): number {
  const px = (screenX - x) / k;
  const py = (screenY - y) / k;
  const inside = model.regions.findLast((region) => {
    const group = model.fusion.groups[region.group]!;
    const around = margins[group.kind] + 2;
    if (!hasBoundary(group, region)) return false;
    const { boxes, left, top, right, bottom } = region;
    if (px < left - around || px > right + around || py < top - around || py > bottom + around) return false;
    for (let i = 0; i < boxes.length; i += 4) {
      const [dx, dy] = [px - boxes[i]!, py - boxes[i + 1]!];
      if (dx >= -around && dy >= -around && dx <= boxes[i + 2]! + around && dy <= boxes[i + 3]! + around) return true;
    }
    return false;
  });
  return inside?.group ?? -1;
}

/** The group whose segment of a closed module's bar is at a point of the screen, -1 for none. */
export function segmentAt(model: GraphModel, camera: Camera, item: number, x: number, y: number): number {
  if (item < 0 || model.picture!.scene.kind[item] !== 'closed') return -1;
  const bar = barOf(model.picture!, camera, item);
  if (y < bar.y - 2 || y > bar.y + bar.height + 2 || x < bar.x) return -1;
  let at = bar.x;
  for (const { group, share } of model.stretches.get(item) ?? []) {
    at += share * bar.width;
    if (x < at) return group;
  }
  return -1;
}
