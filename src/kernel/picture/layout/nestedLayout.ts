// Places nodes, groups and edges.
import { layeredLevel, type Level } from './internal/layeredLevel.ts';
import type { LevelInput } from './internal/chains.ts';
import { type LayoutInput, type LayoutResult, pieceSize, rowsBy } from './layoutTypes.ts';
import { type Edges, type Levels, nestedRows } from './internal/nestedRows.ts';

/**
 * Places boxes in rows from top to bottom, each open box a picture of its own inside its parent's. Depends on the
 * structure alone, never on a build, and a box's contents only on what is in it, so pictures do not jump. The time is
 * near linear in boxes and edges: an edge over more rows than `portalSpan` costs nothing, it becomes a portal.
 * Never fails; edges between unknown or open boxes must not be given.
 */
export function nestedLayout(input: LayoutInput): LayoutResult {
  const { room, ...options } = input.options;
  if (room === undefined) return layoutOf(input);
  // Which lines become portals depends on the columns, and these on the heights of what is open.
  return layoutOf({ ...input, begins: sketch(input).begins, options });
}

/**
 * About as large as the layout will be, and the columns that it will have if the input says how tall they may be. Boxes
 * are packed, in no good order, which takes a fraction of the time.
 */
export function sketch(input: LayoutInput): Pick<LayoutResult, 'begins' | 'totalWidth' | 'totalHeight'> {
  const { room = Number.MAX_VALUE } = input.options;
  const { work } = placeLevels({ ...input, options: { ...input.options, room } });
  return { begins: beginsOf(work), ...sizeOf(work) };
}

function layoutOf(input: LayoutInput): LayoutResult {
  const { work, edges } = placeLevels(input);
  return assemble(work, edges);
}

function placeLevels(input: LayoutInput): { work: Work; edges: Edges } {
  const { levels, edges } = nestedRows(input);
  const records = gatherRecords(input, levels, edges);
  const work: Work = { input, levels, records, width: input.width.slice(), height: input.height.slice(), placed: [] };
  // Children were numbered after their parents, so this goes from the inside out.
  for (let level = levels.box.length - 1; level >= 0; level--) work.placed[level] = placeLevel(work, level);
  return { work, edges };
}

/** What is known while levels are placed; sizes of open boxes and `placed` fill up on the way. */
interface Work {
  input: LayoutInput;
  levels: Levels;
  records: Records;
  width: Float32Array;
  height: Float32Array;
  placed: Placed[];
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

function gatherRecords({ parent, from, to }: LayoutInput, levels: Levels, edges: Edges): Records {
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
    if (edges.portal[e] === 1) continue;
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
  /** Shift of the contents, to center them under a label that is wider. */
  shift: number;
  /** Where signals cross the box's borders, from its left edge. */
  entry: Map<number, number>;
  exit: Map<number, number>;
}

function placeLevel(work: Work, level: number): Placed {
  const { input, levels, records, width, height } = work;
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
  const local = levelInput(work, level, { list, entries, exits });
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

/** The records of a level, and the vertices of its ports by signal. */
interface Lines {
  list: Int32Array;
  entries: Map<number, number>;
  exits: Map<number, number>;
}

function levelInput(
  { input, levels, records, width, height, placed }: Work,
  level: number,
  { list, entries, exits }: Lines,
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
    constant: new Uint8Array(count),
    begins: new Int8Array(count),
    room: roomOf(input, levels, level),
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
    local.constant[at] = input.constant?.[child] ?? 0;
    local.begins[at] = levels.begins[child]!;
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

/** The height that the boxes around a level leave for it. */
function roomOf({ options, parent }: LayoutInput, { box }: Levels, level: number): number {
  const { room = Infinity, header, padding, rowGap } = options;
  let left = room - header - padding;
  for (let at = box[level]!; at >= 0; at = parent[at]!) left -= header + padding + rowGap;
  return left;
}

function beginsOf({ levels, placed }: Work): Int8Array {
  return Int8Array.from(levels.around, (level, item) => placed[level]!.level.begins[levels.local[item]!]!);
}

function sizeOf({ input, placed }: Work): Pick<LayoutResult, 'totalWidth' | 'totalHeight'> {
  const { width, height } = placed[0]!.level;
  return { totalWidth: width + 2 * input.options.padding, totalHeight: height };
}

function assemble(work: Work, { portal, back }: Edges): LayoutResult {
  const { input, levels, records, width, height, placed } = work;
  const count = input.parent.length;
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
  return {
    x,
    y,
    width,
    height,
    pieces,
    edgeStart,
    edgePieces: Int32Array.from(edgePieces),
    portal,
    back,
    begins: beginsOf(work),
    ...sizeOf(work),
  };
}
