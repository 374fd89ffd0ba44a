import type { RowGraph } from './orderRanks.ts';

/** This part of a box's width to each side of its middle is for lines to leave it and to arrive. */
export const docks = 0.35;

/**
 * Horizontal places after Brandes and Köpf: long edges run straight, every vertex sits near the middle of its
 * neighbors, rows keep their order and distances. Four alignments (from above and below, leftmost and rightmost), each
 * compacted by longest paths over its blocks, are averaged. Returns centers, the smallest left edge at 0. Linear.
 *
 * `line[v]` is 1 for a vertex that stands for an edge passing a row: two of them in a row are never bent apart.
 */
export function placeRanks(graph: RowGraph, width: Float32Array, line: Uint8Array, gap: number): Float64Array {
  const count = graph.order.length;
  const place = new Int32Array(count);
  const row = new Int32Array(count);
  for (let r = 0; r + 1 < graph.rowStart.length; r++) {
    for (let i = graph.rowStart[r]!; i < graph.rowStart[r + 1]!; i++) {
      place[graph.order[i]!] = i - graph.rowStart[r]!;
      row[graph.order[i]!] = r;
    }
  }
  const conflicts = findConflicts(graph, place, line);
  const context: Context = { graph, width, line, gap, place, row, conflicts };
  const layouts: Float64Array[] = [];
  for (const fromAbove of [true, false]) {
    for (const leftmost of [true, false]) {
      const root = align(context, fromAbove, leftmost);
      layouts.push(compact(context, root, leftmost));
    }
  }
  const mean = balance(layouts, width);
  const best = straightest(context, [mean, ...layouts]);
  const { low } = extent(best, width);
  return best.map((at) => at - low);
}

/** Rows one by one, each as narrow as it can be, with its middle at 0. */
export function packRanks(
  { rowStart, order }: RowGraph,
  width: Float32Array,
  line: Uint8Array,
  gap: number,
): Float64Array {
  const x = new Float64Array(order.length);
  for (let row = 0; row + 1 < rowStart.length; row++) {
    const [begin, end] = [rowStart[row]!, rowStart[row + 1]!];
    let right = 0;
    for (let i = begin; i < end; i++) {
      const v = order[i]!;
      if (i > begin) right += line[v] === 1 || line[order[i - 1]!] === 1 ? gap / 2 : gap;
      x[v] = right + width[v]! / 2;
      right += width[v]!;
    }
    for (let i = begin; i < end; i++) x[order[i]!]! -= right / 2;
  }
  return x;
}

/** So much wider than their mean one of the four may be, where its lines run less to the side. */
const mostWider = 1.2;

/** Moves the boxes of each closer to their neighbors, and gives the one whose lines run least to the side: the first, or one about as wide. */
function straightest(context: Context, all: Float64Array[]): Float64Array {
  const { width } = context;
  for (const x of all) relax(context, x);
  let best = all[0]!;
  const widest = mostWider * extent(best, width).length;
  let least = bends(context, best);
  for (const x of all.slice(1)) {
    const own = bends(context, x);
    if (own < least && extent(x, width).length <= widest) [best, least] = [x, own];
  }
  return best;
}

/** How far lines run to the side beyond the boxes at their ends, all together. */
function bends({ graph: { upStart, up }, width, line }: Context, x: Float64Array): number {
  const dock = (v: number) => (line[v] === 1 ? 0 : docks * width[v]!);
  let sum = 0;
  for (let v = 0; v < x.length; v++)
    for (let k = upStart[v]!; k < upStart[v + 1]!; k++) {
      const u = up[k]!;
      sum += Math.max(0, Math.abs(x[v]! - x[u]!) - dock(v) - dock(u));
    }
  return sum;
}

function extent(x: Float64Array, width: Float32Array): { low: number; length: number } {
  let [low, high] = [Infinity, -Infinity];
  for (let v = 0; v < x.length; v++) {
    low = Math.min(low, x[v]! - width[v]! / 2);
    high = Math.max(high, x[v]! + width[v]! / 2);
  }
  return x.length === 0 ? { low: 0, length: 0 } : { low, length: high - low };
}

interface Context {
  graph: RowGraph;
  width: Float32Array;
  line: Uint8Array;
  gap: number;
  place: Int32Array;
  row: Int32Array;
  /** 1 for an entry of `up` that must not be straightened since it crosses a passing edge. */
  conflicts: Uint8Array;
}

