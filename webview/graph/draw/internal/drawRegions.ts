import { type Outline, unionOutline } from '../../../../src/kernel/picture/graph/fusionGroups.ts';
import { pieceSize } from '../../../../src/kernel/picture/layout/layoutTypes.ts';
import type { GroupOutline } from '../../../../src/kernel/picture/graph/scene.ts';
import type { Brush, Camera } from '../brush.ts';
import { hasBoundary, type GraphModel } from '../../view/graphModel.ts';
import { type Frame, onScreen } from '../drawView.ts';

/** Space between a boundary and what is in it, at scale 1. */
export const margins = { foreign: 7, fused: 6, single: 5 };
const kernelMargin = 4;
const neckWidth = 10;

/** Which kinds of boundaries a frame has, as far as they are on the picture. */
export function boundaryKinds({ model, camera }: Frame): Set<'foreign' | 'dla' | 'layer' | 'derived' | 'kernel'> {
  const kinds = new Set<'foreign' | 'dla' | 'layer' | 'derived' | 'kernel'>();
  for (const region of model.regions) {
    const group = model.fusion.groups[region.group]!;
    if (hasBoundary(group, region))
      kinds.add(group.device ?? (!group.exact ? 'derived' : group.kind === 'foreign' ? 'foreign' : 'layer'));
  }
  if (showsKernels(model, camera.k) && model.kernelRegions.some(isKernelDrawn)) kinds.add('kernel');
  return kinds;
}

const showsKernels = ({ overlay, fusion }: GraphModel, scale: number): boolean =>
  scale > (fusion.kernelGroups === null ? 0.35 : 0.12) && overlay.kind === 'fusion';
const isKernelDrawn = ({ items }: GroupOutline): boolean => items > 1;

/** An outline as lines over each other, the widest first: how far each goes beyond the area. */
export function outlineOf(count: 1 | 2 | 3, color: string, background: string): [number, string][] {
  const outer: [number, string][] = [
    [6.8, color],
    [5.6, background],
  ];
  return count > 1 ? [...(count === 3 ? outer : []), [4, color], [2.8, background], [1.2, color]] : [[2, color]];
}

/** Boundaries around groups: a ForeignNode has a double line, a DLA loadable a triple one, what is derived a dashed one. */
export function drawRegions(brush: Brush, frame: Frame): void {
  const { model, palette, camera } = frame;
  // From afar nodes have the color of their group: only what is larger than they are is worth drawing.
  const least = camera.k < 0.12 ? 5 : 0;
  for (const region of model.regions) {
    const group = model.fusion.groups[region.group]!;
    if (!hasBoundary(group, region) || (region.bottom - region.top) * camera.k < least) continue;
    if (!onScreen(frame, region.left, region.top, region.right, region.bottom, 24)) continue;
    const strong = palette.strong(group.color);
    const marked = frame.group === region.group ? 1.5 : 0;
    // Where colors say something else, a boundary is a line only.
    const area = model.overlay.kind === 'fusion' ? palette.area(group.color, 0) : palette.theme.background;
    const isNear = camera.k > 0.3;
    const lines = isNear && group.device ? 3 : isNear && group.kind === 'foreign' && group.exact ? 2 : 1;
    drawShape(brush, frame, region, margins[group.kind], {
      lines: outlineOf(lines, strong, palette.theme.background).map(([beyond, paint], i) => [
        beyond * Math.min(1, Math.max(0.45, camera.k)) + (i === 0 ? marked : 0),
        paint,
      ]),
      area,
      dashed: !group.exact && lines === 1,
    });
  }
  if (showsKernels(model, camera.k)) drawKernels(brush, frame);
}

function drawKernels(brush: Brush, frame: Frame): void {
  const { model, palette, camera } = frame;
  for (const region of model.kernelRegions) {
    if (!isKernelDrawn(region) || !onScreen(frame, region.left, region.top, region.right, region.bottom)) continue;
    const { color } =
      model.fusion.kernelGroups?.[region.group] ?? model.fusion.groups[model.fusion.kernels[region.group]!.group]!;
    const width = Math.min(1, Math.max(0.5, camera.k)) * (model.fusion.kernelGroups === null ? 1 : 1.6);
    const lines: [number, string][] = [[width, palette.strong(color)]];
    drawShape(brush, frame, region, kernelMargin, { lines, area: palette.area(color, 1), dashed: false });
  }
}

interface GroupStyle {
  /** How far each line goes beyond the area, in pixels of the screen. */
  lines: [number, string][];
  area: string;
  dashed: boolean;
}

