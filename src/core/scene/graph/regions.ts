import type { LayoutResult } from '../../layout/layoutTypes.ts';
import { pieceSize } from '../../layout/layoutTypes.ts';
import type { FusionGroups } from './fusionGroups.ts';
import type { GraphIndex } from './graphIndex.ts';
import type { Hierarchy } from './hierarchy.ts';
import type { Scene } from './scene.ts';

/**
 * Where a group is on the picture: rectangles (x, y, width, height in turn) whose union is its shape. Where a closed
 * module is computed by several groups, each covers the part of the module's width that is its share of the nodes, so
 * that the boundary runs through the module.
 */
export interface GroupShape {
  group: number;
  boxes: Float32Array;
  left: number;
  top: number;
  right: number;
  bottom: number;
  /** Number of items that it covers, all or in part. */
  items: number;
}

/** Which group each point is in (-1: none), and which points do not count: those that are not computed at all. */
export interface Membership {
  groupOf: Int32Array;
  idle: Uint8Array;
  /** false: closed modules belong nowhere, only what is seen itself does. */
  inModules: boolean;
}

/** Width of the strip along an edge that joins two parts of a group which are not on top of each other. */
const strip = 3;
/** Two boxes need to overlap by this much to be joined directly. */
const overlap = 16;

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
): GroupShape[] {
  const cover = coverItems(graph, hierarchy, scene, members);
  const boxes = new Map<number, number[]>();
  const items = new Map<number, number>();
  const put = (group: number, x: number, y: number, width: number, height: number) => {
    let list = boxes.get(group);
    if (list === undefined) {
      list = [];
      boxes.set(group, list);
    }
    list.push(x, y, width, height);
  };
  for (let item = 0; item < scene.kind.length; item++) {
    const parent = scene.parent[item]!;
    // What is in a box that is wholly in the group is covered by it.
    if (parent >= 0 && cover.whole[parent]! >= 0 && cover.whole[parent] === cover.whole[item]) continue;
    const x = layout.x[item]!;
    const width = layout.width[item]!;
    for (const { group, from, to } of cover.parts(item)) {
      put(group, x + from * width, layout.y[item]!, (to - from) * width, layout.height[item]!);
      items.set(group, (items.get(group) ?? 0) + 1);
    }
  }
  joinAlongEdges(scene, layout, cover, put);
  return [...boxes]
    .map(([group, list]) => finish(group, list, items.get(group) ?? 0))
    .sort(
      (a, b) => (b.right - b.left) * (b.bottom - b.top) - (a.right - a.left) * (a.bottom - a.top) || a.group - b.group,
    );
}

interface Part {
  group: number;
  from: number;
  to: number;
}

interface Cover {
  /** The group that all of an item is in, -1 for several or none; -2 where nothing in it is computed. */
  whole: Int32Array;
  parts(item: number): Part[];
}

function coverItems(
  graph: GraphIndex,
  hierarchy: Hierarchy,
  scene: Scene,
  { groupOf, idle, inModules }: Membership,
): Cover {
  const whole = new Int32Array(scene.kind.length).fill(-2);
  const divided = new Map<number, Part[]>();
  // Children come after their parents: going backwards, an open box knows all of its contents.
  for (let item = scene.kind.length - 1; item >= 0; item--) {
    const kind = scene.kind[item]!;
    const ref = scene.ref[item]!;
    if (kind === 'closed') {
      if (!inModules) whole[item] = -1;
      const parts = inModules ? divide(hierarchy, ref, groupOf, idle) : [];
      if (parts.length === 1 && parts[0]!.from === 0 && parts[0]!.to === 1) whole[item] = parts[0]!.group;
      else if (parts.length > 0) {
        whole[item] = -1;
        divided.set(item, parts);
      }
    } else if (kind !== 'open' && idle[ref] === 0) whole[item] = groupOf[ref]!;
    const parent = scene.parent[item]!;
    if (parent < 0 || whole[item] === -2) continue;
    if (whole[parent] === -2) whole[parent] = whole[item]!;
    else if (whole[parent] !== whole[item]) whole[parent] = -1;
  }
  return {
    whole,
    parts: (item) => {
      const all = whole[item]!;
      if (all >= 0) return [{ group: all, from: 0, to: 1 }];
      return divided.get(item) ?? [];
    },
  };
}

