import type { LayoutResult } from '../../../../src/core/picture/layout/layoutTypes.ts';
import type { GraphModel } from '../graphModel.ts';
import type { Stage } from '../../draw/stage.ts';
import { minimapRoom } from '../../panels/minimap.ts';

/** Above the graph, for the names of boundaries that begin there. */
const labelRoom = 24;

/** The whole graph. */
export function showAll(
  model: GraphModel,
  stage: Stage,
  options: { animate?: boolean; readable?: boolean } = {},
): void {
  const { totalWidth, totalHeight } = model.picture!.layout;
  if (totalWidth > 0) stage.show(0, -labelRoom, totalWidth, totalHeight, options);
}

/** The whole graph where its names can be read, otherwise its beginning. */
export const showFirst = (model: GraphModel, stage: Stage): void =>
  showAll(model, stage, { animate: false, readable: true });

/** Brings an item to the middle, at a scale at which it can be read, unless it is in sight already. */
export function centerItem(model: GraphModel, stage: Stage, item: number): void {
  const { layout } = model.picture!;
  const { k, x, y } = stage.camera;
  const { width, height } = stage.size;
  const scale = Math.max(k, 0.7);
  const cx = layout.x[item]! + layout.width[item]! / 2;
  const cy = layout.y[item]! + Math.min(layout.height[item]! / 2, 200);
  const inside = k >= 0.5 && cx * k + x > 80 && cx * k + x < width - 80 && cy * k + y > 60 && cy * k + y < height - 60;
  if (!inside) stage.set({ k: scale, x: width / 2 - cx * scale, y: height / 2 - cy * scale }, true);
}

/** The least distance of what is in sight from the edges of the screen. */
const insight = 16;

/** Where an item is on the screen. */
function placeOf({ picture }: GraphModel, { camera: { k, x, y } }: Stage, item: number): Bounds {
  const { left, top, right, bottom } = boundsOf(picture!.layout, [item]);
  return { left: left * k + x, top: top * k + y, right: right * k + x, bottom: bottom * k + y };
}

/** Brings an item to the middle, at the scale that there is, unless all of it is in sight and not behind the minimap. */
export function showItem(model: GraphModel, stage: Stage, item: number): void {
  const { left, top, right, bottom } = placeOf(model, stage, item);
  const { width, height } = stage.size;
  const isIn = left >= insight && top >= insight && right <= width - insight && bottom <= height - insight;
  const isFree = right < width - minimapRoom.width || bottom < height - minimapRoom.height;
  if (isIn && isFree) return;
  const { k, x, y } = stage.camera;
  stage.set({ k, x: x + width / 2 - (left + right) / 2, y: y + height / 2 - (top + bottom) / 2 });
}

/** After the inspector took its room: moves an item that it cut off so far that all of it is in sight. */
export function pullIntoSight(model: GraphModel, stage: Stage, item: number): void {
  const { left, top, right, bottom } = placeOf(model, stage, item);
  const { width, height } = stage.size;
  const dx = Math.min(0, width - insight - right);
  const dy = Math.min(0, height - insight - bottom);
  // What is larger than the screen stays where it is.
  if ((dx === 0 && dy === 0) || left + dx < 0 || top + dy < 0) return;
  const { k, x, y } = stage.camera;
  stage.set({ k, x: x + dx, y: y + dy });
}

interface Bounds {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

function boundsOf(layout: LayoutResult, items: Iterable<number>): Bounds {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const item of items) {
    left = Math.min(left, layout.x[item]!);
    top = Math.min(top, layout.y[item]!);
    right = Math.max(right, layout.x[item]! + layout.width[item]!);
    bottom = Math.max(bottom, layout.y[item]! + layout.height[item]!);
  }
  return { left, top, right, bottom };
}

/** Shows the items of some points if nothing of them is in sight. */
export function bringIntoSight(model: GraphModel, stage: Stage, points: number[]): void {
  const { scene, layout } = model.picture!;
  const items = new Set(points.map((point) => scene.itemOfPoint[point]!));
  if (items.size === 0) return;
  const { left, top, right, bottom } = boundsOf(layout, items);
  const { k, x, y } = stage.camera;
  const { width, height } = stage.size;
  const seen = right * k + x > 40 && left * k + x < width - 40 && bottom * k + y > 40 && top * k + y < height - 40;
  if (!seen) stage.show(left, top, right, bottom, { readable: true });
}

/** Brings a group to the middle, as large as fits the screen; what of it is in closed modules, with them. */
export function centerGroup(model: GraphModel, stage: Stage, group: number): void {
  const { scene, layout } = model.picture!;
  const items = new Set((model.segments.get(group) ?? []).map(({ item }) => item));
  for (const point of model.fusion.groups[group]!.points) items.add(scene.itemOfPoint[point]!);
  const { left, top, right, bottom } = boundsOf(layout, items);
  stage.show(left, top - labelRoom, right, bottom, { readable: true });
}

/** Remembers where an item is on the screen; what it gives puts the item that it became after a layout there. */
export function keepInPlace(model: GraphModel, stage: Stage, item: number): (now: number) => void {
  const { k, x, y } = stage.camera;
  const before = model.picture!.layout;
  const center = (before.x[item]! + before.width[item]! / 2) * k + x;
  const top = before.y[item]! * k + y;
  return (now) => {
    const { layout } = model.picture!;
    stage.set({ k, x: center - (layout.x[now]! + layout.width[now]! / 2) * k, y: top - layout.y[now]! * k });
  };
}