/** Lines first, then the area over their inner halves: parts and the necks between them become one shape. */
function drawShape(
  brush: Brush,
  frame: Frame,
  region: GroupOutline,
  margin: number,
  { lines, area, dashed }: GroupStyle,
): void {
  const { camera } = frame;
  const loops = outlineAt(region, margin);
  const radius = Math.min(14, (margin + 4) * camera.k);
  drawTurns(brush, frame, region, lines.at(-1)![1]);
  for (const [beyond, stroke] of lines) {
    drawNecks(brush, frame, region, stroke, beyond);
    if (!dashed) brush.shape(loops, camera, { stroke, lineWidth: 2 * beyond, radius });
  }
  brush.shape(loops, camera, { fill: area, radius });
  if (dashed) brush.shape(loops, camera, { stroke: lines[0]![1], lineWidth: lines[0]![0], radius, dashed });
  drawNecks(brush, frame, region, area, 0);
}

function drawNecks(
  brush: Brush,
  { picture, camera: { k, x, y } }: Frame,
  region: GroupOutline,
  color: string,
  beyond: number,
): void {
  if (region.necks.length === 0) return;
  const { pieces } = picture.layout;
  brush.beginLines(color, neckWidth * k + 2 * beyond, false);
  for (const piece of region.necks) {
    if (isTurn(pieces, piece)) continue;
    const at = piece * pieceSize;
    const [x0, x1] = [pieces[at]! * k + x, pieces[at + 2]! * k + x];
    const [y0, y1, y2] = [pieces[at + 1]! * k + y, pieces[at + 3]! * k + y, pieces[at + 4]! * k + y];
    brush.line(x0, y0, x1, y1, y2, pieces[at + 5]! * k + y);
  }
  brush.endLines();
}

/** Whether a piece leads out of a column or into the next one. */
function isTurn(pieces: Float32Array, piece: number): boolean {
  const at = piece * pieceSize;
  const [y0, y1, c] = [pieces[at + 1]!, pieces[at + 3]!, pieces[at + 5]!];
  return c > Math.max(y0, y1) || c < Math.min(y0, y1);
}

/** A group's way to the next column: one line, since a boundary around each edge would be a bundle of pipes. */
function drawTurns(brush: Brush, { picture, camera: { k, x, y } }: Frame, region: GroupOutline, color: string): void {
  const { pieces } = picture.layout;
  const turns = region.necks.filter((piece) => isTurn(pieces, piece));
  if (turns.length === 0) return;
  brush.beginLines(color, Math.max(1.5, 3 * Math.min(1, k)), false);
  for (const piece of turns) {
    const at = piece * pieceSize;
    const [x0, x1] = [pieces[at]! * k + x, pieces[at + 2]! * k + x];
    const [y0, y1, y2] = [pieces[at + 1]! * k + y, pieces[at + 3]! * k + y, pieces[at + 4]! * k + y];
    brush.line(x0, y0, x1, y1, y2, pieces[at + 5]! * k + y);
  }
  brush.endLines();
}

/** Outlines do not depend on where one looks. */
const outlines = new WeakMap<GroupOutline, Outline>();

export function outlineAt(region: GroupOutline, margin: number): Outline {
  const known = outlines.get(region);
  if (known !== undefined) return known;
  const outline = unionOutline(region.boxes, margin);
  outlines.set(region, outline);
  return outline;
}

/** How much of the picture behind a dimmed one is still seen. */
const veil = 0.72;

/** Dims everything but the selected group, and the closed modules that it is in. */
export function drawVeil(brush: Brush, frame: Frame): void {
  const { model, picture, palette, group } = frame;
  if (group < 0) return;
  const region = model.regions.find((one) => one.group === group);
  const { x, y, width, height } = picture.layout;
  const items = (model.segments.get(group) ?? []).map(({ item }) => item);
  const boxes = items.flatMap((item) => [x[item]!, y[item]!, width[item]!, height[item]!]);
  if (region !== undefined) boxes.push(...region.boxes);
  if (boxes.length === 0) return;
  const loops = unionOutline(boxes, margins[model.fusion.groups[group]!.kind] + 4);
  brush.shape([screenLoop(frame), ...loops], frame.camera, {
    fill: palette.veil(veil),
    radius: Math.min(14, 11 * frame.camera.k),
  });
  if (region === undefined) return;
  const { color } = model.fusion.groups[group]!;
  drawNecks(brush, frame, region, palette.strong(color), 2);
  drawNecks(brush, frame, region, palette.area(color, 0), 0);
}

/** The screen's rectangle as a loop of the graph. */
function screenLoop({ camera, width, height }: Frame): number[] {
  const { k, x, y }: Camera = camera;
  const [left, top, right, bottom] = [-x / k, -y / k, (width - x) / k, (height - y) / k].map(
    (value, i) => value + (i < 2 ? -40 : 40) / k,
  ) as [number, number, number, number];
  return [left, top, right, top, right, bottom, left, bottom];
}
