// The items and edges of one picture, outlines of regions.
import { addTo } from '../../base/addTo.ts';
import type { LayoutResult } from '../layout/layoutTypes.ts';
import type { FusionGroups } from './fusionGroups.ts';
import type { GraphIndex } from './graphIndex.ts';
import { type Hierarchy, isGroupPart, lastPart } from './hierarchy.ts';

/** What is drawn as one box. */
export const itemKinds = ['node', 'closed', 'open', 'input', 'output'] as const;
export type ItemKind = (typeof itemKinds)[number];

/** What is visible when some modules are open. Arrays run over items; parents come before what is in them. */
export interface Scene {
  kind: ItemKind[];
  /** The point (node, input, output) or the module that an item stands for. */
  ref: Int32Array;
  /** The open module around it, -1 for none. */
  parent: Int32Array;
  /** The item that stands for each point of the graph. */
  itemOfPoint: Int32Array;
  /** The item of each module that is itself visible, otherwise -1. */
  itemOfModule: Int32Array;
  /** Edges between items that are not open, merged, in the order of their sources. */
  from: Int32Array;
  to: Int32Array;
  /** How many of the graph's edges each one stands for, and the first of them. */
  weight: Int32Array;
  edge: Int32Array;
}

/** The visible items and edges for a set of open modules' ids; a module inside a closed one is not visible, open or not. */
export function buildScene(graph: GraphIndex, hierarchy: Hierarchy, open: ReadonlySet<string>): Scene {
  const kind: ItemKind[] = [];
  const ref: number[] = [];
  const parent: number[] = [];
  const itemOfPoint = new Int32Array(graph.points);
  const itemOfModule = new Int32Array(hierarchy.modules.length).fill(-1);
  const add = (what: ItemKind, of: number, inside: number): number => {
    kind.push(what);
    ref.push(of);
    parent.push(inside);
    return kind.length - 1;
  };
  const fill = (index: number, inside: number): void => {
    const module = hierarchy.modules[index]!;
    // In order of the graph, modules between the nodes around them: that is the order in which rows are filled.
    const entries: [first: number, point: number, inner: number][] = module.own.map((point) => [
      graph.rank[point]!,
      point,
      -1,
    ]);
    for (const inner of module.modules)
      entries.push([graph.rank[hierarchy.sequence[hierarchy.modules[inner]!.start]!]!, -1, inner]);
    entries.sort((a, b) => a[0] - b[0] || a[2] - b[2]);
    for (const [, point, inner] of entries) {
      if (inner < 0) {
        itemOfPoint[point] = add(pointKind(graph, point), point, inside);
        continue;
      }
      const { id, start, end } = hierarchy.modules[inner]!;
      const isOpen = open.has(id);
      const item = add(isOpen ? 'open' : 'closed', inner, inside);
      itemOfModule[inner] = item;
      if (isOpen) fill(inner, item);
      else for (let i = start; i < end; i++) itemOfPoint[hierarchy.sequence[i]!] = item;
    }
  };
  fill(0, -1);
  const items = { kind, ref: Int32Array.from(ref), parent: Int32Array.from(parent), itemOfPoint, itemOfModule };
  return { ...items, ...mergeEdges(graph, hierarchy, items) };
}

export function pointKind(graph: GraphIndex, point: number): 'node' | 'input' | 'output' {
  if (point < graph.nodes) return 'node';
  return point < graph.nodes + graph.data.inputs.length ? 'input' : 'output';
}

function mergeEdges(
  graph: GraphIndex,
  hierarchy: Hierarchy,
  { kind, ref, itemOfPoint }: Pick<Scene, 'kind' | 'ref' | 'itemOfPoint'>,
): Pick<Scene, 'from' | 'to' | 'weight' | 'edge'> {
  const from: number[] = [];
  const to: number[] = [];
  const weight: number[] = [];
  const edge: number[] = [];
  const seenFor = new Int32Array(kind.length).fill(-1);
  const seenAs = new Int32Array(kind.length);
  const leave = (item: number, point: number) => {
    for (let i = graph.outStart[point]!; i < graph.outStart[point + 1]!; i++) {
      const e = graph.outEdges[i]!;
      const reader = itemOfPoint[graph.to[e]!]!;
      if (reader === item) continue;
      if (seenFor[reader] === item) {
        weight[seenAs[reader]!]! += 1;
        continue;
      }
      seenFor[reader] = item;
      seenAs[reader] = from.length;
      from.push(item);
      to.push(reader);
      weight.push(1);
      edge.push(e);
    }
  };
  for (let item = 0; item < kind.length; item++) {
    if (kind[item] === 'open') continue;
    if (kind[item] !== 'closed') {
      leave(item, ref[item]!);
      continue;
    }
    const { start, end } = hierarchy.modules[ref[item]!]!;
    for (let i = start; i < end; i++) leave(item, hierarchy.sequence[i]!);
  }
  return {
    from: Int32Array.from(from),
    to: Int32Array.from(to),
    weight: Int32Array.from(weight),
    edge: Int32Array.from(edge),
  };
}

