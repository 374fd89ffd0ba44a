import { foreignNumber } from '../../../src/kernel/fusion/fusionReport.ts';
import { foreignTitle, layerOf, titleOfLayer, phrase } from '../../../src/kernel/report/words.ts';
import type { BarSegment } from '../../../src/kernel/picture/graph/overlay.ts';
import type { DrawnGroup } from '../../../src/kernel/picture/graph/fusionGroups.ts';
import type { GroupOutline } from '../../../src/kernel/picture/graph/scene.ts';
import { timeText } from '../../../src/kernel/base/text.ts';
import { graphStrings } from '../panels/graphStrings.ts';
import type { LegendGroup } from '../panels/legend.ts';
import type { Brush } from './brush.ts';
import { margins } from './internal/drawRegions.ts';
import { hasBoundary, type NamedOutline } from '../view/graphModel.ts';
import { type Frame, type LabelSpace, leastLetters, nameScale, onScreen, type PlacedBox } from './drawView.ts';
import type { IsOnLine } from './internal/lineFinder.ts';

const size = 12;
/** A line within a boundary, and the space around the lines. */
const [lineHeight, inset] = [12.5, 2];
/** Heights within a boundary at which there may be room for a name. */
const tries = 9;
/** So many groups have names at once, the largest first: more would take longer than a frame may. */
const most = 80;
/** How far from its group a label may be; for the sake of lines that it would cover, only as far as the first of them. */
const reaches = [22, 60, 110, 170, 240, 320, 420, 540];
/** So far lines keep off a name, so that one can click them. */
const nameGap = 4;
/** So far lines keep off a label, with the boundary that a group has around them. */
const lineGap = 8;
const [nearReaches, farReaches] = [reaches.slice(0, 4), reaches.slice(4)];

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
}

/** Where the last frame had its names, by outline: at the same scale they move with the picture and don't hop about. */
export class LabelPlaces {
  #picture: Frame['picture'] | null = null;
  #camera: Frame['camera'] = { k: 0, x: 0, y: 0 };
  #places: ReadonlyMap<GroupOutline, Name> = new Map();

