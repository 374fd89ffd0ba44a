import { forwardOrder } from './forwardOrder.ts';
import { layeredLevel } from './layeredLevel.ts';
import type { LevelInput } from './chains.ts';
import type { Level } from './layeredLevel.ts';
import { pieceSize } from './layoutTypes.ts';
import type { LayoutInput, LayoutResult } from './layoutTypes.ts';
import { rankNodes, rowsBy } from './rankNodes.ts';

/**
 * Places boxes in rows from top to bottom, each open box a picture of its own inside its parent's. Depends on the
 * structure alone, never on a build, and a box's contents only on what is in it, so pictures do not jump. The time is
 * near linear in boxes and edges: an edge over more rows than `portalSpan` costs nothing, it becomes a portal.
 * Never fails; edges between unknown or open boxes must not be given.
 */
export function nestedLayout(input: LayoutInput): LayoutResult {
  const count = input.parent.length;
  const levels = gatherLevels(input);
  const edges = classify(input, levels);
  rankLevels(input, levels, edges);
  const portal = findPortals(input, levels, edges);
  const records = gatherRecords(input, levels, edges, portal);
  const width = input.width.slice();
  const height = input.height.slice();
  const placed: Placed[] = [];
  // Children were numbered after their parents, so this goes from the inside out.
  for (let level = levels.box.length - 1; level >= 0; level--)
    placed[level] = placeLevel(input, levels, records, level, width, height, placed);
  return assemble(input, levels, edges, portal, records, placed, width, height, count);
}