/** Edges that cross one between two passing vertices. Marked per entry of `up`. */
function findConflicts(graph: RowGraph, place: Int32Array, line: Uint8Array): Uint8Array {
  const { rowStart, order, upStart, up } = graph;
  const conflicts = new Uint8Array(up.length);
  for (let r = 1; r + 1 < rowStart.length; r++) {
    const begin = rowStart[r]!;
    const end = rowStart[r + 1]!;
    const lastAbove = begin - rowStart[r - 1]! - 1;
    let left = 0;
    let scanned = begin;
    for (let i = begin; i < end; i++) {
      const inner = innerAbove(graph, line, order[i]!);
      if (inner < 0 && i < end - 1) continue;
      const right = inner < 0 ? lastAbove : place[inner]!;
      for (; scanned <= i; scanned++) {
        const v = order[scanned]!;
        for (let k = upStart[v]!; k < upStart[v + 1]!; k++) {
          const at = place[up[k]!]!;
          if ((at < left || at > right) && !(line[v] === 1 && line[up[k]!] === 1)) conflicts[k] = 1;
        }
      }
      left = right;
    }
  }
  return conflicts;
}

function innerAbove({ upStart, up }: RowGraph, line: Uint8Array, v: number): number {
  if (line[v] === 0) return -1;
  for (let k = upStart[v]!; k < upStart[v + 1]!; k++) if (line[up[k]!] === 1) return up[k]!;
  return -1;
}

/** Joins each vertex with its median neighbor into a straight block. Returns the block's first vertex for each. */
function align({ graph, place, conflicts }: Context, fromAbove: boolean, leftmost: boolean): Int32Array {
  const { rowStart, order } = graph;
  const count = order.length;
  const rowCount = rowStart.length - 1;
  const root = new Int32Array(count);
  const aligned = new Int32Array(count);
  for (let v = 0; v < count; v++) root[v] = aligned[v] = v;
  const start = fromAbove ? graph.upStart : graph.downStart;
  const list = fromAbove ? graph.up : graph.down;
  const sorted: number[] = [];
  for (let k = 1; k < rowCount; k++) {
    const r = fromAbove ? k : rowCount - 1 - k;
    const begin = rowStart[r]!;
    const size = rowStart[r + 1]! - begin;
    let bound = leftmost ? -1 : Infinity;
    for (let i = 0; i < size; i++) {
      const v = order[begin + (leftmost ? i : size - 1 - i)]!;
      const degree = start[v + 1]! - start[v]!;
      if (degree === 0) continue;
      sorted.length = 0;
      for (let e = start[v]!; e < start[v + 1]!; e++) sorted.push(list[e]!);
      if (degree > 1) sorted.sort((a, b) => place[a]! - place[b]!);
      const low = (degree - 1) >> 1;
      const high = degree >> 1;
      for (const m of leftmost ? [low, high] : [high, low]) {
        if (aligned[v] !== v) break;
        const u = sorted[m]!;
        const at = place[u]!;
        const free = leftmost ? at > bound : at < bound;
        if (!free || conflicts[entryOf(graph, fromAbove, v, u)] === 1) continue;
        aligned[u] = v;
        root[v] = root[u]!;
        aligned[v] = root[v]!;
        bound = at;
      }
    }
  }
  return root;
}

/** Position in `up` of the edge between v and u, whichever of them is above. */
function entryOf({ upStart, up }: RowGraph, fromAbove: boolean, v: number, u: number): number {
  const lower = fromAbove ? v : u;
  const upper = fromAbove ? u : v;
  let k = upStart[lower]!;
  while (k < upStart[lower + 1]! && up[k] !== upper) k += 1;
  return k;
}

/** Places blocks by longest paths from the left, then moves each as far right as its neighbors let it (mirrored for rightmost). */
function compact({ graph, width, line, gap }: Context, root: Int32Array, leftmost: boolean): Float64Array {
  const { rowStart, order } = graph;
  const count = order.length;
  // One edge a pair of neighbors in a row: count, then fill.
  const degree = new Int32Array(count);
  const outStart = new Int32Array(count + 1);
  for (let r = 0; r + 1 < rowStart.length; r++) {
    for (let i = rowStart[r]! + 1; i < rowStart[r + 1]!; i++) {
      const a = root[order[i - 1]!]!;
      const b = root[order[i]!]!;
      outStart[a + 1]! += 1;
      degree[b]! += 1;
    }
  }
  for (let v = 0; v < count; v++) outStart[v + 1]! += outStart[v]!;
  const next = outStart.slice(0, count);
  const target = new Int32Array(outStart[count]!);
  const distance = new Float64Array(outStart[count]!);
  for (let r = 0; r + 1 < rowStart.length; r++) {
    for (let i = rowStart[r]! + 1; i < rowStart[r + 1]!; i++) {
      const left = order[i - 1]!;
      const right = order[i]!;
      const a = root[left]!;
      const space = line[left] === 1 || line[right] === 1 ? gap / 2 : gap;
      target[next[a]!] = root[right]!;
      distance[next[a]!] = (width[left]! + width[right]!) / 2 + space;
      next[a]! += 1;
    }
  }
  const sequence = topological(count, root, degree, outStart, target);
  const x = new Float64Array(count);
  longestPaths(sequence, outStart, target, distance, x, leftmost);
  for (let v = 0; v < count; v++) x[v] = x[root[v]!]!;
  return x;
}

