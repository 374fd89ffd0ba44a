import type { Brush } from './brush.ts';
import { drawEdgeLabels, drawEdges, drawLitEdges, drawPortals } from './drawEdges.ts';
import { drawFaults } from './drawFaults.ts';
import { drawItems, drawMarks, drawModuleLabels, drawModules, forVisible } from './drawItems.ts';
import { drawRegions, drawVeil } from './drawRegions.ts';
import { drawGroupLabels } from './groupLabels.ts';
import { lineFinder } from './lineFinder.ts';
import { LabelSpace } from './drawView.ts';
import type { Frame, LabelBox } from './drawView.ts';

/** Below this scale labels would be on boxes that are too small to be read anyway. */
const labelScale = 0.12;

/** What changes only with the picture, the palette or the marked group: boundaries, modules, edges, boxes. */
export function drawGround(brush: Brush, frame: Frame): void {
  drawRegions(brush, frame);
  drawModules(brush, frame);
  drawEdges(brush, frame);
  drawItems(brush, frame);
}

/** The layer above it: marks, and labels, which avoid boxes and each other. Returns the labels that can be clicked. */
export function drawOver(brush: Brush, frame: Frame): LabelBox[] {
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
  drawGroupLabels(brush, frame, labels, isOnLine);
  drawPortals(brush, frame, labels);
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