/** Level 0 is the whole picture; each open box has a level of its own. */
interface Levels {
  /** The open box of each level, -1 for the first. */
  box: number[];
  /** The level in which each item lies, and the level inside an open one (else -1). */
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
interface Edges {
  sorted: Int32Array;
  level: Int32Array;
  first: Int32Array;
  second: Int32Array;
  back: Uint8Array;
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
  return { sorted: rowsBy(parent.length, from).list, level, first, second, back: new Uint8Array(edges) };
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

function findPortals({ parent, from, to, options }: LayoutInput, levels: Levels, edges: Edges): Uint8Array {
  const portal = new Uint8Array(from.length);
  for (let e = 0; e < from.length; e++) {
    const first = edges.first[e]!;
    const second = edges.second[e]!;
    let long = edges.back[e] === 1 || levels.row[second]! - levels.row[first]! > options.portalSpan;
    for (let at = from[e]!; at !== first && !long; at = parent[at]!) {
      long = levels.rows[levels.around[at]!]! - levels.row[at]! > options.portalSpan;
    }
    for (let at = to[e]!; at !== second && !long; at = parent[at]!) long = levels.row[at]! + 1 > options.portalSpan;
    if (long) portal[e] = 1;
  }
  return portal;
}

/**
 * A record is a line within one level: from the box that holds the source (or a port on the upper border, -1) to the
 * box that holds the target (or a port on the lower border, -1). Edges of one source share records.
 */
interface Records {
  level: Int32Array;
  signal: Int32Array;
  source: Int32Array;
  target: Int32Array;
  /** The records of each edge, from its source on. */
  edgeStart: Int32Array;
  edgeRecords: number[];
  byLevel: { start: Int32Array; list: Int32Array };
}

function gatherRecords({ parent, from, to }: LayoutInput, levels: Levels, edges: Edges, portal: Uint8Array): Records {
  const count = parent.length;
  const level: number[] = [];
  const signal: number[] = [];
  const source: number[] = [];
  const target: number[] = [];
  const add = (atLevel: number, atSignal: number, atSource: number, atTarget: number): number => {
    level.push(atLevel);
    signal.push(atSignal);
    source.push(atSource);
    target.push(atTarget);
    return level.length - 1;
  };
  // Edges come grouped by source, so remembering the last source a box was reached from is enough to share records.
  const outOf = new Int32Array(count).fill(-1);
  const outRecord = new Int32Array(count);
  const into = new Int32Array(count).fill(-1);
  const intoRecord = new Int32Array(count);
  const lists: number[][] = [];
  const downwards: number[] = [];
  for (const e of edges.sorted) {
    const list: number[] = [];
    lists[e] = list;
    if (portal[e] === 1) continue;
    const u = from[e]!;
    const reach = (child: number, atSource: number): number => {
      if (into[child] !== u) {
        into[child] = u;
        intoRecord[child] = add(levels.around[child]!, u, atSource, child);
      }
      return intoRecord[child]!;
    };
    for (let at = u; at !== edges.first[e]; at = parent[at]!) {
      const box = parent[at]!;
      if (outOf[box] !== u) {
        outOf[box] = u;
        outRecord[box] = add(levels.inside[box]!, u, at, -1);
      }
      list.push(outRecord[box]!);
    }
    list.push(reach(edges.second[e]!, edges.first[e]!));
    downwards.length = 0;
    for (let at = to[e]!; at !== edges.second[e]; at = parent[at]!) downwards.push(at);
    for (const child of downwards.toReversed()) list.push(reach(child, -1));
  }
  const edgeStart = new Int32Array(from.length + 1);
  const edgeRecords: number[] = [];
  for (let e = 0; e < from.length; e++) {
    for (const record of lists[e]!) edgeRecords.push(record);
    edgeStart[e + 1] = edgeRecords.length;
  }
  const levelOf = Int32Array.from(level);
  return {
    level: levelOf,
    signal: Int32Array.from(signal),
    source: Int32Array.from(source),
    target: Int32Array.from(target),
    edgeStart,
    edgeRecords,
    byLevel: rowsBy(levels.box.length, levelOf),
  };
}

interface Placed {
  level: Level;
  /** Number of children; ports follow them. */
  size: number;
  /** Shift of the contents, to centre them under a label that is wider. */
  shift: number;
  /** Where signals cross the box's borders, from its left edge. */
  entry: Map<number, number>;
  exit: Map<number, number>;
}

function placeLevel(
  input: LayoutInput,
  levels: Levels,
  records: Records,
  level: number,
  width: Float32Array,
  height: Float32Array,
  placed: Placed[],
): Placed {
  const begin = levels.childStart[level]!;
  const size = levels.childStart[level + 1]! - begin;
  const list = records.byLevel.list.subarray(records.byLevel.start[level]!, records.byLevel.start[level + 1]!);
  const entries = new Map<number, number>();
  const exits = new Map<number, number>();
  for (const record of list) {
    const signal = records.signal[record]!;
    if (records.source[record] === -1 && !entries.has(signal)) entries.set(signal, size + entries.size);
  }
  for (const record of list) {
    const signal = records.signal[record]!;
    if (records.target[record] === -1 && !exits.has(signal)) exits.set(signal, size + entries.size + exits.size);
  }
  const local = levelInput(input, levels, records, level, list, entries, exits, width, height, placed);
  const options = level === 0 ? { ...input.options, header: input.options.padding } : input.options;
  const result = layeredLevel(local, options, entries.size > 0, exits.size > 0);
  const box = levels.box[level]!;
  const needed = result.width + 2 * input.options.padding;
  const total = box < 0 ? needed : Math.max(needed, input.width[box]!);
  const shift = (total - result.width) / 2;
  if (box >= 0) {
    width[box] = total;
    height[box] = result.height;
  }
  const crossings = (ports: Map<number, number>) =>
    new Map([...ports].map(([signal, vertex]) => [signal, result.x[vertex]! + shift] as const));
  return { level: result, size, shift, entry: crossings(entries), exit: crossings(exits) };
}

function levelInput(
  input: LayoutInput,
  levels: Levels,
  records: Records,
  level: number,
  list: Int32Array,
  entries: Map<number, number>,
  exits: Map<number, number>,
  width: Float32Array,
  height: Float32Array,
  placed: Placed[],
): LevelInput {
  const begin = levels.childStart[level]!;
  const size = levels.childStart[level + 1]! - begin;
  const count = size + entries.size + exits.size;
  const box = levels.box[level]!;
  const local: LevelInput = {
    count,
    least: box < 0 ? 0 : input.height[box]!,
    width: new Float32Array(count).fill(4),
    height: new Float32Array(count),
    row: new Int32Array(count),
    lineFrom: new Int32Array(list.length),
    lineTo: new Int32Array(list.length),
    lineSignal: new Int32Array(list.length),
    fromOffset: new Float32Array(list.length),
    toOffset: new Float32Array(list.length),
    port: new Uint8Array(count).fill(1),
    open: new Uint8Array(count),
    closedWidth: new Float32Array(count),
    closedHeight: new Float32Array(count),
  };
  const above = entries.size > 0 ? 1 : 0;
  for (let i = 0; i < size; i++) {
    const child = levels.children[begin + i]!;
    const at = levels.local[child]!;
    local.width[at] = width[child]!;
    local.height[at] = height[child]!;
    local.row[at] = levels.row[child]! + above;
    local.port[at] = 0;
    local.open[at] = input.open[child]!;
    local.closedWidth[at] = input.width[child]!;
    local.closedHeight[at] = input.height[child]!;
  }
  for (const vertex of exits.values()) local.row[vertex] = levels.rows[level]! + above;
  list.forEach((record, i) => {
    const signal = records.signal[record]!;
    const source = records.source[record]!;
    const target = records.target[record]!;
    local.lineSignal[i] = signal;
    local.lineFrom[i] = source < 0 ? entries.get(signal)! : levels.local[source]!;
    local.lineTo[i] = target < 0 ? exits.get(signal)! : levels.local[target]!;
    if (source >= 0 && levels.inside[source]! >= 0) {
      local.fromOffset[i] = placed[levels.inside[source]!]!.exit.get(signal)! - width[source]! / 2;
    }
    if (target >= 0 && levels.inside[target]! >= 0) {
      local.toOffset[i] = placed[levels.inside[target]!]!.entry.get(signal)! - width[target]! / 2;
    }
  });
  return local;
}

function assemble(
  input: LayoutInput,
  levels: Levels,
  edges: Edges,
  portal: Uint8Array,
  records: Records,
  placed: Placed[],
  width: Float32Array,
  height: Float32Array,
  count: number,
): LayoutResult {
  const x = new Float32Array(count);
  const y = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const around = placed[levels.around[i]!]!;
    const box = input.parent[i]!;
    const at = levels.local[i]!;
    x[i] = (box < 0 ? 0 : x[box]!) + around.shift + around.level.x[at]! - width[i]! / 2;
    y[i] = (box < 0 ? 0 : y[box]!) + around.level.top[at]!;
  }
  const base = new Int32Array(placed.length + 1);
  placed.forEach(({ level }, i) => (base[i + 1] = base[i]! + level.pieces.length / pieceSize));
  const pieces = new Float32Array(base[placed.length]! * pieceSize);
  placed.forEach(({ level, shift }, i) => {
    const box = levels.box[i]!;
    const dx = (box < 0 ? 0 : x[box]!) + shift;
    const dy = box < 0 ? 0 : y[box]!;
    const first = base[i]! * pieceSize;
    for (let k = 0; k < level.pieces.length; k++) {
      const field = k % pieceSize;
      pieces[first + k] = level.pieces[k]! + (field === 0 || field === 2 ? dx : dy);
    }
  });
  // A record's place among its level's lines.
  const line = new Int32Array(records.level.length);
  for (let level = 0; level < placed.length; level++) {
    for (let i = records.byLevel.start[level]!; i < records.byLevel.start[level + 1]!; i++) {
      line[records.byLevel.list[i]!] = i - records.byLevel.start[level]!;
    }
  }
  const edgeStart = new Int32Array(input.from.length + 1);
  const edgePieces: number[] = [];
  for (let e = 0; e < input.from.length; e++) {
    for (let i = records.edgeStart[e]!; i < records.edgeStart[e + 1]!; i++) {
      const record = records.edgeRecords[i]!;
      const { level } = placed[records.level[record]!]!;
      for (let k = level.lineStart[line[record]!]!; k < level.lineStart[line[record]! + 1]!; k++) {
        edgePieces.push(base[records.level[record]!]! + level.linePieces[k]!);
      }
    }
    edgeStart[e + 1] = edgePieces.length;
  }
  const whole = placed[0]!;
  return {
    x,
    y,
    width,
    height,
    pieces,
    edgeStart,
    edgePieces: Int32Array.from(edgePieces),
    portal,
    back: edges.back,
    totalWidth: whole.level.width + 2 * input.options.padding,
    totalHeight: whole.level.height,
  };
}
