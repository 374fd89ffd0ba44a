import type { GraphIndex } from '../graphIndex.ts';

/** How many hues a picture may have at once; each has a second shade, for neighbors of one kind. */
export const colorCount = 8;

/** What a color depends on: the kind of a group and its id in the report. */
export interface ColoredGroup {
  kind: 'foreign' | 'fused' | 'single';
  ref: number;
}

const shade = (hue: number): number => hue + colorCount;

/**
 * Paints that a kind of group tries in turn: its own hue in both shades, so that a hue means a kind, then others. Views
 * next to the graph use the first one for the same group.
 */
const preferred = {
  foreign: (id: number) =>
    [0, 1, 2, 3, 4].map((k) => (id + k) % 5).flatMap((hue, k) => (k === 0 ? [hue] : [hue, shade(hue)])),
  fused: () => [6, shade(6), 5, shade(5), 4, shade(4), 2, 3, 1, 0],
  single: () => [7, shade(7), 5, shade(5), 4, shade(4), 2, 3, 1, 0],
};

/**
 * A color for each group, never that of a group next to it: one that an edge leads to, directly or through nodes that
 * are not computed, or the next one in the graph's order, which is next to it in the bar of a closed module. Groups with few neighbors are colored last (smallest-last order), so ten paints are enough
 * unless eleven groups all touch each other; then the least used among them is taken. Deterministic.
 */
export function colorGroups(graph: GraphIndex, groups: readonly ColoredGroup[], groupOf: Int32Array): number[] {
  const around = neighbors(graph, groups.length, groupOf);
  joinInOrder(graph, groups, groupOf, around);
  const order = smallestLast(around);
  const colors = groups.map(() => -1);
  for (const index of order) {
    const group = groups[index]!;
    const used = new Int32Array(2 * colorCount);
    for (const other of around[index]!) if (colors[other]! >= 0) used[colors[other]!]! += 1;
    const choice = group.kind === 'foreign' ? preferred.foreign(group.ref) : preferred[group.kind]();
    colors[index] = choice.find((color) => used[color] === 0) ?? choice.reduce((a, b) => (used[b]! < used[a]! ? b : a));
  }
  return colors;
}

/** ForeignNodes that follow each other are neighbors although single layers are between them; so are other groups. */
function joinInOrder(
  graph: GraphIndex,
  groups: readonly ColoredGroup[],
  groupOf: Int32Array,
  around: Set<number>[],
): void {
  const seen = new Uint8Array(groups.length);
  let last = -1;
  let lastForeign = -1;
  for (const point of graph.order) {
    const group = groupOf[point]!;
    if (group < 0 || seen[group] === 1) continue;
    seen[group] = 1;
    const foreign = groups[group]!.kind === 'foreign';
    for (const before of foreign ? [last, lastForeign] : [last]) {
      if (before < 0) continue;
      around[group]!.add(before);
      around[before]!.add(group);
    }
    last = group;
    if (foreign) lastForeign = group;
  }
}

function neighbors(graph: GraphIndex, count: number, groupOf: Int32Array): Set<number>[] {
  const around = Array.from({ length: count }, () => new Set<number>());
  // What reaches a node that is in no group, through others that are in none: at most a handful is worth knowing.
  const through = new Map<number, number[]>();
  for (const point of graph.order) {
    const own = groupOf[point]!;
    const sources = new Set<number>();
    for (let i = graph.inStart[point]!; i < graph.inStart[point + 1]!; i++) {
      const maker = graph.from[graph.inEdges[i]!]!;
      if (groupOf[maker]! >= 0) sources.add(groupOf[maker]!);
      else for (const source of through.get(maker) ?? []) if (sources.size < 8) sources.add(source);
    }
    if (own < 0) {
      if (sources.size > 0) through.set(point, [...sources]);
      continue;
    }
    for (const source of sources) {
      if (source === own) continue;
      around[own]!.add(source);
      around[source]!.add(own);
    }
  }
  return around;
}

/** Repeatedly sets aside the group with the fewest neighbors left; coloring runs the other way round. */
function smallestLast(around: Set<number>[]): number[] {
  const degree = around.map(({ size }) => size);
  const buckets: number[][] = [];
  degree.forEach((size, index) => (buckets[size] ??= []).push(index));
  const taken = new Uint8Array(around.length);
  const order: number[] = [];
  for (let size = 0; order.length < around.length;) {
    const index = buckets[size]?.pop();
    if (index === undefined) {
      size += 1;
      continue;
    }
    if (taken[index] === 1 || degree[index] !== size) continue;
    taken[index] = 1;
    order.push(index);
    for (const other of around[index]!) {
      if (taken[other] === 1) continue;
      degree[other]! -= 1;
      (buckets[degree[other]!] ??= []).push(other);
    }
    size = Math.max(0, size - 1);
  }
  return order.reverse();
}
