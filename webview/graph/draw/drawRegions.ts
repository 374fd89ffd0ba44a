import type { FusionGroup } from '../../../src/core/scene/graph/fusionGroups.ts';
import type { GroupShape } from '../../../src/core/scene/graph/regions.ts';
import type { Brush, Fill } from './brush.ts';
import { letterSize, onScreen } from './drawView.ts';
import type { Frame, LabelSpace } from './drawView.ts';
import { graphStrings } from '../panels/graphStrings.ts';
import { timeText } from '../../../src/core/text/numbers.ts';
import { layerOf } from '../../../src/core/report/layers.ts';

/** Space between a boundary and what is in it, at scale 1. */
const margins = { foreign: 12, fused: 7, single: 5 };

/** Whether a group has a boundary of its own on this picture: one node alone shows its colour itself. */
const hasBoundary = (group: FusionGroup, region: GroupShape): boolean => group.kind === 'foreign' || region.items > 1;

/** Which kinds of boundaries a frame has, as far as they are on the picture. */
export function boundaryKinds({ model, camera }: Frame): Set<'foreign' | 'layer' | 'derived' | 'kernel'> {
  const kinds = new Set<'foreign' | 'layer' | 'derived' | 'kernel'>();
  for (const region of model.regions) {
    const group = model.fusion.groups[region.group]!;
    if (hasBoundary(group, region))
      kinds.add(!group.exact ? 'derived' : group.kind === 'foreign' ? 'foreign' : 'layer');
  }
  if (showsKernels(model, camera.k) && model.kernelRegions.some(isKernelDrawn)) kinds.add('kernel');
  return kinds;
}

const showsKernels = ({ overlay }: Frame['model'], scale: number): boolean => scale > 0.35 && overlay.kind === 'fusion';
const isKernelDrawn = ({ items }: GroupShape): boolean => items > 1;

/** An outline as boxes over each other, the largest first: how far each goes beyond what it surrounds. */
export function outlineOf(double: boolean, exact: boolean, colour: string, background: string): [number, Fill][] {
  if (!exact) return [[2, { stripes: colour, over: background }]];
  return double
    ? [
        [4.5, colour],
        [3, background],
        [1.2, colour],
      ]
    : [[2, colour]];
}

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
    const margin = Math.max(1.5, margins[group.kind] * Math.min(1, camera.k));
    const marked = frame.group === region.group ? 2 : 0;
    const outline = outlineOf(group.kind === 'foreign' && !thin, group.exact, strong, palette.theme.background);
    outline.forEach(([beyond, paint], i) =>
      fill(brush, frame, region, margin + (thin ? 1 : beyond) + (i === 0 ? marked : 0), paint),
    );
    // Where colours say something else, a boundary is a line only.
    const area = model.overlay.kind === 'fusion' ? palette.area(group.colour, 0) : palette.theme.background;
    fill(brush, frame, region, margin, area);
  }
  if (showsKernels(model, camera.k)) drawKernels(brush, frame);
}

function drawKernels(brush: Brush, frame: Frame): void {
  const { model, palette, camera } = frame;
  for (const region of model.kernelRegions) {
    if (!isKernelDrawn(region) || !onScreen(frame, region.left, region.top, region.right, region.bottom)) continue;
    const kernel = model.fusion.kernels[region.group]!;
    const group = model.fusion.groups[kernel.group]!;
    const margin = 5 * Math.min(1, camera.k);
    fill(brush, frame, region, margin + 1, palette.strong(group.colour));
    fill(brush, frame, region, margin, palette.area(group.colour, 1));
  }
}

function fill(brush: Brush, frame: Frame, { boxes }: GroupShape, margin: number, paint: Fill): void {
  const { k, x, y } = frame.camera;
  const radius = k < 0.35 ? 0 : Math.min(10, margin + 6 * k);
  // From afar nodes have the colour of their group: only what is larger than they are is worth drawing.
  const least = k < 0.12 ? 5 : 0;
  for (let i = 0; i < boxes.length; i += 4) {
    const left = boxes[i]! * k + x - margin;
    const top = boxes[i + 1]! * k + y - margin;
    const width = boxes[i + 2]! * k + 2 * margin;
    const height = boxes[i + 3]! * k + 2 * margin;
    if (boxes[i + 3]! * k < least) continue;
    if (left > frame.width || top > frame.height || left + width < 0 || top + height < 0) continue;
    brush.box(left, top, width, height, { fill: paint, radius });
  }
}

/** Names of boundaries, next to their upper end; a ForeignNode's stays in sight as long as any of it is. */
export function drawRegionLabels(brush: Brush, frame: Frame, labels: LabelSpace): void {
  const { model, camera } = frame;
  for (const region of model.regions) {
    const group = model.fusion.groups[region.group]!;
    if (!hasBoundary(group, region) || !onScreen(frame, region.left, region.top, region.right, region.bottom, 0))
      continue;
    if (group.kind === 'foreign') foreignLabel(brush, frame, labels, region, group);
    else if (camera.k > 0.6) layerLabel(brush, frame, labels, region, group);
  }
}

/** The topmost box of a region. */
function highest({ boxes }: GroupShape): { x: number; y: number; width: number } {
  let first = 0;
  for (let i = 4; i < boxes.length; i += 4) if (boxes[i + 1]! < boxes[first + 1]! - 0.5) first = i;
  return { x: boxes[first]!, y: boxes[first + 1]!, width: boxes[first + 2]! };
}