/** How an item stays recognizable when others open or close, and between two builds: `node:14`, `module:/blocks.0`. */
export function itemKey(graph: GraphIndex, hierarchy: Hierarchy, scene: Scene, item: number): string {
  const ref = scene.ref[item]!;
  switch (scene.kind[item]!) {
    case 'closed':
    case 'open':
      return `module:${hierarchy.modules[ref]!.id}`;
    case 'node':
      return `node:${graph.data.nodes[ref]!.id}`;
    case 'input':
      return `input:${graph.data.inputs[ref - graph.nodes]!.name}`;
    case 'output':
      return `output:${graph.data.outputs[ref - graph.nodes - graph.data.inputs.length]!.name}`;
  }
}

/** What begins columns, by the module that it is in (`''`: in none): keys of items. A module that is not there was not on the picture. */
export type Columns = ReadonlyMap<string, ReadonlySet<string>>;

const moduleOf = (hierarchy: Hierarchy, { parent, ref }: Scene, item: number): string =>
  parent[item]! < 0 ? '' : hierarchy.modules[ref[parent[item]!]!]!.id;

/** The columns of a picture. */
export function columnsIn(graph: GraphIndex, hierarchy: Hierarchy, scene: Scene, begins: Int8Array): Columns {
  const columns = new Map<string, Set<string>>();
  for (let item = 0; item < scene.kind.length; item++) {
    const module = moduleOf(hierarchy, scene, item);
    let own = columns.get(module);
    if (own === undefined) columns.set(module, (own = new Set()));
    if (begins[item] === 1) own.add(itemKey(graph, hierarchy, scene, item));
  }
  return columns;
}

/** The same for a layout of another scene of the graph, see `LayoutInput`. */
export function columnBegins(graph: GraphIndex, hierarchy: Hierarchy, scene: Scene, columns: Columns): Int8Array {
  return Int8Array.from(scene.kind, (_, item) => {
    const own = columns.get(moduleOf(hierarchy, scene, item));
    return own === undefined ? -1 : own.size > 0 && own.has(itemKey(graph, hierarchy, scene, item)) ? 1 : 0;
  });
}

/** The first line in an item's box: the operator, the module's name, the tensor's name. */
export function itemTitle(graph: GraphIndex, hierarchy: Hierarchy, scene: Scene, item: number): string {
  const ref = scene.ref[item]!;
  switch (scene.kind[item]!) {
    case 'closed':
    case 'open':
      return hierarchy.modules[ref]!.label;
    case 'node':
      return graph.data.nodes[ref]!.op;
    case 'input':
      return graph.data.inputs[ref - graph.nodes]!.name;
    case 'output':
      return graph.data.outputs[ref - graph.nodes - graph.data.inputs.length]!.name;
  }
}

/**
 * A node's name as far as the modules around it do not say it already, and without the operator that is above it:
 * `/blocks.0/attn/proj/MatMul` inside `attn` is `proj`; `/blocks.0/attn/MatMul_1` is `MatMul_1`.
 */
