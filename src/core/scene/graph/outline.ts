import { addTo } from '../../text/addTo.ts';

/** Closed loops of corners (x, y in turn) around an area; loops around holes run the other way round. */
export type Outline = number[][];

/** Sides of boxes that are closer together than this become one side: no steps too small to mean anything. */
const snap = 6;

interface Span {
  from: number;
  to: number;
}

/**
 * The outline of the union of boxes (x, y, width, height in turn), each enlarged by a margin on all sides. All sides
 * are horizontal or vertical; corners follow each other clockwise.
 */
export function unionOutline(boxes: ArrayLike<number>, margin: number): Outline {
  const [lefts, tops, rights, bottoms]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let i = 0; i < boxes.length; i += 4) {
    lefts.push(boxes[i]! - margin);
    tops.push(boxes[i + 1]! - margin);
    rights.push(boxes[i]! + boxes[i + 2]! + margin);
    bottoms.push(boxes[i + 1]! + boxes[i + 3]! + margin);
  }
  const outward = [snapped(lefts, -1), snapped(tops, -1), snapped(rights, 1), snapped(bottoms, 1)] as const;
  return loops(sides(...outward));
}

/** Moves values that are nearly the same to the outermost of them; `sign` says where out is. */
function snapped(values: number[], sign: 1 | -1): number[] {
  const order = values.map((_, i) => i).sort((a, b) => sign * (values[b]! - values[a]!));
  const result = [...values];
  let outermost = Number.NaN;
  for (const i of order) {
    if (!(Math.abs(values[i]! - outermost) < snap)) outermost = values[i]!;
    result[i] = outermost;
  }
  return result;
}

type Side = [x0: number, y0: number, x1: number, y1: number];

/** The sides of the union, directed so that the area is on their right. */
function sides(lefts: number[], tops: number[], rights: number[], bottoms: number[]): Side[] {
  const heights = [...new Set([...tops, ...bottoms])].sort((a, b) => a - b);
  const byTop = tops.map((_, i) => i).sort((a, b) => tops[a]! - tops[b]!);
  const result: Side[] = [];
  let active: number[] = [];
  let next = 0;
  let above: Span[] = [];
  for (const [strip, top] of heights.entries()) {
    active = active.filter((box) => bottoms[box]! > top);
    for (; next < byTop.length && tops[byTop[next]!]! <= top; next++) active.push(byTop[next]!);
    const spans = merged(active.map((box) => ({ from: lefts[box]!, to: rights[box]! })));
    for (const { from, to } of without(spans, above)) result.push([from, top, to, top]);
    for (const { from, to } of without(above, spans)) result.push([to, top, from, top]);
    const bottom = heights[strip + 1];
    if (bottom !== undefined) {
      for (const { from, to } of spans) result.push([from, bottom, from, top], [to, top, to, bottom]);
    }
    above = spans;
  }
  return result;
}

function merged(spans: Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.sort((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else result.push({ ...span });
  }
  return result;
}

/** What of some spans is in none of others; both sorted and apart. */
function without(spans: Span[], others: Span[]): Span[] {
  const result: Span[] = [];
  for (const { from, to } of spans) {
    let at = from;
    for (const other of others) {
      if (other.to <= at || other.from >= to) continue;
      if (other.from > at) result.push({ from: at, to: other.from });
      at = other.to;
    }
    if (at < to) result.push({ from: at, to });
  }
  return result;
}

/** Puts directed sides together to loops, without corners in the middle of a straight side. */
function loops(all: Side[]): Outline {
  const leaving = new Map<string, Side[]>();
  const key = (x: number, y: number) => `${x} ${y}`;
  for (const side of all) {
    const at = key(side[0], side[1]);
    addTo(leaving, at, side);
  }
  const result: Outline = [];
  for (const first of all) {
    const loop: number[] = [];
    for (let side: Side | undefined = first; side !== undefined;) {
      const from: Side[] = leaving.get(key(side[0], side[1]))!;
      const taken = from.indexOf(side);
      if (taken < 0) break;
      from.splice(taken, 1);
      loop.push(side[0], side[1]);
      side = next(side, leaving.get(key(side[2], side[3])) ?? []);
    }
    if (loop.length > 0) result.push(straightened(loop));
  }
  return result;
}

/** Where two areas touch in a corner, the turn to the right stays with its own area. */
function next([x0, y0, x1, y1]: Side, onward: Side[]): Side | undefined {
  const turn = ([a, b, c, d]: Side): number => Math.sign((x1 - x0) * (d - b) - (y1 - y0) * (c - a));
  return onward.toSorted((a, b) => turn(b) - turn(a))[0];
}

function straightened(loop: number[]): number[] {
  const result: number[] = [];
  for (let i = 0; i < loop.length; i += 2) {
    const [x, y] = [loop[i]!, loop[i + 1]!];
    const [px, py] = [loop.at(i - 2)!, loop.at(i - 1)!];
    const [nx, ny] = [loop[(i + 2) % loop.length]!, loop[(i + 3) % loop.length]!];
    if (!((px === x && nx === x) || (py === y && ny === y))) result.push(x, y);
  }
  return result;
}
