import { chooseColumns } from './columns.ts';
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
  if (input.options.room === undefined) {
    beginColumns(input, levels, edges);
    markTurns(input, levels, edges);
  }
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
  /** 1 for an item in the first row of a column after the first. */
  begins: Int8Array;
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
    begins: new Int8Array(count),
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

/** A constant is drawn to what reads it within so many rows. */
const constantSpan = 2;

function markPortals({ parent, from, to, options, constant }: LayoutInput, levels: Levels, edges: Edges): void {
  for (let e = 0; e < from.length; e++) {
    const first = edges.first[e]!;
    const second = edges.second[e]!;
    const span = constant?.[from[e]!] === 1 ? constantSpan : options.portalSpan;
    let long = edges.back[e] === 1 || levels.row[second]! - levels.row[first]! > span;
    for (let at = from[e]!; at !== first && !long; at = parent[at]!) {
      long = levels.rows[levels.around[at]!]! - levels.row[at]! > options.portalSpan;
    }
    for (let at = to[e]!; at !== second && !long; at = parent[at]!) long = levels.row[at]! + 1 > options.portalSpan;
    if (long) edges.portal[e] = 1;
  }
}

/** Takes the columns of an earlier picture, and chooses those of levels that it did not have. */
function beginColumns(input: LayoutInput, levels: Levels, edges: Edges): void {
  const { width, height, begins, options } = input;
  const crossing = crossingRows(input, levels, edges);
  for (let level = 0; level < levels.box.length; level++) {
    const items = levels.children.subarray(levels.childStart[level]!, levels.childStart[level + 1]!);
    if (begins !== undefined && items.length > 0 && begins[items[0]!]! >= 0) {
      for (const item of items) levels.begins[item] = begins[item]!;
      continue;
    }
    const rows = levels.rows[level]!;
    const closed = new Float64Array(rows);
    const across = new Float64Array(rows);
    for (const item of items) {
      const row = levels.row[item]!;
      closed[row] = Math.max(closed[row]!, height[item]!);
      across[row]! += width[item]! + options.gap;
    }
    // A column is as wide as its widest rows.
    const usual = 1.2 * (across.toSorted()[Math.floor(rows * 0.98)] ?? 0);
    const { column, count } = chooseColumns(closed, usual, crossing[level]!, options.rowGap);
    if (count === 1) continue;
    for (const item of items) {
      const row = levels.row[item]!;
      if (row > 0 && column[row] !== column[row - 1]) levels.begins[item] = 1;
    }
  }
}

/** By level and row, how many lines lead from it or from above to rows below; those of one source run together. */
function crossingRows({ parent, from, to }: LayoutInput, levels: Levels, edges: Edges): Int32Array[] {
  const change = Array.from(levels.rows, (rows) => new Int32Array(rows + 1));
  /** Of the source in turn: by level, the rows where its line begins and ends. */
  let lines = new Map<number, [first: number, last: number]>();
  const add = (level: number, first: number, last: number) => {
    const line = lines.get(level);
    if (line === undefined) lines.set(level, [first, last]);
    else line[1] = Math.max(line[1], last);
  };
  const flush = () => {
    for (const [level, [first, last]] of lines) {
      change[level]![Math.max(0, first)]! += 1;
      change[level]![last]! -= 1;
    }
    lines = new Map();
  };
  let source = -1;
  for (const e of edges.sorted) {
    if (edges.portal[e] === 1) continue;
    if (from[e] !== source) flush();
    source = from[e]!;
    const [first, second] = [edges.first[e]!, edges.second[e]!];
    for (let at = source; at !== first; at = parent[at]!) {
      const level = levels.around[at]!;
      add(level, levels.row[at]!, levels.rows[level]!);
    }
    add(edges.level[e]!, levels.row[first]!, levels.row[second]!);
    for (let at = to[e]!; at !== second; at = parent[at]!) add(levels.around[at]!, 0, levels.row[at]!);
  }
  flush();
  for (const own of change) for (let row = 1; row < own.length; row++) own[row]! += own[row - 1]!;
  return change;
}

/** Only lines to the next row lead from one column to the next; what is longer becomes a portal. */
function markTurns({ parent, from, to }: LayoutInput, levels: Levels, edges: Edges): void {
  const columns = columnsOfRows(levels);
  for (let e = 0; e < from.length; e++) {
    if (edges.portal[e] === 1) continue;
    const [first, second] = [edges.first[e]!, edges.second[e]!];
    const own = columns[edges.level[e]!]!;
    const [a, b] = [levels.row[first]!, levels.row[second]!];
    let turns = b - a > 1 && own[a] !== own[b];
    for (let at = from[e]!; at !== first && !turns; at = parent[at]!) {
      const inner = columns[levels.around[at]!]!;
      turns = inner[levels.row[at]!] !== inner.at(-1);
    }
    for (let at = to[e]!; at !== second && !turns; at = parent[at]!)
      turns = columns[levels.around[at]!]![levels.row[at]!] !== 0;
    if (turns) edges.portal[e] = 1;
  }
}

/** By level, the column of each row. */
function columnsOfRows({ rows, begins, row, around }: Levels): Int32Array[] {
  const columns = Array.from(rows, (count) => new Int32Array(count));
  for (let item = 0; item < begins.length; item++) if (begins[item] === 1) columns[around[item]!]![row[item]!] = 1;
  for (const own of columns) for (let at = 1; at < own.length; at++) own[at]! += own[at - 1]!;
  return columns;
}
