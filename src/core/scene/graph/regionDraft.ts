import type { LayoutResult } from '../../layout/layoutTypes.ts';
import type { GroupShape } from './regions.ts';
import type { Scene } from './scene.ts';

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Boundaries keep this distance from what is not in them. */
const distance = 12;
/** Two boxes above each other need to overlap by this much to be joined directly. */
const overlap = 16;
/** A box around two others may be mostly empty only while it is small. */
const emptiest = 3;
const smallArea = 60_000;
const cell = 240;

const around = (a: Box, b: Box): Box => ({
  left: Math.min(a.left, b.left),
  top: Math.min(a.top, b.top),
  right: Math.max(a.right, b.right),
  bottom: Math.max(a.bottom, b.bottom),
});
const areaOf = ({ left, top, right, bottom }: Box): number => (right - left) * (bottom - top);

/** What is not computed: boundaries go around it or leave it out, but not through it where that can be avoided. */
const idle = -2;

/** The boxes of one open module's contents, by place. */
interface Level {
  boxes: Box[];
  groups: number[];
  /** Positions in `boxes` by cell. */
  cells: Map<number, number[]>;
  /** How many boxes each group has. */
  counts: Map<number, number>;
  /** Positions of the boxes that are in the way of a group of which almost all is. */
  others: Map<number, number[]>;
}

/** So few boxes of others are looked at one by one. */
const few = 64;

/** What boundaries of a group must not cover: boxes of other groups, by the open module that they are in. */
export class Obstacles {
  readonly #levels = new Map<number, Level>();

  constructor({ kind, parent }: Scene, { x, y, width, height }: LayoutResult, whole: Int32Array) {
    for (let item = 0; item < kind.length; item++) {
      const box = { left: x[item]!, top: y[item]!, right: x[item]! + width[item]!, bottom: y[item]! + height[item]! };
      this.add(parent[item]!, whole[item]!, box);
    }
  }

  add(parent: number, group: number, box: Box): void {
    let level = this.#levels.get(parent);
    if (level === undefined)
      this.#levels.set(
        parent,
        (level = { boxes: [], groups: [], cells: new Map(), counts: new Map(), others: new Map() }),
      );
    const at = level.boxes.length;
    level.boxes.push(box);
    level.groups.push(group);
    level.counts.set(group, (level.counts.get(group) ?? 0) + 1);
    for (const [other, list] of level.others) if (other !== group && group !== idle) list.push(at);
    forCells(box, (key) => {
      const known = level.cells.get(key);
      if (known === undefined) level.cells.set(key, [at]);
      else known.push(at);
      return true;
    });
  }

  /** Whether nothing of another group is in a box or next to it. */
  isFree(parent: number, group: number, box: Box): boolean {
    const level = this.#levels.get(parent)!;
    const wide = enlarged(box);
    const isOther = (at: number) =>
      level.groups[at] !== group && level.groups[at] !== idle && touch(level.boxes[at]!, wide);
    const total = level.boxes.length - (level.counts.get(idle) ?? 0);
    if (total - (level.counts.get(group) ?? 0) > few)
      return forCells(wide, (key) => level.cells.get(key)?.some(isOther) !== true);
    let others = level.others.get(group);
    if (others === undefined) {
      others = level.groups.flatMap((own, at) => (own === group || own === idle ? [] : [at]));
      level.others.set(group, others);
    }
    return !others.some(isOther);
  }

  /** A box enlarged so that what is not computed is inside it instead of on its boundary. */
  withIdle(parent: number, box: Box): Box {
    const level = this.#levels.get(parent)!;
    const wide = enlarged(box);
    let result = box;
    if (!level.counts.has(idle)) return result;
    forCells(wide, (key) => {
      for (const at of level.cells.get(key) ?? [])
        if (level.groups[at] === idle && touch(level.boxes[at]!, wide)) result = around(result, level.boxes[at]!);
      return true;
    });
    return result;
  }
}

const enlarged = ({ left, top, right, bottom }: Box): Box => ({
  left: left - distance,
  top: top - distance,
  right: right + distance,
  bottom: bottom + distance,
});
const touch = (a: Box, b: Box): boolean => a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;

/** Calls for every cell that a box is in until a call gives false; whether none did. */
function forCells({ left, top, right, bottom }: Box, visit: (key: number) => boolean): boolean {
  for (let row = Math.floor(top / cell); row <= Math.floor(bottom / cell); row++)
    for (let column = Math.floor(left / cell); column <= Math.floor(right / cell); column++)
      if (!visit(row * 65_536 + column)) return false;
  return true;
}

