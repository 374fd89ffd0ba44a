import { timeText } from '../../src/core/scene/fusionText.ts';
import type { FusionGroup } from '../../src/core/scene/fusionGroups.ts';
import { layerOf } from '../../src/core/scene/fusionGroups.ts';
import type { Region } from '../../src/core/scene/regions.ts';
import type { Brush, Fill } from './brush.ts';
import { letterSize, onScreen } from './drawView.ts';
import type { Frame, LabelSpace } from './drawView.ts';
import { graphStrings } from './graphStrings.ts';

/** Space between a boundary and what is in it, at scale 1. */
const margins = { foreign: 12, fused: 7, single: 5 };

/** Whether a group has a boundary of its own on this picture: one node alone shows its colour itself. */
const hasBoundary = (group: FusionGroup, region: Region): boolean => group.kind === 'foreign' || region.items > 1;

/**
 * Boundaries around groups: the union of a group's boxes, drawn as larger boxes in the outline's colour with smaller
 * ones in the fill's on top. A ForeignNode has a double line, what is derived a broken one.
 */
export function drawRegions(brush: Brush, frame: Frame): void {
  const { model, palette, camera } = frame;
  const thin = camera.k < 0.12;
  for (const region of model.regions) {
    const group = model.fusion.groups[region.group]!;
    if (!hasBoundary(group, region) || !onScreen(frame, region.left, region.top, region.right, region.bottom, 24))
      continue;
    const strong = palette.strong(group.colour);
    const area = palette.area(group.colour, 0);
    const outline: Fill = group.exact ? strong : { stripes: strong, over: palette.theme.background };
    const margin = Math.max(1.5, margins[group.kind] * Math.min(1, camera.k));
    const marked = frame.group === region.group;
    if (group.kind === 'foreign' && !thin) {
      const wide = marked ? 3 : 1.5;
      fill(brush, frame, region, margin + 4 + wide, outline);
      fill(brush, frame, region, margin + 4, palette.theme.background);
      fill(brush, frame, region, margin + 2, outline);
    } else fill(brush, frame, region, margin + (marked ? 4 : thin ? 1 : 2), outline);
    fill(brush, frame, region, margin, area);
  }
  if (camera.k > 0.35) drawKernels(brush, frame);
}

function drawKernels(brush: Brush, frame: Frame): void {
  const { model, palette, camera } = frame;
  for (const region of model.kernelRegions) {
    if (region.items < 2 || !onScreen(frame, region.left, region.top, region.right, region.bottom)) continue;
    const kernel = model.fusion.kernels[region.group]!;
    const group = model.fusion.groups[kernel.group]!;
    const margin = 5 * Math.min(1, camera.k);
    fill(brush, frame, region, margin + 1, palette.strong(group.colour));
    fill(brush, frame, region, margin, palette.area(group.colour, 1));
  }
}

function fill(brush: Brush, frame: Frame, { boxes }: Region, margin: number, paint: Fill): void {
  const { k, x, y } = frame.camera;
  const radius = Math.min(10, margin + 6 * k);
  for (let i = 0; i < boxes.length; i += 4) {
    const left = boxes[i]! * k + x - margin;
    const top = boxes[i + 1]! * k + y - margin;
    const width = boxes[i + 2]! * k + 2 * margin;
    const height = boxes[i + 3]! * k + 2 * margin;
    if (left > frame.width || top > frame.height || left + width < 0 || top + height < 0) continue;
    brush.box(left, top, width, height, { fill: paint, radius });
  }
}

