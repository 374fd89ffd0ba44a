import { forwardOrder } from './forwardOrder.ts';
import { type LayoutInput, rowsBy } from '../layoutTypes.ts';
import { rankNodes } from './rankNodes.ts';

/**
 * The level and row of every box and the level of every edge: what follows from the structure alone, before anything has
 * a size or a place.
 */
export function nestedRows(input: LayoutInput): { levels: Levels; edges: Edges } {
  const levels = gatherLevels(input);
  const edges = classify(input, levels);
  rankLevels(input, levels, edges);
  markPortals(input, levels, edges);
  return { levels, edges };
}

/** Level 0 is the whole picture; each open box has a level of its own. */
export interface Levels {
  /** The open box of each level, -1 for the first. */
  box: number[];
  /** The level that contains each item, and the level inside an open one (otherwise -1). */
  around: Int32Array;
  inside: Int32Array;
  depth: Int32Array;
  childStart: Int32Array;
  children: Int32Array;
  /** Place of an item among its level's children in forward order, and its row. */
  local: Int32Array;
  row: Int32Array;
  rows: Int32Array;
}

function gatherLevels({ parent, open }: LayoutInput): Levels {
  const count = parent.length;
  const box = [-1];
  const around = new Int32Array(count);
  const inside = new Int32Array(count).fill(-1);
  const depth = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    const p = parent[i]!;
    around[i] = p < 0 ? 0 : inside[p]!;
    depth[i] = p < 0 ? 0 : depth[p]! + 1;
    if (open[i] === 1) {
      inside[i] = box.length;
      box.push(i);
    }
  }
  const { start, list } = rowsBy(box.length, around);
  const local = new Int32Array(count);
  const row = new Int32Array(count);
  return {
    box,
    around,
    inside,
    depth,
    childStart: start,
    children: list,
    local,
    row,
    rows: new Int32Array(box.length),
  };
}

/** Edges in the order of their sources; for each the level where its ends meet and the two boxes there. */
export interface Edges {
  sorted: Int32Array;
  level: Int32Array;
  first: Int32Array;
  second: Int32Array;
  back: Uint8Array;
  /** 1: too long to be drawn. */
  portal: Uint8Array;
}

function classify({ parent, from, to }: LayoutInput, levels: Levels): Edges {
  const edges = from.length;
  const level = new Int32Array(edges);
  const first = new Int32Array(edges);
  const second = new Int32Array(edges);
  for (let e = 0; e < edges; e++) {
    let a = from[e]!;
    let b = to[e]!;
    while (parent[a] !== parent[b]) {
      if (levels.depth[a]! >= levels.depth[b]!) a = parent[a]!;
      else b = parent[b]!;
    }
    level[e] = levels.around[a]!;
    first[e] = a;
    second[e] = b;
  }
  return {
    sorted: rowsBy(parent.length, from).list,
    level,
    first,
    second,
    back: new Uint8Array(edges),
    portal: new Uint8Array(edges),
  };
}

function rankLevels(input: LayoutInput, levels: Levels, edges: Edges): void {
  const byLevel = rowsBy(levels.box.length, edges.level);
  for (let level = 0; level < levels.box.length; level++) {
    const begin = levels.childStart[level]!;
    const size = levels.childStart[level + 1]! - begin;
    for (let i = 0; i < size; i++) levels.local[levels.children[begin + i]!] = i;
    const from: number[] = [];
    const to: number[] = [];
    const kept: number[] = [];
    for (let i = byLevel.start[level]!; i < byLevel.start[level + 1]!; i++) {
      const e = byLevel.list[i]!;
      const a = levels.local[edges.first[e]!]!;
      const b = levels.local[edges.second[e]!]!;
      if (a === b) continue;
      from.push(a);
      to.push(b);
      kept.push(e);
    }
    const position = forwardOrder(size, Int32Array.from(from), Int32Array.from(to));
    for (let i = 0; i < size; i++) levels.local[levels.children[begin + i]!] = position[i]!;
    const forwardFrom: number[] = [];
    const forwardTo: number[] = [];
    kept.forEach((e, k) => {
      const a = position[from[k]!]!;
      const b = position[to[k]!]!;
      if (a > b) edges.back[e] = 1;
      else {
        forwardFrom.push(a);
        forwardTo.push(b);
      }
    });
    const rank = rankNodes(size, Int32Array.from(forwardFrom), Int32Array.from(forwardTo), input.options.portalSpan);
    compress(rank);
    let rows = 0;
    for (let i = 0; i < size; i++) {
      const child = levels.children[begin + i]!;
      levels.row[child] = rank[levels.local[child]!]!;
      rows = Math.max(rows, levels.row[child]! + 1);
    }
    levels.rows[level] = rows;
  }
}

/** Rows that became empty when vertices moved down are dropped. */
function compress(rank: Int32Array): void {
  let highest = -1;
  for (const r of rank) highest = Math.max(highest, r);
  const used = new Int32Array(highest + 1);
  for (const r of rank) used[r] = 1;
  let next = 0;
  for (let r = 0; r <= highest; r++) {
    const present = used[r]!;
    used[r] = next;
    next += present;
  }
  for (let i = 0; i < rank.length; i++) rank[i] = used[rank[i]!]!;
}

function markPortals({ parent, from, to, options }: LayoutInput, levels: Levels, edges: Edges): void {
  for (let e = 0; e < from.length; e++) {
    const first = edges.first[e]!;
    const second = edges.second[e]!;
    let long = edges.back[e] === 1 || levels.row[second]! - levels.row[first]! > options.portalSpan;
    for (let at = from[e]!; at !== first && !long; at = parent[at]!) {
      long = levels.rows[levels.around[at]!]! - levels.row[at]! > options.portalSpan;
    }
    for (let at = to[e]!; at !== second && !long; at = parent[at]!) long = levels.row[at]! + 1 > options.portalSpan;
    if (long) edges.portal[e] = 1;
  }
}
