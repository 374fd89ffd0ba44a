import { hasError } from '../../view/faultyPoints.ts';
import type { Brush } from '../brush.ts';
import { drawItems, drawMarks, drawModuleLabels, drawModules, forVisible } from '../drawItems.ts';
import { type Frame, type LabelBox, LabelSpace, onScreen } from '../drawView.ts';
import { drawGroupLabels, LabelPlaces } from '../groupLabels.ts';
import { drawEdgeLabels, drawEdges, drawLitEdges, drawPortals } from './drawEdges.ts';
import { drawRegions, drawVeil } from './drawRegions.ts';
import { lineFinder } from './lineFinder.ts';

/** Radius of the sign: the same at every scale, so that one bad node among thousands is seen. */
const radius = 8;

/** Rings and signs on the nodes that a failed build names, or on the modules that hide them. No label covers a sign. */
export function drawFaults(brush: Brush, frame: Frame, labels: LabelSpace): void {
  const { model, picture, camera, palette } = frame;
  const { x: left, y: top, width: widths, height: heights } = picture.layout;
  const drawn = new Set<number>();
  for (const [point, faults] of model.faults) {
    const item = picture.scene.itemOfPoint[point]!;
    if (drawn.has(item)) continue;
    drawn.add(item);
    if (!onScreen(frame, left[item]!, top[item]!, left[item]! + widths[item]!, top[item]! + heights[item]!)) continue;
    const x = left[item]! * camera.k + camera.x;
    const y = top[item]! * camera.k + camera.y;
    const width = widths[item]! * camera.k;
    const isError = hasError(faults);
    const color = isError ? palette.theme.error : palette.theme.warning;
    brush.box(x - 2, y - 2, width + 4, heights[item]! * camera.k + 4, { stroke: color, lineWidth: 2.5, radius: 6 });
    const right = x + width;
    const sign = { x: right - radius, y: y - radius, width: 2 * radius, height: 2 * radius };
    labels.block(sign);
    brush.box(sign.x, sign.y, sign.width, sign.height, {
      fill: palette.theme.background,
      stroke: color,
      lineWidth: 2,
      radius,
    });
    brush.text(isError ? '✕' : '!', right, y + 0.5, { size: 11, bold: true, align: 'center', color });
  }
}

/** Below this scale labels would be on boxes that are too small to be read anyway. */
const labelScale = 0.12;

/** What changes only with the picture, the palette or the marked group: boundaries, modules, edges, boxes. */
export function drawGround(brush: Brush, frame: Frame): void {
  drawRegions(brush, frame);
  drawModules(brush, frame);
  drawEdges(brush, frame);
  drawItems(brush, frame);
}

/**
 * The layer above it: marks, and labels, which avoid boxes and each other. Returns the labels that can be clicked.
 * @param last where labels are in the last of several frames
 */
export function drawOver(brush: Brush, frame: Frame, last = new LabelPlaces()): LabelBox[] {
  const labels = new LabelSpace();
  drawVeil(brush, frame);
  drawLitEdges(brush, frame);
  drawMarks(brush, frame);
  drawFaults(brush, frame, labels);
  if (frame.camera.k > labelScale) {
    const { scene, layout } = frame.picture;
    const { k, x, y } = frame.camera;
    forVisible(frame, (item) => {
      if (scene.kind[item] === 'open') return;
      labels.block({
        x: layout.x[item]! * k + x,
        y: layout.y[item]! * k + y,
        width: layout.width[item]! * k,
        height: layout.height[item]! * k,
      });
    });
  }
  const isOnLine = lineFinder(frame);
  drawModuleLabels(brush, frame, labels, isOnLine);
  drawGroupLabels(brush, frame, labels, isOnLine, last);
  drawPortals(brush, frame, labels, isOnLine);
  drawEdgeLabels(brush, frame, labels);
  return labels.boxes;
}

/** Everything, for pictures. */
export function drawFrame(brush: Brush, frame: Frame): void {
  drawGround(brush, frame);
  drawOver(brush, frame);
}

/** More boxes than these take longer than a frame may. */
const most = 500;

/** Whether so much is on the screen that it cannot be drawn in every frame. */
export function isHeavy(frame: Frame): boolean {
  let count = 0;
  forVisible(frame, () => {
    count += 1;
    return count <= most;
  });
  return count > most;
}