function topological(
  count: number,
  root: Int32Array,
  degree: Int32Array,
  outStart: Int32Array,
  target: Int32Array,
): Int32Array {
  const sequence = new Int32Array(count);
  let filled = 0;
  for (let v = 0; v < count; v++) {
    if (root[v] === v && degree[v] === 0) {
      sequence[filled] = v;
      filled += 1;
    }
  }
  for (let at = 0; at < filled; at++) {
    const v = sequence[at]!;
    for (let k = outStart[v]!; k < outStart[v + 1]!; k++) {
      const w = target[k]!;
      degree[w]! -= 1;
      if (degree[w] === 0) {
        sequence[filled] = w;
        filled += 1;
      }
    }
  }
  return sequence.subarray(0, filled);
}

function longestPaths(
  sequence: Int32Array,
  outStart: Int32Array,
  target: Int32Array,
  distance: Float64Array,
  x: Float64Array,
  leftmost: boolean,
): void {
  for (const v of sequence) {
    for (let k = outStart[v]!; k < outStart[v + 1]!; k++) {
      const w = target[k]!;
      const least = x[v]! + distance[k]!;
      if (least > x[w]!) x[w] = least;
    }
  }
  // A block with room to its right closes the gap there; for rightmost all of them do, starting at the far right.
  let widest = 0;
  if (!leftmost) for (const v of sequence) widest = Math.max(widest, x[v]!);
  for (let at = sequence.length - 1; at >= 0; at--) {
    const v = sequence[at]!;
    let most = Infinity;
    for (let k = outStart[v]!; k < outStart[v + 1]!; k++) most = Math.min(most, x[target[k]!]! - distance[k]!);
    if (most !== Infinity) x[v] = Math.max(x[v]!, most);
    else if (!leftmost) x[v] = widest;
  }
}

/** How often boxes are drawn towards their neighbors in the end. */
const rounds = 4;

/**
 * Moves each box to the middle of the median neighbors, as far as the boxes next to it let it: averaging leaves some
 * room unused. Passing vertices stay, so lines stay straight.
 */
function relax({ graph, width, line, gap }: Context, x: Float64Array): void {
  const { rowStart, order, upStart, up, downStart, down } = graph;
  const around: number[] = [];
  for (let round = 0; round < rounds; round++) {
    for (let r = 0; r + 1 < rowStart.length; r++) {
      const row = round % 2 === 0 ? r : rowStart.length - 2 - r;
      for (let i = rowStart[row]!; i < rowStart[row + 1]!; i++) {
        const v = order[i]!;
        if (line[v] === 1) continue;
        around.length = 0;
        for (let k = upStart[v]!; k < upStart[v + 1]! && around.length < 32; k++) around.push(x[up[k]!]!);
        for (let k = downStart[v]!; k < downStart[v + 1]! && around.length < 64; k++) around.push(x[down[k]!]!);
        if (around.length === 0) continue;
        around.sort((a, b) => a - b);
        const low = around[(around.length - 1) >> 1]!;
        const high = around[around.length >> 1]!;
        const space = (w: number) => (width[v]! + width[w]!) / 2 + (line[w] === 1 ? gap / 2 : gap);
        const left = i > rowStart[row]! ? x[order[i - 1]!]! + space(order[i - 1]!) : -Infinity;
        const right = i + 1 < rowStart[row + 1]! ? x[order[i + 1]!]! - space(order[i + 1]!) : Infinity;
        // Anywhere between the two medians is equally short: the nearest place is kept.
        const wanted = Math.min(high, Math.max(low, x[v]!));
        x[v] = Math.max(left, Math.min(right, wanted));
      }
    }
  }
}

/** Shifts the four to the narrowest one's sides and takes the mean of the middle two for each vertex. */
function balance(layouts: Float64Array[], width: Float32Array): Float64Array {
  const count = width.length;
  const bounds = layouts.map((x) => {
    const { low, length } = extent(x, width);
    return { low, high: low + length };
  });
  let narrowest = bounds[0]!;
  for (const bound of bounds) if (bound.high - bound.low < narrowest.high - narrowest.low) narrowest = bound;
  const [a, b, c, d] = layouts as [Float64Array, Float64Array, Float64Array, Float64Array];
  const shift = bounds.map(({ low, high }, i) => (i % 2 === 0 ? narrowest.low - low : narrowest.high - high));
  const result = new Float64Array(count);
  for (let v = 0; v < count; v++) {
    const p = a[v]! + shift[0]!;
    const q = b[v]! + shift[1]!;
    const s = c[v]! + shift[2]!;
    const t = d[v]! + shift[3]!;
    const sum = p + q + s + t - Math.min(p, q, s, t) - Math.max(p, q, s, t);
    result[v] = sum / 2;
  }
  return result;
}
