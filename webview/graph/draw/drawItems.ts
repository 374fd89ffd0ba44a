import { type Overlay, paints, type Stretch } from '../../../src/kernel/picture/graph/overlay.ts';
import { isGroupPart } from '../../../src/kernel/picture/graph/hierarchy.ts';
import { itemTitle, letters, shortTitle } from '../../../src/kernel/picture/graph/scene.ts';
import type { Brush } from './brush.ts';
import {
  fitScaled,
  type Frame,
  type LabelSpace,
  leastLetters,
  letterSize,
  nameScale,
  onScreen,
  scaledSize,
} from './drawView.ts';
import type { IsOnLine } from './internal/lineFinder.ts';
import { blockSize } from '../view/graphModel.ts';
import { graphStrings } from '../panels/graphStrings.ts';
import { isDashed } from './palette.ts';
import { timeText } from '../../../src/kernel/base/text.ts';

/** Boxes lower than this on the screen are one filled rectangle; open modules lower than `smallModule` hide what is in them. */
const smallBox = 7;
/** Boxes in which one line, or two, have room in the smallest letters. */
const [oneLine, twoLinesHigh] = [leastLetters + 2, 2 * leastLetters + 4];
/** Nodes lower than this have no text: two rectangles, no lines and corners. */
const plainBox = oneLine;
const smallModule = 22;
/** A closed module lower than this is its bar alone. */
const leastModule = 14;

/**
 * Calls for every item on the screen, parents first, until a call gives false; what is in a module that is too small to
 * look into is omitted.
 */
export function forVisible(frame: Frame, visit: (item: number, shut: boolean) => boolean | void): void {
  const { picture, camera } = frame;
  const { scene, layout, subtreeEnd, blocks } = picture;
  for (let item = 0; item < scene.kind.length;) {
    if (item % blockSize === 0) {
      const at = (item / blockSize) * 4;
      if (!onScreen(frame, blocks[at]!, blocks[at + 1]!, blocks[at + 2]!, blocks[at + 3]!)) {
        item += blockSize;
        continue;
      }
    }
    const x = layout.x[item]!;
    const y = layout.y[item]!;
    const width = layout.width[item]!;
    const height = layout.height[item]!;
    if (!onScreen(frame, x, y, x + width, y + height)) {
      item = subtreeEnd[item]!;
      continue;
    }
    const shut = scene.kind[item] === 'open' && height * camera.k < smallModule;
    if (visit(item, shut) === false) return;
    item = shut ? subtreeEnd[item]! : item + 1;
  }
}

/** Thin frames of open modules, under edges and nodes. */
export function drawModules(brush: Brush, frame: Frame): void {
  const { picture, palette, camera } = frame;
  if (!picture.hasOpen) return;
  const { scene, layout } = picture;
  forVisible(frame, (item, shut) => {
    if (scene.kind[item] !== 'open' || shut) return;
    const { x, y, width, height } = place(layout, camera, item);
    brush.box(x, y, width, height, { stroke: palette.theme.strong, lineWidth: 1, radius: Math.min(8, 8 * camera.k) });
  });
}

function place(layout: Frame['picture']['layout'], { k, x, y }: Frame['camera'], item: number) {
  return {
    x: layout.x[item]! * k + x,
    y: layout.y[item]! * k + y,
    width: layout.width[item]! * k,
    height: layout.height[item]! * k,
  };
}

/** Nodes, closed modules, inputs and outputs. */
export function drawItems(brush: Brush, frame: Frame): void {
  const { picture, camera } = frame;
  const { scene, layout } = picture;
  // At a great distance many boxes fall on one pixel: one of them is enough.
  let last = -1;
  forVisible(frame, (item, shut) => {
    const box = place(layout, camera, item);
    if (box.height < 1) {
      const spot = ((Math.round(box.y) * 4096 + Math.round(box.x)) * 64 + paintOfItem(frame, item)) | 0;
      if (spot === last) return;
      last = spot;
    }
    const kind = scene.kind[item]!;
    if (kind === 'open' && !shut) return;
    if (kind === 'open' || kind === 'closed') drawModule(brush, frame, item, box, shut);
    else if (kind === 'node') drawNode(brush, frame, item, box);
    else drawTerminal(brush, frame, item, box);
  });
}

const paintOfItem = ({ model, picture: { scene } }: Frame, item: number): number =>
  scene.kind[item] === 'node' ? model.overlay.paintOf[scene.ref[item]!]! : 63;

