import type { Brush } from './brush.ts';
import { drawEdgeLabels, drawEdges, drawPortals } from './drawEdges.ts';
import { drawItems, drawModuleLabels, drawModules } from './drawItems.ts';
import { drawRegionLabels, drawRegions } from './drawRegions.ts';
import { LabelSpace } from './drawView.ts';
import type { Frame, LabelBox } from './drawView.ts';

/** Draws everything, back to front, and returns the labels that can be clicked. */
export function drawFrame(brush: Brush, frame: Frame): LabelBox[] {
  const labels = new LabelSpace();
  drawRegions(brush, frame);
  drawModules(brush, frame);
  drawEdges(brush, frame);
  drawItems(brush, frame, labels);
  drawModuleLabels(brush, frame, labels);
  drawRegionLabels(brush, frame, labels);
  drawPortals(brush, frame, labels);
  drawEdgeLabels(brush, frame, labels);
  return labels.boxes;
}
