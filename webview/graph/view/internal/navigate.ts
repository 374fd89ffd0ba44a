import type { LayoutResult } from '../../../../src/kernel/picture/layout/layoutTypes.ts';
import type { GraphModel } from '../graphModel.ts';
import { type Bounds, leastScale, overviewScale, type Stage } from '../../draw/stage.ts';
import { isAllInSight, minimapRoom } from '../../panels/minimap.ts';

/** Above the graph, for the names of boundaries that begin there. */
export const labelRoom = 24;

/** A whole graph of that size, with its labels. */
export const wholeGraph = (width: number, height: number): Bounds => ({
  left: 0,
  top: -labelRoom,
  right: width,
  bottom: height,
});

/** The whole graph. */
export function showAll(
  model: GraphModel,
  stage: Stage,
  options: { animate?: boolean; readable?: boolean; whole?: number } = {},
): void {
  const { totalWidth, totalHeight } = model.picture!.layout;
  if (totalWidth <= 0) return;
  stage.show(wholeGraph(totalWidth, totalHeight), options);
  stage.isFitted = true;
}

/** The whole graph where its names, or those of its groups, can be read, otherwise its beginning. */
export const showFirst = (model: GraphModel, stage: Stage): void =>
  showAll(model, stage, { animate: false, readable: true, whole: wholeScale(model) });

/** All of a picture is shown at first if it fits at this scale. */
export const wholeScale = ({ named }: GraphModel): number => (named.length > 0 ? overviewScale : leastScale);

/** Whether what ends there on the screen is not behind the overview in the corner. */
function isFree({ picture }: GraphModel, { camera, size }: Stage, right: number, bottom: number): boolean {
  const { width, height } = minimapRoom;
  return right < size.width - width || bottom < size.height - height || isAllInSight(picture!.layout, camera, size);
}

/** Brings an item to the middle, at a scale at which it can be read, unless it is in sight already. */
export function centerItem(model: GraphModel, stage: Stage, item: number): void {
  const { layout } = model.picture!;
  const { k, x, y } = stage.camera;
  const { width, height } = stage.size;
  const scale = Math.max(k, 0.7);
  const cx = layout.x[item]! + layout.width[item]! / 2;
  const cy = layout.y[item]! + Math.min(layout.height[item]! / 2, 200);
  const inside = k >= 0.5 && cx * k + x > 80 && cx * k + x < width - 80 && cy * k + y > 60 && cy * k + y < height - 60;
  const [right, bottom] = [cx + layout.width[item]! / 2, 2 * cy - layout.y[item]!];
  if (!inside || !isFree(model, stage, right * k + x, bottom * k + y))
    stage.set({ k: scale, x: width / 2 - cx * scale, y: height / 2 - cy * scale }, true);
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
  if (isIn && isFree(model, stage, right, bottom)) return;
  const { k, x, y } = stage.camera;
  stage.set({ k, x: x + width / 2 - (left + right) / 2, y: y + height / 2 - (top + bottom) / 2 });
}

/**
 * After the window changed its size: what was in the middle stays there, or what is selected where it was, if it was in
 * sight; all of that stays in sight.
 */
export function keepInSight(
  model: GraphModel,
  stage: Stage,
  before: { width: number; height: number },
  points: readonly number[],
): void {
  const { k, x, y } = stage.camera;
  const { width, height } = stage.size;
  const { scene, layout } = model.picture!;
  const { left, top, right, bottom } = boundsOf(
    layout,
    points.map((point) => scene.itemOfPoint[point]!),
  );
  const [cx, cy] = [((left + right) / 2) * k + x, ((top + bottom) / 2) * k + y];
  const isSeen = points.length > 0 && cx > 0 && cx < before.width && cy > 0 && cy < before.height;
  const [fx, fy] = isSeen ? [cx / before.width, cy / before.height] : [0.5, 0.5];
  const moved = { k, x: x + (width - before.width) * fx, y: y + (height - before.height) * fy };
  if (isSeen) {
    moved.x += inside(left * k + moved.x, right * k + moved.x, width);
    moved.y += inside(top * k + moved.y, bottom * k + moved.y, height);
  }
  stage.set(moved);
}

/** How far a range must move to be on the screen, its beginning at least. */
function inside(from: number, to: number, screen: number): number {
  const back = Math.min(0, screen - insight - to);
  return Math.max(back, insight - from);
}

/** After a panel took its room: moves what it cut off of some points so far that all of it is in sight. */
export function pullIntoSight(model: GraphModel, stage: Stage, points: readonly number[]): void {
  if (points.length === 0) return;
  const { scene, layout } = model.picture!;
  const { k, x, y } = stage.camera;
  const { left, top, right, bottom } = boundsOf(
    layout,
    points.map((point) => scene.itemOfPoint[point]!),
  );
  const { width, height } = stage.size;
  const dx = Math.min(0, width - insight - (right * k + x));
  const dy = Math.min(0, height - insight - (bottom * k + y));
  // What is larger than the screen stays where it is.
  if ((dx === 0 && dy === 0) || left * k + x + dx < 0 || top * k + y + dy < 0) return;
  stage.set({ k, x: x + dx, y: y + dy });
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
  if (!seen) stage.show({ left, top, right, bottom }, { readable: true });
}

/** Brings a group to the middle, as large as fits the screen; what of it is in closed modules, with them. */
export function centerGroup(model: GraphModel, stage: Stage, group: number): void {
  const { scene, layout } = model.picture!;
  const items = new Set((model.segments.get(group) ?? []).map(({ item }) => item));
  for (const point of model.fusion.groups[group]!.points) items.add(scene.itemOfPoint[point]!);
  const { left, top, right, bottom } = boundsOf(layout, items);
  stage.show({ left, top: top - labelRoom, right, bottom }, { readable: true });
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