function foreignLabel(brush: Brush, frame: Frame, labels: LabelSpace, region: GroupShape, group: FusionGroup): void {
  const { camera, palette } = frame;
  const size = 12;
  const height = 2 * size + 12;
  const title = `ForeignNode ${group.ref}`;
  const note = foreignText(frame.model, group);
  const width = Math.max(frame.fit.width(title, size, true), frame.fit.width(note, size - 1, false)) + 16;
  const margin = margins.foreign * Math.min(1, camera.k) + 6;
  const top = highest(region);
  const left = top.x * camera.k + camera.x - margin;
  const right = (top.x + top.width) * camera.k + camera.x + margin;
  const y = top.y * camera.k + camera.y - margin;
  const end = region.bottom * camera.k + camera.y + margin;
  const target = { kind: 'group', group: region.group } as const;
  const place = (x: number, at: number) => ({ x, y: at, width, height, target });
  const centre = (left + right - width) / 2;
  const tries = [
    place(left, y - height),
    place(right - width, y - height),
    place(centre, y - height),
    place(right + 3, y),
    place(left - width - 3, y),
    place(left, end),
    place(region.right * camera.k + camera.x + margin + 3, Math.max(8, y)),
    place(region.left * camera.k + camera.x - margin - width - 3, Math.max(8, y)),
  ];
  const inside = (box: { x: number; y: number }) =>
    box.x >= 4 && box.x + width <= frame.width - 4 && box.y >= 4 && box.y + height <= frame.height - 4;
  let chosen = tries.find((box) => inside(box) && labels.take(box));
  // Between its boxes, or at the screen's sides, as high as there is room.
  const shown = Math.max(6, Math.min(left, frame.width - width - 6));
  const lowest = Math.min(end, frame.height - height - 4);
  for (let at = Math.max(6, y); at < lowest && chosen === undefined; at += 13)
    chosen = [shown, frame.width - width - 6, 6]
      .map((x) => place(x, at))
      .find((box) => inside(box) && labels.take(box));
  if (chosen === undefined) {
    // Nowhere next to it: over its upper edge, or at the screen's.
    chosen = place(shown, Math.min(Math.max(y - height, 6), end - height));
    for (let row = 0; row < 4 && labels.hits(chosen); row++) chosen = { ...chosen, y: chosen.y + height + 3 };
    labels.force(chosen);
  }
  const colour = palette.strong(group.colour);
  brush.box(chosen.x, chosen.y, width, height, {
    fill: palette.theme.background,
    stroke: colour,
    lineWidth: frame.group === region.group ? 3 : 1.5,
    radius: 4,
    dashed: !group.exact,
  });
  brush.text(title, chosen.x + 8, chosen.y + 6 + size / 2, { size, bold: true, colour: palette.theme.foreground });
  brush.text(note, chosen.x + 8, chosen.y + 7 + size * 1.5, { size: size - 1, colour: palette.theme.foreground });
}

function layerLabel(brush: Brush, frame: Frame, labels: LabelSpace, region: GroupShape, group: FusionGroup): void {
  const { camera, palette } = frame;
  const size = letterSize(11 * camera.k, 10, 11);
  const top = highest(region);
  const margin = margins.fused * camera.k + 2;
  const left = top.x * camera.k + camera.x - margin;
  const right = (top.x + top.width) * camera.k + camera.x + margin;
  const y = top.y * camera.k + camera.y - margin;
  const texts = [layerText(frame, group), group.averageMs === null ? `layer ${group.ref}` : timeText(group.averageMs)];
  const height = size + 5;
  for (const text of texts) {
    const width = frame.fit.width(text, size, false) + 6;
    const target = { kind: 'group', group: region.group } as const;
    const tries = [
      { x: right + 2, y, width, height, target },
      { x: left, y: y - height, width, height, target },
    ];
    const chosen = tries.find((box) => box.x + width < frame.width && labels.take(box));
    if (chosen === undefined) continue;
    brush.text(text, chosen.x + 3, chosen.y + height / 2, { size, colour: palette.theme.muted });
    return;
  }
}

/** Groups are made again with every report; their texts are needed in every frame. */
const foreignTexts = new WeakMap<FusionGroup, string>();

/** `453 nodes (12 derived) · 90 kernels · 0.352 ms · fp16` */
function foreignText(model: Frame['model'], group: FusionGroup): string {
  const known = foreignTexts.get(group);
  if (known !== undefined) return known;
  const { report } = model.data;
  const derived = group.points.filter((point) => report?.nodes[model.fusion.reportOf[point]!]?.exact === false).length;
  const kernels = model.fusion.kernelCounts.get(group.ref) ?? 0;
  const nodes =
    graphStrings.nodes(group.points.length, model.noun) + (derived > 0 ? graphStrings.ofThemDerived(derived) : '');
  // Without a model, the nodes are the kernels.
  const parts = model.noun === 'layer' && kernels > 0 ? [] : [nodes];
  if (kernels > 0) parts.push(graphStrings.kernels(kernels));
  const time = model.groupTime(group);
  if (time !== null) parts.push(timeText(time));
  const precision = model.groupPrecision(group);
  if (precision !== '') parts.push(precision);
  const text = parts.join(' · ');
  foreignTexts.set(group, text);
  return text;
}

function layerText({ model }: Frame, group: FusionGroup): string {
  const layer = model.data.report === null ? undefined : layerOf(model.data.report, group.ref);
  const time = group.averageMs === null ? '' : ` · ${timeText(group.averageMs)}`;
  return `${layer === undefined || layer.type === '' ? `layer ${group.ref}` : layer.type}${time}`;
}