/** One group's parts on the picture on their way to a shape: as few boxes as possible, joined where edges join them. */
export class RegionDraft {
  readonly group: number;
  /** Pairs of its outermost items that an edge joins, with that edge. */
  readonly links: [from: number, to: number, edge: number][] = [];
  readonly #parent: Int32Array;
  readonly #layout: LayoutResult;
  readonly #items: number[] = [];
  /** For each of its items one of the same part, in the end the part itself; and the parts' boxes. */
  readonly #root = new Map<number, number>();
  readonly #boxes = new Map<number, Box>();
  readonly #necks: number[] = [];
  size = 0;

  constructor(group: number, parent: Int32Array, layout: LayoutResult) {
    this.group = group;
    this.#parent = parent;
    this.#layout = layout;
  }

  add(item: number): void {
    const { x, y, width, height } = this.#layout;
    const box = { left: x[item]!, top: y[item]!, right: x[item]! + width[item]!, bottom: y[item]! + height[item]! };
    this.#items.push(item);
    this.#root.set(item, item);
    this.#boxes.set(item, box);
    this.size += areaOf(box);
  }

  finish(obstacles: Obstacles): GroupShape {
    this.#mergeBoxes(obstacles);
    if (this.#items.length > 1) this.#takeIdle(obstacles);
    for (const [item, box] of this.#boxes) obstacles.add(this.#parent[item]!, this.group, box);
    const boxes = [...this.#boxes.values()];
    this.#join(obstacles, boxes);
    const whole = boxes.reduce(around);
    return {
      group: this.group,
      boxes: Float32Array.from(
        boxes.flatMap(({ left, top, right, bottom }) => [left, top, right - left, bottom - top]),
      ),
      necks: Int32Array.from(new Set(this.#necks)),
      ...whole,
      items: this.#items.length,
    };
  }

  #rootOf(item: number): number {
    let at = item;
    while (this.#root.get(at) !== at) at = this.#root.get(at)!;
    this.#root.set(item, at);
    return at;
  }

  /** Parts of one level become one box where nothing else is in it: first those that edges join, then neighbours. */
  #mergeBoxes(obstacles: Obstacles): void {
    for (const [from, to] of this.links) this.#merge(this.#rootOf(from), this.#rootOf(to), obstacles);
    for (let again = true; again && this.#boxes.size <= 40;) {
      again = false;
      const roots = [...this.#boxes.keys()];
      for (const [i, a] of roots.entries())
        for (const b of roots.slice(i + 1)) if (this.#merge(a, b, obstacles)) again = true;
    }
  }

  #merge(a: number, b: number, obstacles: Obstacles): boolean {
    const [first, second] = [this.#boxes.get(a), this.#boxes.get(b)];
    if (a === b || first === undefined || second === undefined || this.#parent[a] !== this.#parent[b]) return false;
    const box = around(first, second);
    if (areaOf(box) > emptiest * (areaOf(first) + areaOf(second)) + smallArea) return false;
    if (!obstacles.isFree(this.#parent[a]!, this.group, box)) return false;
    this.#root.set(b, a);
    this.#boxes.set(a, box);
    this.#boxes.delete(b);
    return true;
  }

  #takeIdle(obstacles: Obstacles): void {
    for (const [item, box] of this.#boxes) {
      const larger = obstacles.withIdle(this.#parent[item]!, box);
      if (obstacles.isFree(this.#parent[item]!, this.group, larger)) this.#boxes.set(item, larger);
    }
  }

  /** Fills the space between two parts that an edge joins, or follows the edge where others are in between. */
  #join(obstacles: Obstacles, into: Box[]): void {
    const { edgeStart, edgePieces } = this.#layout;
    // Parts that are joined already, by their roots.
    const joined = new Map<number, number>();
    const partOf = (item: number): number => {
      let at = this.#rootOf(item);
      while (joined.has(at)) at = joined.get(at)!;
      return at;
    };
    for (const [from, to, edge] of this.links) {
      const [a, b] = [partOf(from), partOf(to)];
      if (a === b) continue;
      joined.set(b, a);
      const between = this.#between(this.#rootOf(from), this.#rootOf(to));
      if (between !== null && obstacles.isFree(this.#parent[from]!, this.group, between)) into.push(between);
      else for (let i = edgeStart[edge]!; i < edgeStart[edge + 1]!; i++) this.#necks.push(edgePieces[i]!);
    }
  }

  /** A box through both of two parts above each other; null where they are not. */
  #between(a: number, b: number): Box | null {
    if (this.#parent[a] !== this.#parent[b]) return null;
    const [first, second] = [this.#boxes.get(a)!, this.#boxes.get(b)!];
    const left = Math.max(first.left, second.left);
    const right = Math.min(first.right, second.right);
    return right - left < overlap ? null : { ...around(first, second), left, right };
  }
}