/** Names of boundaries, at their upper edge; a ForeignNode's stays in sight as long as any of it is. */
export function drawRegionLabels(brush: Brush, frame: Frame, labels: LabelSpace): void {
  const { model, camera } = frame;
  const sorted = model.regions.filter((region) => {
    const group = model.fusion.groups[region.group]!;
    return hasBoundary(group, region) && onScreen(frame, region.left, region.top, region.right, region.bottom, 0);
  });
  for (const region of sorted) {
    const group = model.fusion.groups[region.group]!;
    if (group.kind === 'foreign') label(brush, frame, labels, region, foreignLabel(model, group), 12, true);
    else if (camera.k > 0.6)
      label(brush, frame, labels, region, layerLabel(frame, group), letterSize(11 * camera.k, 10, 11), false);
  }
}

function label(
  brush: Brush,
  frame: Frame,
  labels: LabelSpace,
  region: Region,
  text: string,
  size: number,
  sticky: boolean,
): void {
  const { camera, palette, model } = frame;
  const group = model.fusion.groups[region.group]!;
  let first = 0;
  for (let i = 4; i < region.boxes.length; i += 4) {
    if (region.boxes[i + 1]! < region.boxes[first + 1]! - 0.5) first = i;
  }
  const margin = margins[group.kind] * Math.min(1, camera.k) + 5;
  const left = region.boxes[first]! * camera.k + camera.x - margin;
  const top = region.boxes[first + 1]! * camera.k + camera.y - margin;
  const height = size + 7;
  const least = sticky
    ? Math.max(140, region.boxes[first + 2]! * camera.k + 2 * margin)
    : region.boxes[first + 2]! * camera.k + margin;
  const fitted = frame.fit(
    text,
    Math.max(60, Math.min(frame.width - 40, sticky ? 520 : least - 12)),
    size,
    sticky,
    'start',
  );
  if (fitted === '') return;
  const width = frame.fit.width(fitted, size, sticky) + 12;
  let x = left;
  let y = top - height + 3;
  if (sticky) {
    const bottom = region.bottom * camera.k + camera.y;
    y = Math.min(Math.max(y, 6), bottom - height);
    x = Math.max(6, Math.min(x, frame.width - width - 6));
    for (let attempt = 0; attempt < 6; attempt++) {
      if (labels.take({ x, y, width, height, target: { kind: 'group', group: region.group } })) break;
      y += height + 2;
      if (attempt === 5) return;
    }
  } else if (!labels.take({ x, y, width, height, target: { kind: 'group', group: region.group } })) return;
  const colour = palette.strong(group.colour);
  if (sticky) {
    brush.box(x, y, width, height, {
      fill: palette.theme.background,
      stroke: colour,
      lineWidth: frame.group === region.group ? 2.5 : 1.5,
      radius: 4,
      dashed: !group.exact,
    });
    brush.text(fitted, x + 6, y + height / 2, { size, bold: true, colour: palette.theme.foreground });
  } else {
    brush.box(x, y + 1, width, height - 2, { fill: palette.theme.background, radius: 3 });
    brush.text(fitted, x + 6, y + height / 2, { size, colour: palette.theme.muted });
  }
}

/** `ForeignNode 0 · 453 nodes · 90 kernels · 0.352 ms · derived` */
function foreignLabel(model: Frame['model'], group: FusionGroup): string {
  const parts = [`ForeignNode ${group.ref}`, graphStrings.nodes(group.points.length)];
  const kernels = model.fusion.kernelCounts.get(group.ref) ?? 0;
  if (kernels > 0) parts.push(graphStrings.kernels(kernels));
  const time = model.groupTime(group);
  if (time !== null) parts.push(timeText(time));
  const precision = model.groupPrecision(group);
  if (precision !== '') parts.push(precision);
  if (!group.exact) parts.push('derived');
  return parts.join(' · ');
}

function layerLabel({ model }: Frame, group: FusionGroup): string {
  const layer = model.data.report === null ? undefined : layerOf(model.data.report, group.ref);
  const time = group.averageMs === null ? '' : ` · ${timeText(group.averageMs)}`;
  return `layer ${group.ref}${layer === undefined || layer.type === '' ? '' : ` · ${layer.type}`}${time}`;
}
