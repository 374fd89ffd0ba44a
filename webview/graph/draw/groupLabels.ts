import { foreignNumber } from '../../../src/kernel/fusion/fusionReport.ts';
import { foreignTitle, layerOf, titleOfLayer, phrase } from '../../../src/kernel/report/words.ts';
import type { BarSegment } from '../../../src/kernel/picture/graph/overlay.ts';
import type { DrawnGroup } from '../../../src/kernel/picture/graph/fusionGroups.ts';
import type { GroupOutline } from '../../../src/kernel/picture/graph/scene.ts';
import { timeText } from '../../../src/kernel/base/text.ts';
import { graphStrings } from '../panels/graphStrings.ts';
import type { LegendGroup } from '../panels/legend.ts';
import type { Brush } from './brush.ts';
import { hasBoundary, margins } from './internal/drawRegions.ts';
import { type Frame, type LabelSpace, leastLetters, onScreen, type PlacedBox } from './drawView.ts';
import type { IsOnLine } from './internal/lineFinder.ts';

const size = 12;
/** A frame has one label for so many pixels, within bounds; besides those of the selected group and of the one under the pointer. */
const pixelsPerLabel = 130_000;
const [fewest, most] = [3, 12];
/** Groups of layers, which are smaller than ForeignNodes, have labels only where they can be told apart. */
const layerScale = 0.6;
/** How far from its group a label may be; for the sake of lines that it would cover, only as far as the first of them. */
const reaches = [22, 60, 110, 170, 240, 320, 420, 540];
/** So far lines keep off a label, with the boundary that a group has around them. */
const lineGap = 8;
const [layerReaches, nearReaches, farReaches] = [reaches.slice(0, 2), reaches.slice(0, 4), reaches.slice(4)];

/** Where a group is on the screen: its boundary, or its part of a closed module's bar. */
interface Anchor {
  box: PlacedBox;
  segment: boolean;
}

interface Label {
  group: number;
  anchor: Anchor;
  lines: string[];
  width: number;
  height: number;
  /** Selected or under the pointer: has its label whatever is in the way. */
  wanted: boolean;
}

/** Where the last frame had its labels, by group: at the same scale they move with the picture and don't hop about. */
export class LabelPlaces {
  #picture: Frame['picture'] | null = null;
  #camera: Frame['camera'] = { k: 0, x: 0, y: 0 };
  #places: ReadonlyMap<number, Placed> = new Map();