/** A closed module's share of each group, side by side in the order of the groups; what is in none comes last. */
function divide(hierarchy: Hierarchy, module: number, groupOf: Int32Array, idle: Uint8Array): Part[] {
  const counts = new Map<number, number>();
  let total = 0;
  const { start, end } = hierarchy.modules[module]!;
  for (let i = start; i < end; i++) {
    const point = hierarchy.sequence[i]!;
    if (idle[point] === 1) continue;
    total += 1;
    const group = groupOf[point]!;
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  counts.delete(-1);
  if (total === 0) return [];
  const parts: Part[] = [];
  let at = 0;
  for (const [group, count] of [...counts].sort((a, b) => a[0] - b[0])) {
    parts.push({ group, from: at / total, to: (at + count) / total });
    at += count;
  }
  return parts;
}

type Put = (group: number, x: number, y: number, width: number, height: number) => void;

/** Fills the space between two items of a group that an edge joins, or follows the edge where others are in between. */
function joinAlongEdges({ from, to, parent }: Scene, layout: LayoutResult, { whole }: Cover, put: Put): void {
  for (let edge = 0; edge < from.length; edge++) {
    if (layout.portal[edge] === 1) continue;
    const group = whole[from[edge]!]!;
    if (group < 0 || whole[to[edge]!] !== group) continue;
    const a = outermost(from[edge]!, group, parent, whole);
    const b = outermost(to[edge]!, group, parent, whole);
    if (a === b) continue;
    const first = layout.edgeStart[edge]!;
    const count = layout.edgeStart[edge + 1]! - first;
    if (parent[a] === parent[b]) {
      const left = Math.max(layout.x[a]!, layout.x[b]!);
      const right = Math.min(layout.x[a]! + layout.width[a]!, layout.x[b]! + layout.width[b]!);
      const top = layout.y[a]! + layout.height[a]!;
      if (right - left >= overlap && (count === 1 || isUpright(layout, edge, [top, layout.y[b]!], [left, right]))) {
        put(group, left, top, right - left, layout.y[b]! - top);
        continue;
      }
    }
    for (let k = 0; k < count; k++) follow(layout, layout.edgePieces[first + k]!, group, put);
  }
}

/** Whether an edge leads from one height to another in one piece and without leaving what is between left and right. */
function isUpright(
  { pieces, edgePieces, edgeStart }: LayoutResult,
  edge: number,
  [top, bottom]: [number, number],
  [left, right]: [number, number],
): boolean {
  return edgePieces.subarray(edgeStart[edge]!, edgeStart[edge + 1]!).some((piece) => {
    const [x0, y0, x1, , y2] = pieces.subarray(piece * pieceSize) as unknown as [
      number,
      number,
      number,
      number,
      number,
    ];
    const within = Math.min(x0, x1) >= left && Math.max(x0, x1) <= right;
    return within && Math.abs(y0 - top) < 1 && Math.abs(y2 - bottom) < 1;
  });
}

/** The outermost open box around an item that is wholly in its group. */
function outermost(item: number, group: number, parent: Int32Array, whole: Int32Array): number {
  let at = item;
  while (parent[at]! >= 0 && whole[parent[at]!] === group) at = parent[at]!;
  return at;
}

function follow({ pieces }: LayoutResult, piece: number, group: number, put: Put): void {
  const at = piece * pieceSize;
  const x0 = pieces[at]!;
  const y0 = pieces[at + 1]!;
  const x1 = pieces[at + 2]!;
  const y1 = pieces[at + 3]!;
  const end = pieces[at + 4]!;
  // The middle of the curve is three quarters of the way to its control points.
  const middle = (y0 + y1) / 8 + (pieces[at + 5]! * 3) / 4;
  const half = strip / 2;
  const upright = (x: number, from: number, to: number) =>
    put(group, x - half, Math.min(from, to) - half, strip, Math.abs(to - from) + strip);
  upright(x0, y0, middle);
  put(group, Math.min(x0, x1) - half, middle - half, Math.abs(x1 - x0) + strip, strip);
  upright(x1, middle, end);
}

function finish(group: number, list: number[], items: number): GroupShape {
  const boxes = Float32Array.from(list);
  let left = Infinity;
  let top = Infinity;
  let right = -Infinity;
  let bottom = -Infinity;
  for (let i = 0; i < boxes.length; i += 4) {
    left = Math.min(left, boxes[i]!);
    top = Math.min(top, boxes[i + 1]!);
    right = Math.max(right, boxes[i]! + boxes[i + 2]!);
    bottom = Math.max(bottom, boxes[i + 1]! + boxes[i + 3]!);
  }
  return { group, boxes, left, top, right, bottom, items };
}
