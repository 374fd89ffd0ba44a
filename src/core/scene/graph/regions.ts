import type { LayoutResult } from '../../layout/layoutTypes.ts';
import { Obstacles, RegionDraft } from './regionDraft.ts';
import type { FusionGroups } from './fusionGroups.ts';
import type { GraphIndex } from './graphIndex.ts';
import type { Hierarchy } from './hierarchy.ts';
import type { Scene } from './scene.ts';

/**
 * Where a group is on the picture: rectangles (x, y, width, height in turn) whose union is its shape, with no item of
 * another group in it, and pieces of the layout's edges along which its parts are joined where others are in between.
 * A closed module that holds several groups is in none of their shapes: it shows them in its bar.
 */
export interface GroupShape {
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
): GroupShape[] {
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