  /** A group's label, moved with the picture; null where it is no longer free. Boxes, lines and boundaries moved likewise. */
  moved({ picture, camera, width, height }: Frame, labels: LabelSpace, group: number): Placed | null {
    const last = this.#places.get(group);
    if (last === undefined || picture !== this.#picture || camera.k !== this.#camera.k) return null;
    const [dx, dy] = [camera.x - this.#camera.x, camera.y - this.#camera.y];
    const by = (box: PlacedBox) => ({ ...box, x: box.x + dx, y: box.y + dy });
    const [box, line] = [by(last.box), last.line.map(by)];
    if (!isInside(box, { width, height }) || labels.hits(grown(box, 2))) return null;
    return line.some((one) => labels.hits(one)) ? null : { label: last.label, box, line };
  }

  keep({ picture, camera }: Frame, places: ReadonlyMap<number, Placed>): void {
    this.#picture = picture;
    this.#camera = camera;
    this.#places = places;
  }
}

/**
 * Names of the selected group, of the one under the pointer and of the largest, next to them or at the end of a line.
 * They cover edges and the lines around modules only where there is no other room, and no boxes: where there is only
 * room on those, a group has no label unless it is selected or under the pointer.
 */
export function drawGroupLabels(
  brush: Brush,
  frame: Frame,
  labels: LabelSpace,
  isOnLine: IsOnLine,
  last: LabelPlaces,
): void {
  const around: Around = { frame, labels, isOnLine, crosses: boundaryFinder(frame) };
  const places = new Map<number, Placed>();
  for (const label of labelsOf(frame)) {
    const moved = label.wanted ? null : last.moved(frame, labels, label.group);
    const placed = moved ?? placeOf(around, label);
    if (placed === null) continue;
    if (!label.wanted) places.set(label.group, placed);
    labels.force({ ...placed.box, target: { kind: 'group', group: label.group } });
    for (const line of placed.line) labels.block(line);
    drawLabel(brush, frame, placed, label.group);
  }
  last.keep(frame, places);
}

/** What a label is placed among. */
interface Around {
  frame: Frame;
  labels: LabelSpace;
  isOnLine: IsOnLine;
  crosses: CrossesGroup;
}

function placeOf(around: Around, full: Label): Placed | null {
  const { frame, labels, isOnLine, crosses } = around;
  // Where there is no room for all of it, perhaps there is for its name, or for this in lines of its own.
  const name = full.lines[0]!;
  const shorter = [[name], name.split(' · ')].filter(({ length }, i) => length !== (i === 0 ? full.lines.length : 1));
  const ways = [full, ...shorter.map((lines) => withLines(frame, full, lines))];
  // In another group a label would seem to be that one's.
  const isTaken = (box: PlacedBox) => labels.hits(box) || crosses(full.group, box);
  const isFree = ({ box, line: [line] }: Placed) =>
    isInside(box, frame) &&
    !labels.hits(grown(box, 2)) &&
    !crosses(full.group, box) &&
    (line === undefined || !isTaken(line));
  // Layers are many and small: far from its layer, a label says nothing.
  const isLayer = frame.model.fusion.groups[full.group]!.kind !== 'foreign' && !full.wanted;
  const free = new Map<Label, Placed>();
  for (const label of ways)
    for (const placed of placesNear(frame, label, isLayer ? layerReaches : nearReaches)) {
      if (!isFree(placed)) continue;
      if (!isOnLine(placed.box, lineGap)) return placed;
      if (!free.has(label)) free.set(label, placed);
    }
  for (const label of ways) {
    const near = free.get(label);
    if (near !== undefined) return near;
    for (const placed of isLayer ? [] : atLine(frame, label, farReaches)) if (isFree(placed)) return placed;
  }
  return within(around, ways.at(-1)!);
}

interface Placed {
  /** As written there. */
  label: Label;
  box: PlacedBox;
  /** Thin boxes, horizontal or upright, from the label to its group. */
  line: PlacedBox[];
}

function labelsOf(frame: Frame): Label[] {
  const { model, camera } = frame;
  const regions = new Map(model.regions.map((region) => [region.group, region]));
  const limit = Math.min(most, Math.max(fewest, Math.round((frame.width * frame.height) / pixelsPerLabel)));
  const chosen: Label[] = [];
  const add = (group: number, wanted: boolean): void => {
    if (group < 0 || chosen.some((label) => label.group === group)) return;
    const anchor = anchorOf(frame, group, regions.get(group), wanted);
    if (anchor !== null && (wanted || !isAtEdge(frame, anchor.box))) chosen.push(labelOf(frame, group, anchor, wanted));
  };
  add(frame.group, true);
  add(frame.pointed, true);
  const pinned = chosen.length;
  // While one group is selected the others are dimmed.
  if (frame.group >= 0) return chosen;
  for (const group of model.groupsBySize) {
    if (chosen.length - pinned >= limit) break;
    if (model.fusion.groups[group]!.kind === 'foreign' || camera.k > layerScale) add(group, false);
  }
  return chosen;
}

/** Little of it is on the screen: a line to its label would cross what is. */
const isAtEdge = ({ width, height }: Frame, box: PlacedBox): boolean =>
  box.x > width - 60 || box.x + box.width < 60 || box.y > height - 30 || box.y + box.height < 30;

function labelOf(frame: Frame, group: number, anchor: Anchor, wanted: boolean): Label {
  const own = frame.model.fusion.groups[group]!;
  const [title, note] = textsOf(frame.model, own);
  const few = frame.model.fusion.groups.filter(({ kind }) => kind === 'foreign').length <= 3;
  const short = !wanted && !(few && own.kind === 'foreign');
  const lines = note === '' || short ? [title] : [title, note];
  return withLines(frame, { group, anchor, wanted }, lines);
}

function withLines(
  { fit }: Frame,
  { group, anchor, wanted }: Pick<Label, 'group' | 'anchor' | 'wanted'>,
  lines: string[],
): Label {
  const width = Math.max(...lines.map((line, i) => fit.width(line, i === 0 ? size : leastLetters, i === 0))) + 16;
  return { group, anchor, lines, width: Math.ceil(width), height: lines.length * size + 12, wanted };
}

function anchorOf(frame: Frame, group: number, region: GroupOutline | undefined, wanted: boolean): Anchor | null {
  const own = frame.model.fusion.groups[group]!;
  const single = wanted || (region !== undefined && hasBoundary(own, region));
  if (region !== undefined && single && onScreen(frame, region.left, region.top, region.right, region.bottom, 0))
    return { box: largestVisible(frame, region, margins[own.kind]), segment: false };
  // Bars of many groups would have as many names.
  if (!wanted && own.kind !== 'foreign') return null;
  let best: PlacedBox | null = null;
  for (const segment of frame.model.segments.get(group) ?? []) {
    const box = barPart(frame, segment);
    if (box.x + box.width < 0 || box.x > frame.width || box.y + box.height < 0 || box.y > frame.height) continue;
    if (box.width > (best?.width ?? (wanted ? 0 : 14))) best = box;
  }
  return best === null ? null : { box: best, segment: true };
}

/** The part of a closed module on the screen that is above a segment of its bar. */
function barPart({ picture: { layout }, camera: { k, x, y } }: Frame, { item, from, to }: BarSegment): PlacedBox {
  // As in the bar, which ends before the module's corners.
  const inset = 6 * Math.min(1, k);
  const left = layout.x[item]! * k + x + inset;
  const width = layout.width[item]! * k - 2 * inset;
  const height = layout.height[item]! * k;
  return { x: left + from * width, y: layout.y[item]! * k + y, width: (to - from) * width, height };
}

/** Of a region's boxes the one of which most is on the screen, with the boundary around it. */
function largestVisible(
  { camera: { k, x, y }, width, height }: Frame,
  { boxes }: GroupOutline,
  margin: number,
): PlacedBox {
  let best: PlacedBox = { x: 0, y: 0, width: -1, height: -1 };
  const beyond = margin * k + 4;
  for (let i = 0; i < boxes.length; i += 4) {
    const left = Math.max(0, boxes[i]! * k + x - beyond);
    const top = Math.max(0, boxes[i + 1]! * k + y - beyond);
    const right = Math.min(width, (boxes[i]! + boxes[i + 2]!) * k + x + beyond);
    const bottom = Math.min(height, (boxes[i + 1]! + boxes[i + 3]!) * k + y + beyond);
    if (right <= left || bottom <= top) continue;
    if ((right - left) * (bottom - top) > best.width * best.height || best.width < 0)
      best = { x: left, y: top, width: right - left, height: bottom - top };
  }
  return best;
}

const isInside = ({ x, y, width, height }: PlacedBox, frame: Pick<Frame, 'width' | 'height'>): boolean =>
  x >= 4 && x + width <= frame.width - 4 && y >= 4 && y + height <= frame.height - 4;

const grown = ({ x, y, width, height }: PlacedBox, by: number): PlacedBox => ({
  x: x - by,
  y: y - by,
  width: width + 2 * by,
  height: height + 2 * by,
});

/** Whether a line or a label is within the boundary of another group than its own, which it would seem to belong to. */
type CrossesGroup = (own: number, line: PlacedBox) => boolean;

/** Finds the boundaries on the screen; looks for them when first asked. */
function boundaryFinder(frame: Frame): CrossesGroup {
  let boundaries: (PlacedBox & { group: number })[] | null = null;
  return (own, line) => {
    boundaries ??= boundariesOf(frame);
    return boundaries.some(
      ({ group, x, y, width, height }) =>
        group !== own &&
        x < line.x + line.width &&
        x + width > line.x &&
        y < line.y + line.height &&
        y + height > line.y,
    );
  };
}

function boundariesOf(frame: Frame): (PlacedBox & { group: number })[] {
  const { model, camera } = frame;
  const { k, x, y } = camera;
  const found: (PlacedBox & { group: number })[] = [];
  for (const region of model.regions) {
    const own = model.fusion.groups[region.group]!;
    const margin = margins[own.kind];
    if (!hasBoundary(own, region)) continue;
    if (!onScreen(frame, region.left, region.top, region.right, region.bottom, margin * k)) continue;
    const { boxes, group } = region;
    for (let i = 0; i < boxes.length; i += 4)
      found.push({
        group,
        x: (boxes[i]! - margin) * k + x,
        y: (boxes[i + 1]! - margin) * k + y,
        width: (boxes[i + 2]! + 2 * margin) * k,
        height: (boxes[i + 3]! + 2 * margin) * k,
      });
  }
  return found;
}

/** Next to the group, then at the end of a line. */
function* placesNear(frame: Frame, label: Label, reachable: readonly number[]): Iterable<Placed> {
  if (!label.anchor.segment) yield* nextTo(label);
  yield* atLine(frame, label, reachable);
}

function nextTo(label: Label): Placed[] {
  const { width, height } = label;
  const { box } = label.anchor;
  const at = (x: number, y: number): Placed => ({ label, box: { x, y, width, height }, line: [] });
  const right = box.x + box.width - width;
  const [above, below] = [box.y - height - 2, box.y + box.height + 2];
  return [
    at(box.x, above),
    at(right, above),
    at(box.x + box.width + 3, box.y),
    at(box.x - width - 3, box.y),
    at(box.x, below),
    at(right, below),
    at(right - 6, box.y + 6),
    at(box.x + 6, box.y + 6),
    // Past a corner, where what enters or leaves the group is in the way.
    ...[24, 48].flatMap((by) => [above, below].flatMap((y) => [at(box.x - by, y), at(right + by, y)])),
  ];
}

/** At the end of a line to its side, the nearest first; the first of its lines may cross nothing. */
function* atLine({ camera: { k } }: Frame, label: Label, reachable: readonly number[]): Iterable<Placed> {
  const { width, height } = label;
  const { box, segment } = label.anchor;
  const middle = box.x + box.width / 2;
  const below = box.y + box.height;
  const heights = segment
    ? [8, 14, 20].map((by) => below + by * Math.max(0.5, Math.min(1, k)))
    : Array.from({ length: 9 }, (_, i) => box.y + 10 + ((box.height - 20) * i) / 8);
  for (const reach of reachable) {
    for (const y of heights) {
      for (const side of [1, -1]) {
        const start = segment ? middle : side > 0 ? box.x + box.width - 3 : box.x + 3;
        const from = side > 0 ? Math.max(start, box.x + box.width) : Math.min(start, box.x);
        const x = side > 0 ? from + reach : from - reach - width;
        const end = side > 0 ? x : x + width;
        const line = [{ x: Math.min(start, end), y: y - 0.5, width: Math.abs(end - start), height: 1 }];
        if (segment) line.push({ x: middle - 0.5, y: below, width: 1, height: y - below });
        yield { label, box: { x, y: y - height / 2, width, height }, line };
      }
    }
  }
}

/** As many places are tried in each direction; closer together than `leastStep` they are the same to the eye. */
const [columns, rows, leastStep] = [48, 32, 8];
/** Where the label of a wanted group may be, beyond what is seen of the group. */
const beyond = 60;

/**
 * Within the group: where nothing is, for one that fills the screen; where it covers least, for the selected group and
 * for the one under the pointer, which always have their label.
 */
function within({ frame, labels, crosses }: Around, label: Label): Placed | null {
  const { width, height, wanted, anchor } = label;
  const { box, segment } = anchor;
  const fills = box.width * box.height > 0.2 * frame.width * frame.height;
  if (!wanted && (segment || !fills)) return null;
  const more = wanted ? beyond : -6;
  const [left, right] = range(box.x - more, box.x + box.width + more - width, frame.width - width);
  const [top, bottom] = range(box.y - more, box.y + box.height + more - height, frame.height - height);
  let [least, found]: [number, PlacedBox | null] = [wanted ? Infinity : 1, null];
  for (let x = left; x <= right; x += Math.max(leastStep, (right - left) / columns))
    for (let y = top; y <= bottom; y += Math.max(leastStep, (bottom - top) / rows)) {
      const place = { x, y, width, height };
      const covered = labels.covered(place) + (crosses(label.group, place) ? width * height : 0);
      if (covered >= least) continue;
      if (covered === 0) return { label, box: place, line: [] };
      [least, found] = [covered, place];
    }
  return !wanted || found === null ? null : { label, box: found, line: [] };
}

/** What of a range is on the screen, which is that long. */
function range(from: number, to: number, length: number): [number, number] {
  const start = Math.max(6, Math.min(from, length - 6));
  return [start, Math.max(start, Math.min(to, length - 6))];
}

function drawLabel(brush: Brush, frame: Frame, { label, box, line }: Placed, group: number): void {
  const { palette, model } = frame;
  const { color, exact } = model.fusion.groups[group]!;
  const stroke = palette.strong(color);
  for (const { x, y, width, height } of line) brush.box(x, y, width, height, { fill: stroke });
  brush.box(box.x, box.y, box.width, box.height, {
    fill: palette.theme.background,
    stroke,
    lineWidth: frame.group === group || frame.pointed === group ? 2.5 : 1.5,
    radius: 4,
    dashed: !exact,
  });
  label.lines.forEach((text, i) => {
    const y = box.y + 6 + size * (i + 0.5) + i;
    brush.text(text, box.x + 8, y, {
      size: i === 0 ? size : leastLetters,
      bold: i === 0,
      color: palette.theme.foreground,
    });
  });
}

/** Groups are made again with every report; their texts are needed in every frame. */
const texts = new WeakMap<DrawnGroup, [title: string, note: string]>();

function textsOf(model: Frame['model'], group: DrawnGroup): [title: string, note: string] {
  let known = texts.get(group);
  if (known === undefined)
    texts.set(group, (known = group.kind === 'foreign' ? foreignTexts(model, group) : layerTexts(model, group)));
  return known;
}

/** `stages.2/blocks.2 · LayerNorm + MLP · 0.352 ms`, `ForeignNode 3 · 14 nodes (2 derived) · 6 kernels · fp16` */
function foreignTexts(model: Frame['model'], group: DrawnGroup): [string, string] {
  const { report } = model.data;
  const derived = group.points.filter((point) => report?.nodes[model.fusion.reportOf[point]!]?.exact === false).length;
  const kernels = model.fusion.kernelCounts.get(group.ref) ?? 0;
  const nodes = graphStrings.groupNodes(group, model.noun) + (derived > 0 ? graphStrings.ofThemDerived(derived) : '');
  // Without a model, the nodes are the kernels.
  const parts = model.noun === 'layer' && kernels > 0 ? [] : [nodes];
  if (kernels > 0) parts.push(graphStrings.kernels(kernels));
  const precision = model.groupPrecision(group);
  if (precision !== '') parts.push(precision);
  const time = model.groupTime(group);
  const number = foreignNumber(report?.foreignNodes.find(({ id }) => id === group.ref) ?? { id: group.ref });
  const title = report === null ? number : foreignTitle(report, group.ref);
  if (title !== number) parts.unshift(number);
  return [`${title}${time === null ? '' : ` · ${timeText(time)}`}`, parts.join(' · ')];
}

function layerTexts(model: Frame['model'], group: DrawnGroup): [string, string] {
  const { report } = model.data;
  const number = `layer ${group.ref}`;
  const name = report === null ? number : titleOfLayer(report, group.ref);
  const type = report === null ? '' : (layerOf(report, group.ref)?.type ?? '');
  const time = group.averageMs === null ? '' : ` · ${timeText(group.averageMs)}`;
  return [`${name}${time}`, phrase([name !== number && number, type, graphStrings.groupNodes(group, model.noun)])];
}

/** The groups that the legend lists, the largest first: all that compute several nodes. */
export const legendGroups = (model: Frame['model']): LegendGroup[] =>
  model.groupsBySize
    .map((group) => ({ group, own: model.fusion.groups[group]! }))
    .filter(({ own }) => own.kind !== 'single')
    .map(({ group, own }) => {
      const [label, note] = textsOf(model, own);
      return { group, label, note, paint: own.color };
    });