export function shortTitle(graph: GraphIndex, hierarchy: Hierarchy, point: number): string {
  const { name, op, label } = graph.data.nodes[point]!;
  if (label !== undefined) return label === op ? '' : label;
  const module = hierarchy.modules[hierarchy.moduleOf[point]!]!;
  let rest = name;
  if (module.kind === 'scope' && name.startsWith(`${module.id}/`)) rest = name.slice(module.id.length + 1);
  else if (module.kind !== 'scope' && name.includes('/')) rest = name.replace(/^\//, '');
  if (lastPart(rest) === op && rest !== op) rest = rest.slice(0, rest.length - op.length - 1);
  return rest === op ? '' : rest;
}

/** Sizes of letters at scale 1; pictures draw them so large, times the scale. */
export const letters = { title: 13, note: 11.5, module: 13.5, terminal: 12 } as const;

/** Widths of letters as parts of their size, in common fonts; the same everywhere, so that pictures are too. */
const narrow = /[ijl.,:;|!'()[\]/ft -]/g;
const wide = /[mwMW@%&]/g;
const capital = /[A-Z_0-9…▸]/g;

/** Width of a text in pixels at scale 1, rather a little more than less. */
function textWidth(text: string, size: number, bold: boolean): number {
  const count = (letter: RegExp) => text.match(letter)?.length ?? 0;
  const [thin, broad, tall] = [count(narrow), count(wide), count(capital)];
  const units = thin * 0.36 + broad * 0.92 + tall * 0.68 + (text.length - thin - broad - tall) * 0.58;
  return units * size * (bold ? 1.1 : 1.03);
}

const widths = {
  constant: [64, 140],
  node: [84, 220],
  closed: [196, 320],
  repeat: [240, 360],
  open: [200, 420],
  terminal: [84, 232],
} as const;

/**
 * Sizes of all items in pixels at scale 1; for an open module the least that its label needs. Nodes of one operator in
 * one module are equally wide, so are closed modules: wide enough for the longest of their names, within bounds. Depends
 * on names only. `known`: of earlier scenes of this hierarchy, and of this one from then on.
 */
export function itemSizes(
  graph: GraphIndex,
  hierarchy: Hierarchy,
  scene: Scene,
  known?: Map<string, OwnSize>,
): { width: Float32Array; height: Float32Array } {
  const width = new Float32Array(scene.kind.length);
  const height = new Float32Array(scene.kind.length);
  const alike = new Map<string, number[]>();
  scene.kind.forEach((_, item) => {
    const key = known === undefined ? '' : `${scene.kind[item]!} ${scene.ref[item]!}`;
    const own = known?.get(key) ?? ownSize(graph, hierarchy, scene, item);
    known?.set(key, own);
    const [least, most] = widths[own.type];
    width[item] = Math.min(most, Math.max(least, Math.ceil(own.width)));
    height[item] = own.height;
    if (own.alike !== '') addTo(alike, `${scene.parent[item]!} ${own.alike}`, item);
  });
  for (const items of alike.values()) {
    const widest = items.reduce((most, item) => Math.max(most, width[item]!), 0);
    for (const item of items) width[item] = widest;
  }
  return { width, height };
}

/** What an item needs by itself, and what it shares with others of its width ('': its width is its own). */
export interface OwnSize {
  type: keyof typeof widths;
  width: number;
  height: number;
  alike: string;
}

function ownSize(graph: GraphIndex, hierarchy: Hierarchy, scene: Scene, item: number): OwnSize {
  const ref = scene.ref[item]!;
  const title = itemTitle(graph, hierarchy, scene, item);
  switch (scene.kind[item]!) {
    case 'node': {
      const small = title === 'Constant';
      const name = small ? 0 : textWidth(shortTitle(graph, hierarchy, ref), letters.note, false);
      return {
        type: small ? 'constant' : 'node',
        width: Math.max(textWidth(title, letters.title, true), name) + 24,
        height: small ? 22 : 42,
        alike: `node ${title}`,
      };
    }
    case 'closed': {
      // As much as a group's name and time need where the whole picture is on the screen.
      if (isGroupPart(hierarchy.modules[ref]!)) return { type: 'closed', width: 230, height: 84, alike: 'group' };
      // A repetition says how often, and whether all of it is fused alike.
      const repeat = hierarchy.modules[ref]!.times > 1;
      return {
        type: repeat ? 'repeat' : 'closed',
        width: textWidth(title, letters.module, true) + (repeat ? 90 : 44),
        height: 58,
        alike: repeat ? 'repeat' : 'closed',
      };
    }
    case 'open':
      return { type: 'open', width: textWidth(title, letters.module, true) + 60, height: 60, alike: '' };
    case 'input':
    case 'output':
      return { type: 'terminal', width: textWidth(title, letters.terminal, false) + 30, height: 28, alike: '' };
  }
}

/**
 * Where a group is on the picture: rectangles (x, y, width, height in turn) whose union is its shape, with no item of
 * another group in it, and pieces of the layout's edges along which its parts are joined where others are in between.
 * A closed module that holds several groups is in none of their shapes: it shows them in its bar.
 */
export interface GroupOutline {
  group: number;
  boxes: Float32Array;
  necks: Int32Array;
  left: number;
  top: number;
  right: number;
  bottom: number;
  /** Number of items that are in it as a whole. */
  items: number;
}

/** Which group each point is in (-1: none), and which points do not count: those that are not computed at all. */
export interface Membership {
  groupOf: Int32Array;
  idle: Uint8Array;
  /** false: closed modules belong nowhere, only what is seen itself does. */
  inModules: boolean;
}

/** Points that are not computed (folded, removed, shape, graph inputs and outputs) belong nowhere and disturb no boundary. */
export function idlePoints(graph: GraphIndex, fusion: FusionGroups): Uint8Array {
  const idle = new Uint8Array(graph.points);
  for (let point = 0; point < graph.points; point++) {
    const fate = fusion.fateOf[point];
    if (point >= graph.nodes || fate === 'folded' || fate === 'removed' || fate === 'shape') idle[point] = 1;
  }
  return idle;
}

/** The shapes of all groups that show on this scene, largest first, so that later ones are drawn over earlier ones. */
export function buildRegions(
  graph: GraphIndex,
  hierarchy: Hierarchy,
  scene: Scene,
  layout: LayoutResult,
  members: Membership,
): GroupOutline[] {
  const whole = wholeItems(hierarchy, scene, members);
  const drafts = new Map<number, RegionDraft>();
  const draftOf = (group: number): RegionDraft => {
    let draft = drafts.get(group);
    if (draft === undefined) drafts.set(group, (draft = new RegionDraft(group, scene.parent, layout)));
    return draft;
  };
  for (let item = 0; item < scene.kind.length; item++) {
    // What is in a box that is wholly in the group is covered by it.
    if (whole[item]! >= 0 && outermost(item, scene.parent, whole) === item) draftOf(whole[item]!).add(item);
  }
  for (let edge = 0; edge < scene.from.length; edge++) {
    const group = whole[scene.from[edge]!]!;
    if (group < 0 || whole[scene.to[edge]!] !== group || layout.portal[edge] === 1) continue;
    const a = outermost(scene.from[edge]!, scene.parent, whole);
    const b = outermost(scene.to[edge]!, scene.parent, whole);
    if (a !== b) draftOf(group).links.push([a, b, edge]);
  }
  const obstacles = new Obstacles(scene, layout, whole);
  const bySize = [...drafts.values()].sort((a, b) => b.size - a.size || a.group - b.group);
  return bySize
    .map((draft) => draft.finish(obstacles))
    .sort(
      (a, b) => (b.right - b.left) * (b.bottom - b.top) - (a.right - a.left) * (a.bottom - a.top) || a.group - b.group,
    );
}

/** The group that all of an item is in, -1 for several or none; -2 where nothing in it is computed. */
function wholeItems(hierarchy: Hierarchy, scene: Scene, { groupOf, idle, inModules }: Membership): Int32Array {
  const whole = new Int32Array(scene.kind.length).fill(-2);
  // Children come after their parents: going backwards, an open box knows all of its contents.
  for (let item = scene.kind.length - 1; item >= 0; item--) {
    const kind = scene.kind[item]!;
    const ref = scene.ref[item]!;
    if (kind === 'closed') whole[item] = inModules ? groupOfModule(hierarchy, ref, groupOf, idle) : -1;
    else if (kind === 'input' || kind === 'output') whole[item] = -1;
    else if (kind === 'node' && idle[ref] === 0) whole[item] = groupOf[ref]!;
    const parent = scene.parent[item]!;
    if (parent < 0 || whole[item] === -2) continue;
    if (whole[parent] === -2) whole[parent] = whole[item]!;
    else if (whole[parent] !== whole[item]) whole[parent] = -1;
  }
  return whole;
}

function groupOfModule(hierarchy: Hierarchy, module: number, groupOf: Int32Array, idle: Uint8Array): number {
  const { start, end } = hierarchy.modules[module]!;
  let found = -2;
  for (let i = start; i < end; i++) {
    const point = hierarchy.sequence[i]!;
    if (idle[point] === 1) continue;
    if (found === -2) found = groupOf[point]!;
    else if (found !== groupOf[point]!) return -1;
  }
  return found;
}

/** The outermost box around an item that is wholly in its group. */
function outermost(item: number, parent: Int32Array, whole: Int32Array): number {
  let at = item;
  while (parent[at]! >= 0 && whole[parent[at]!] === whole[item]) at = parent[at]!;
  return at;
}

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

  finish(obstacles: Obstacles): GroupOutline {
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

  /** Parts of one level become one box where nothing else is in it: first those that edges join, then neighbors. */
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