  /** An outline's name, moved with the picture; null where it had none, or another part of the outline is seen. */
  moved({ picture, camera, width, height }: Frame, labels: LabelSpace, region: GroupOutline): Name | null {
    const last = this.#places.get(region);
    if (last === undefined || picture !== this.#picture || camera.k !== this.#camera.k) return null;
    const [dx, dy] = [camera.x - this.#camera.x, camera.y - this.#camera.y];
    const box = { ...last.box, x: last.box.x + dx, y: last.box.y + dy };
    if (!isInside(box, { width, height }) || (last.covers ? labels.onLabel(box) : labels.hits(box))) return null;
    return { ...last, box };
  }

  keep({ picture, camera }: Frame, places: ReadonlyMap<GroupOutline, Name>): void {
    this.#picture = picture;
    this.#camera = camera;
    this.#places = places;
  }
}

/** The lines of a name and where they are; `covers`: boxes too small for text of their own are behind it. */
interface Name {
  lines: string[];
  box: PlacedBox;
  covers: boolean;
}

/**
 * Names and times of all groups within their boundaries. The selected group, and the one under the pointer where there is
 * no room for that, have a card with all of it next to them or at the end of a line, whatever is in the way.
 */
export function drawGroupLabels(
  brush: Brush,
  frame: Frame,
  labels: LabelSpace,
  isOnLine: IsOnLine,
  last: LabelPlaces,
): void {
  const around: Around = { frame, labels, isOnLine, crosses: boundaryFinder(frame) };
  // While one group is selected the others are dimmed.
  const named = frame.group < 0 ? drawNames(brush, around, last) : new Set();
  for (const label of wantedLabels(frame)) {
    if (named.has(label.group)) continue;
    const placed = placeOf(around, label);
    if (placed === null) continue;
    labels.force({ ...placed.box, target: { kind: 'group', group: label.group } });
    for (const line of placed.line) labels.block(line);
    drawLabel(brush, frame, placed, label.group);
  }
}

/** @returns groups that have their names */
function drawNames(brush: Brush, around: Around, last: LabelPlaces): Set<number> {
  const { frame, labels } = around;
  const { model, palette } = frame;
  const places = new Map<GroupOutline, Name>();
  const named = new Set<number>();
  for (const outline of model.named) {
    const { region, group, index, isKernel } = outline;
    if (places.size >= most) break;
    if (!onScreen(frame, region.left, region.top, region.right, region.bottom, 0)) continue;
    const name = last.moved(frame, labels, region) ?? nameOf(around, outline);
    if (name === null) continue;
    places.set(region, name);
    if (!isKernel) named.add(index);
    const { box, lines } = name;
    labels.force({ ...box, target: isKernel ? { kind: 'kernel', layer: group.ref } : { kind: 'group', group: index } });
    const { theme } = palette;
    brush.box(box.x, box.y, box.width, box.height, {
      fill: model.overlay.kind === 'fusion' ? palette.area(group.color, isKernel ? 1 : 0) : theme.background,
      radius: 3,
    });
    lines.forEach((line, i) => {
      const y = box.y + inset - 1 + lineHeight * (i + 0.5);
      brush.text(line, box.x + inset, y, { size: leastLetters, bold: i === 0, color: theme.foreground });
    });
  }
  last.keep(frame, places);
  return named;
}

/**
 * A group's name and time within its boundary: where nothing is, otherwise on its outer side, otherwise, from afar, over
 * boxes that are too small for text; null where there is no room.
 */
function nameOf(around: Around, outline: NamedOutline): Name | null {
  const { frame } = around;
  const { region, group } = outline;
  const own = largestVisible(frame, region, margins[group.kind] * frame.camera.k);
  const covers = frame.camera.k < nameScale;
  const parts = nameParts(frame.model, group);
  const [place = '', time = ''] = [parts[0], parts.length > 1 ? parts.at(-1) : ''];
  const short = place.slice(place.lastIndexOf('/') + 1);
  // What it computes goes first, then the modules around it; where nodes can be read, the time alone says something, too.
  const forms = [parts, [place, time], [short, time], [covers ? short : time]]
    .map((form) => form.filter((part) => part !== ''))
    .filter(({ length }) => length > 0);
  return nameWithin(around, own, forms, covers) ?? (covers ? null : nameNextTo(around, own, forms, outline));
}

/** @param own the boundary on the screen */
function nameWithin(
  { frame, labels, isOnLine }: Around,
  own: PlacedBox,
  forms: readonly string[][],
  covers: boolean,
): Name | null {
  for (const form of forms) {
    const lines = wrapped(frame.fit, form, own.width - 2 * inset);
    const size = sizeOf(frame.fit, lines);
    if (lines.length === 0 || size.height > own.height) continue;
    for (const place of covers ? [centered(own, size)] : placesInside(own, size)) {
      const box = { ...place, ...size };
      const isFree = covers ? !labels.onLabel(box) : !labels.hits(box) && !isOnLine(box, nameGap);
      if (isFree && isInside(box, frame)) return { lines, box, covers };
    }
  }
  return null;
}

function nameNextTo(
  { frame, labels, isOnLine, crosses }: Around,
  own: PlacedBox,
  forms: readonly string[][],
  { index, isKernel }: NamedOutline,
): Name | null {
  const isFree = (box: PlacedBox) =>
    isInside(box, frame) && !labels.hits(box) && !isOnLine(box, nameGap) && !crosses(isKernel ? -1 : index, box);
  for (const form of forms) {
    const lines = [form.join(' · ')];
    const size = sizeOf(frame.fit, lines);
    for (const place of placesNextTo(own, size)) {
      const box = { ...place, ...size };
      if (isFree(box)) return { lines, box, covers: false };
    }
  }
  return null;
}

type Size = Pick<PlacedBox, 'width' | 'height'>;

const sizeOf = (fit: Frame['fit'], lines: readonly string[]): Size => ({
  width: Math.max(...lines.map((line, i) => fit.width(line, leastLetters, i === 0))) + 2 * inset,
  height: lines.length * lineHeight + 2 * inset - 1,
});

type Corner = Pick<PlacedBox, 'x' | 'y'>;

const centered = (own: PlacedBox, { width, height }: Size): Corner => ({
  x: own.x + (own.width - width) / 2,
  y: own.y + (own.height - height) / 2,
});

const placesInside = (own: PlacedBox, { width, height }: Size): Corner[] =>
  Array.from({ length: tries }, (_, i) => own.y + (i * (own.height - height)) / (tries - 1)).flatMap((y) => [
    { x: own.x, y },
    { x: own.x + own.width - width, y },
  ]);

/** Next to a boundary, as a tab. */
function placesNextTo(own: PlacedBox, { width, height }: Size): Corner[] {
  const [above, below] = [own.y - height - 1, own.y + own.height + 1];
  const [before, after] = [own.x - width - 1, own.x + own.width + 1];
  const right = own.x + own.width - width;
  // Past a corner, too, where what enters or leaves the group is in the way.
  const level = [own.x, right, ...[24, 48].flatMap((by) => [own.x - by, right + by])];
  const heights = [own.y, own.y + (own.height - height) / 2, own.y + own.height - height];
  return [
    ...level.flatMap((x) => [
      { x, y: above },
      { x, y: below },
    ]),
    ...heights.flatMap((y) => [
      { x: after, y },
      { x: before, y },
    ]),
  ];
}

/** What a name is made of, the time last: `stages.2/blocks.2`, `LayerNorm + MLP`, `40.7 µs`. */
const nameParts = (model: Frame['model'], group: DrawnGroup): string[] => textsOf(model, group)[0].split(' · ');

/** Parts of a name in lines that are no wider than that; none where a word does not fit. */
function wrapped(fit: Frame['fit'], parts: readonly string[], room: number): string[] {
  const lines: string[] = [];
  const fits = (text: string) => fit.width(text, leastLetters, true) <= room;
  for (const part of parts) {
    const joined = lines.length === 0 ? part : `${lines.at(-1)!} · ${part}`;
    if (fits(joined)) {
      lines.splice(-1, 1, joined);
      continue;
    }
    let line = '';
    for (const word of part.split(/(?<=[/_]|(?<!\d) )/)) {
      if (fits(line + word.trimEnd())) {
        line += word;
        continue;
      }
      if (line !== '') lines.push(line.trimEnd());
      if (!fits(word.trimEnd())) return [];
      line = word;
    }
    lines.push(line.trimEnd());
  }
  return lines;
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
  const free = new Map<Label, Placed>();
  for (const label of ways)
    for (const placed of placesNear(frame, label)) {
      if (!isFree(placed)) continue;
      if (!isOnLine(placed.box, lineGap)) return placed;
      if (!free.has(label)) free.set(label, placed);
    }
  for (const label of ways) {
    const near = free.get(label);
    if (near !== undefined) return near;
    for (const placed of atLine(frame, label, farReaches)) if (isFree(placed)) return placed;
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

function wantedLabels(frame: Frame): Label[] {
  return [...new Set([frame.group, frame.pointed])].flatMap((group) => {
    const own = frame.model.fusion.groups[group];
    if (own === undefined) return [];
    const anchor = anchorOf(frame, group);
    const [title, note] = textsOf(frame.model, own);
    return anchor === null ? [] : withLines(frame, { group, anchor }, note === '' ? [title] : [title, note]);
  });
}

function withLines({ fit }: Frame, { group, anchor }: Pick<Label, 'group' | 'anchor'>, lines: string[]): Label {
  const width = Math.max(...lines.map((line, i) => fit.width(line, i === 0 ? size : leastLetters, i === 0))) + 16;
  return { group, anchor, lines, width: Math.ceil(width), height: lines.length * size + 12 };
}

function anchorOf(frame: Frame, group: number): Anchor | null {
  const own = frame.model.fusion.groups[group]!;
  const region = frame.model.regions.find((one) => one.group === group);
  if (region !== undefined && onScreen(frame, region.left, region.top, region.right, region.bottom, 0))
    return { box: largestVisible(frame, region, margins[own.kind] * frame.camera.k + 4), segment: false };
  let best: PlacedBox | null = null;
  for (const segment of frame.model.segments.get(group) ?? []) {
    const box = barPart(frame, segment);
    if (box.x + box.width < 0 || box.x > frame.width || box.y + box.height < 0 || box.y > frame.height) continue;
    if (box.width > (best?.width ?? 0)) best = box;
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

/** Of a region's boxes the one of which most is on the screen, with so many CSS pixels around it. */
function largestVisible(
  { camera: { k, x, y }, width, height }: Frame,
  { boxes }: Pick<GroupOutline, 'boxes'>,
  beyond: number,
): PlacedBox {
  let best: PlacedBox = { x: 0, y: 0, width: -1, height: -1 };
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
function* placesNear(frame: Frame, label: Label): Iterable<Placed> {
  if (!label.anchor.segment) yield* nextTo(label);
  yield* atLine(frame, label, nearReaches);
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

/** Within the group, where it covers least. */
function within({ frame, labels, crosses }: Around, label: Label): Placed | null {
  const { width, height, anchor } = label;
  const { box } = anchor;
  const [left, right] = range(box.x - beyond, box.x + box.width + beyond - width, frame.width - width);
  const [top, bottom] = range(box.y - beyond, box.y + box.height + beyond - height, frame.height - height);
  let [least, found]: [number, PlacedBox | null] = [Infinity, null];
  for (let x = left; x <= right; x += Math.max(leastStep, (right - left) / columns))
    for (let y = top; y <= bottom; y += Math.max(leastStep, (bottom - top) / rows)) {
      const place = { x, y, width, height };
      const covered = labels.covered(place) + (crosses(label.group, place) ? width * height : 0);
      if (covered >= least) continue;
      if (covered === 0) return { label, box: place, line: [] };
      [least, found] = [covered, place];
    }
  return found === null ? null : { label, box: found, line: [] };
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