/** Rings around what is selected, found, focused or under the pointer. A selected group is marked by dimming the rest. */
export function drawMarks(brush: Brush, given: Frame): void {
  const frame = given.group < 0 ? given : { ...given, selected: null };
  const { selected, hits, focused, hovered, picture, camera } = frame;
  if (selected === null && hits === null && focused < 0 && hovered < 0) return;
  const { layout } = picture;
  forVisible(frame, (item) => {
    if ((selected?.[item] ?? 0) === 0 && (hits?.[item] ?? 0) === 0 && item !== focused && item !== hovered) return;
    drawRings(brush, frame, item, place(layout, camera, item));
  });
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

function drawNode(brush: Brush, frame: Frame, item: number, { x, y, width, height }: Box): void {
  const { model, picture, palette, camera, dimmed } = frame;
  const point = picture.scene.ref[item]!;
  const paint = dimmed?.[point] === 1 ? paints.off : model.overlay.paintOf[point]!;
  if (height < smallBox) {
    if (height >= 0.4) brush.box(x, y, width, Math.max(1, height), { fill: palette.solid(paint) });
    return;
  }
  if (height < plainBox || (camera.k < nameScale && model.within[item] === 1)) {
    // Without text and corners an outline alone tells only colors and gray apart.
    const whole = paint >= paints.derived && paint !== paints.gray;
    brush.box(x, y, width, height, { fill: whole ? palette.solid(paint) : palette.strong(paint) });
    if (!whole) brush.box(x + 1, y + 1, width - 2, height - 2, { fill: palette.soft(paint) });
    return;
  }
  const scale = Math.min(1, camera.k);
  const dashed = isDashed(paint);
  const radius = 5 * scale;
  brush.box(x, y, width, height, { fill: palette.soft(paint), stroke: palette.strong(paint), dashed, radius });
  const hasBand = paint < paints.gray || paint === paints.unknown || paint === paints.lost;
  if (hasBand) {
    // Stripes need room to be seen, but the name begins next to them.
    const band = (dashed ? 6 : 4) * scale;
    brush.box(x + 1, y + 1, band, height - 2, { fill: palette.solid(paint), radius: radius * 0.6 });
  }
  const band = 6 * camera.k;
  twoLines(
    brush,
    frame,
    { x: x + (hasBand ? 1 : 0.65) * band, y, width: width - 1.3 * band, height },
    signed(model.overlay, point, model.graph.data.nodes[point]!.op),
    height < 30 * camera.k || height < twoLinesHigh ? '' : shortTitle(model.graph, model.hierarchy, point),
    paint === paints.off || paint === paints.gray ? palette.theme.muted : textOn(frame, paint),
  );
}

/** A node's operator behind the sign of its category: `+ Conv` for what another build lacks. */
function signed({ categories, categoryOf }: Overlay, point: number, op: string): string {
  const sign = categories[categoryOf[point]!]?.sign;
  return sign === undefined ? op : `${sign} ${op}`;
}

/** Filled boxes of the time scale may be darker than the letters. */
function textOn({ palette, model }: Frame, paint: number): string {
  const hot = model.overlay.kind === 'time' && paint >= paints.time + 4 && paint < paints.gray;
  return hot && !palette.theme.contrast ? (palette.theme.dark ? '#1b1e24' : '#ffffff') : palette.theme.foreground;
}

function drawTerminal(brush: Brush, frame: Frame, item: number, box: Box): void {
  const { model, picture, palette, camera } = frame;
  if (box.height < smallBox) {
    brush.box(box.x, box.y, box.width, Math.max(1, box.height), { fill: palette.theme.strong });
    return;
  }
  brush.box(box.x, box.y, box.width, box.height, {
    fill: palette.theme.panel,
    stroke: palette.theme.strong,
    lineWidth: 1.5,
    radius: box.height / 2,
  });
  if (box.height < oneLine) return;
  const title = itemTitle(model.graph, model.hierarchy, picture.scene, item);
  const room = box.width - box.height * 0.8;
  const text = fitScaled(frame, title, room, letters.terminal, false, 'end');
  const size = scaledSize(letters.terminal, camera.k);
  brush.text(text, box.x + box.width / 2, box.y + box.height / 2, {
    size,
    color: palette.theme.foreground,
    align: 'center',
  });
}

function drawModule(brush: Brush, frame: Frame, item: number, box: Box, shut: boolean): void {
  const { model, picture, palette, camera } = frame;
  const module = model.hierarchy.modules[picture.scene.ref[item]!]!;
  const stretches = model.stretches.get(item) ?? [];
  const { x, y, width, height } = box;
  if (shut || height < leastModule) {
    bar(brush, frame, stretches, x, y, width, Math.max(1, height));
    return;
  }
  const scale = Math.min(1, camera.k);
  const radius = 6 * scale;
  const edge = { stroke: palette.theme.strong, lineWidth: 1, radius };
  if (module.times > 1) {
    brush.box(x + 8 * scale, y + 8 * scale, width, height, { fill: palette.card, ...edge });
    brush.box(x + 4 * scale, y + 4 * scale, width, height, { fill: palette.card, ...edge });
  }
  brush.box(x, y, width, height, { fill: palette.card, ...edge });
  const strip = barOf(picture, camera, item);
  bar(brush, frame, stretches, strip.x, strip.y, strip.width, strip.height);
  const room = height - strip.height - 6 * scale;
  if (room < oneLine || (camera.k < nameScale && model.within[item] === 1)) return;
  const size = scaledSize(letters.module, camera.k);
  const inset = 8 * Math.min(1, camera.k);
  const badge = module.times > 1 ? graphStrings.times(module.times) : '';
  const badgeWidth = badge === '' ? 0 : frame.fit.width(badge, size, true) + 8;
  const sign = '▸ ';
  const free = width - 2 * inset - badgeWidth - frame.fit.width(sign, size, true) - 2;
  const [title = ''] = isGroupPart(module) ? module.label.split(' · ') : [module.label];
  const name = fitScaled(frame, title, free, letters.module, true, 'end');
  const color = palette.theme.foreground;
  const isTwo = room >= twoLinesHigh;
  const top = y + room * (isTwo ? 0.34 : 0.54);
  brush.text(sign + name, x + inset, top, { size, bold: true, color });
  if (badge !== '') brush.text(badge, x + width - inset, top, { size, bold: true, align: 'right', color });
  if (!isTwo) return;
  const small = scaledSize(letters.note, camera.k);
  const note = moduleNote(frame, item, width - 2 * inset);
  brush.text(note, x + inset, y + room * 0.76, { size: small, color: palette.theme.muted });
}

/** `all fused alike · 51 nodes · 0.35 ms`, or as many whole parts of it as fit: the number of nodes goes first. */
function moduleNote(frame: Frame, item: number, room: number): string {
  const { model, picture, fit, camera } = frame;
  const index = picture.scene.ref[item]!;
  const module = model.hierarchy.modules[index]!;
  // What the group computes; where it is, is above.
  const parts = isGroupPart(module) ? module.label.split(' · ').slice(1) : [];
  const differing = model.differing(index);
  if (module.times > 1 && differing !== null)
    parts.push(differing === 0 ? graphStrings.alike : graphStrings.differ(differing));
  else if (model.isOutlier(index)) parts.push(graphStrings.outlier);
  parts.push(graphStrings.nodes(module.end - module.start, model.noun));
  const ms = model.moduleTime(index);
  if (ms !== null) parts.push(timeText(ms));
  const size = scaledSize(letters.note, camera.k);
  while (parts.length > 1 && fit.width(parts.join(' · '), size, false) > room)
    parts.splice(Math.min(1, parts.length - 1), 1);
  return fitScaled(frame, parts.join(' · '), room, letters.note, false, 'start');
}

/** Where a closed module's bar is on the screen: along its foot. */
export function barOf(picture: Frame['picture'], camera: Frame['camera'], item: number): Box {
  const { x, y, width, height } = place(picture.layout, camera, item);
  if (height < leastModule) return { x, y, width, height: Math.max(1, height) };
  const scale = Math.min(1, camera.k);
  const thick = Math.max(3, 8 * scale);
  return { x: x + 6 * scale, y: y + height - thick - 5 * scale, width: width - 12 * scale, height: thick };
}

/**
 * What is in a module, as a bar: its groups or colors, gray for what is not computed, stripes for what is unknown, crossed ones for what may be lost.
 * Groups next to each other are apart.
 */
function bar(
  brush: Brush,
  { palette }: Frame,
  stretches: readonly Stretch[],
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  let at = x;
  for (const { paint, share, group } of stretches) {
    const wide = share * width;
    const gap = group >= 0 && wide > 4 && stretches.length > 1 ? 1 : 0;
    brush.box(at, y, Math.max(0.5, wide - gap), height, { fill: palette.solid(paint) });
    at += wide;
  }
}

/** A title and a name below it, both in letters that grow with the picture. */
function twoLines(
  brush: Brush,
  frame: Frame,
  { x, y, width, height }: Box,
  title: string,
  note: string,
  color: string,
): void {
  const { camera, palette } = frame;
  const write = (text: string, size: number, at: number, bold: boolean, tint: string) => {
    const fitIn = (letters: number) => fitScaled(frame, text, width, letters, bold, bold ? 'start' : 'end');
    // A title with a sign is longer than its box was made for: rather smaller letters than fewer.
    const own = bold ? ([size, size - 1, size - 2].find((one) => fitIn(one) === text) ?? size) : size;
    const letter = scaledSize(own, camera.k);
    brush.text(fitIn(own), x + width / 2, y + height * at, { size: letter, bold, color: tint, align: 'center' });
  };
  write(title, letters.title, note === '' ? 0.5 : 0.32, true, color);
  if (note === '') return;
  // On the full colors of the time scale gray letters cannot be read.
  const muted = color === palette.theme.foreground && frame.model.overlay.kind !== 'time';
  write(note, letters.note, 0.72, false, muted ? palette.theme.muted : color);
}

function drawRings(brush: Brush, frame: Frame, item: number, { x, y, width, height }: Box): void {
  const { palette, picture, camera } = frame;
  const ring = (distance: number, color: string, lineWidth: number, dashed: boolean) =>
    brush.box(x - distance, y - distance, width + 2 * distance, height + 2 * distance, {
      stroke: color,
      lineWidth,
      dashed,
      radius: 7 * Math.min(1, camera.k),
    });
  const selected = frame.selected?.[item] ?? 0;
  const hits = frame.hits?.[item] ?? 0;
  if (hits > 0 && picture.scene.kind[item] !== 'open') ring(2, palette.theme.warning, 2, false);
  if (selected > 0 && (picture.scene.kind[item] !== 'open' || selected === 2))
    ring(3, palette.theme.focus, 2.5, selected === 1);
  if (item === frame.hovered && selected === 0) ring(1.5, palette.theme.focus, 1, false);
  if (item === frame.focused) ring(6, palette.theme.focus, 1.5, true);
}

/** Labels of open modules, at their upper edge or, once that is out of sight, at the screen's; edges end at the letters. */
export function drawModuleLabels(brush: Brush, frame: Frame, labels: LabelSpace, isOnLine: IsOnLine): void {
  const { model, picture, palette, camera } = frame;
  if (!picture.hasOpen) return;
  const { scene, layout } = picture;
  forVisible(frame, (item, shut) => {
    if (scene.kind[item] !== 'open' || shut) return;
    const { x, y, width, height } = place(layout, camera, item);
    const module = model.hierarchy.modules[scene.ref[item]!]!;
    const size = letterSize(13 * camera.k, 39);
    if (size + 2 > 30 * camera.k) return;
    const left = Math.max(6, x + 8 * Math.min(1, camera.k));
    const right = Math.min(frame.width, x + width);
    if (right - left < 40) return;
    const times = module.times > 1 ? ` ${graphStrings.times(module.times)}` : '';
    const text = frame.fit(`▾ ${module.label}${times}`, right - left - 14, size, true, 'end');
    if (text === '') return;
    const own = frame.fit.width(text, size, true) + 10;
    const label = { x: left - 4, width: own, height: size + 7, target: { kind: 'item', item } as const };
    const top = y + 15 * Math.min(1, camera.k) - label.height / 2;
    for (let shift = 0; shift < 5; shift++) {
      const at = Math.max(top, 6 + shift * (label.height + 1));
      if (at + label.height > y + height) return;
      if (!labels.take({ ...label, y: at })) {
        if (at === top) return;
        continue;
      }
      const letters = { x: left - 1, y: at + 3, width: own - 8, height: size + 1 };
      const fill = palette.theme.background;
      if (at !== top)
        brush.box(label.x, at, label.width, label.height, { fill, stroke: palette.theme.strong, radius: 3 });
      else if (isOnLine(letters, 0))
        brush.box(letters.x, letters.y, letters.width, letters.height, { fill, radius: 3 });
      brush.text(text, left, at + label.height / 2, { size, bold: true, color: palette.theme.foreground });
      return;
    }
  });
}
