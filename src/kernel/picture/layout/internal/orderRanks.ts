/** Vertices in rows, and edges between neighboring rows only. */
export interface RowGraph {
  /** Vertices of row r: `order[rowStart[r]] … order[rowStart[r + 1] - 1]`, left to right. */
  rowStart: Int32Array;
  order: Int32Array;
  /** Neighbors in the row above and below, in compressed rows over vertices. */
  upStart: Int32Array;
  up: Int32Array;
  downStart: Int32Array;
  down: Int32Array;
}

/**
 * Reorders each row for fewer crossings: sweeps down and up with the mean of the neighbors' places, keeps the best
 * order seen, then swaps neighbors as long as that helps. Deterministic: ties keep their order. Writes `graph.order`.
 */
export function orderRanks(graph: RowGraph): void {
  const { order, rowStart } = graph;
  const vertices = order.length;
  const rowCount = rowStart.length - 1;
  const place = new Int32Array(vertices);
  const settle = (row: number) => {
    for (let i = rowStart[row]!; i < rowStart[row + 1]!; i++) place[order[i]!] = i - rowStart[row]!;
  };
  const settleAll = () => {
    for (let row = 0; row < rowCount; row++) settle(row);
  };
  settleAll();
  const counter = new CrossingCounter(graph, place);
  let fewest = counter.count();
  if (fewest === 0) return;
  const best = order.slice();
  const keep = (): boolean => {
    const crossings = counter.count();
    if (crossings >= fewest) return false;
    fewest = crossings;
    best.set(order);
    return true;
  };
  const work = vertices + graph.up.length;
  const isSmall = work < 60_000;
  const rounds = Math.max(4, Math.min(24, Math.floor(600_000 / work)));
  const sorter = new RowSorter(vertices);
  // From other orders the sweeps may find a better one.
  const starts = isSmall ? [order.slice(), ...otherOrders(graph)] : [order.slice()];
  for (const [at, start] of starts.entries()) {
    if (fewest === 0) break;
    order.set(start);
    settleAll();
    if (at > 0) keep();
    for (let round = 0, stale = 0; round < rounds && stale < 4 && fewest > 0; round++) {
      const downwards = (round + at) % 2 === 0;
      for (let k = 1; k < rowCount; k++) {
        const row = downwards ? k : rowCount - 1 - k;
        sorter.sort(graph, place, row, downwards);
        settle(row);
      }
      if (isSmall) swapNeighbors(graph, place, 2);
      stale = keep() ? 0 : stale + 1;
    }
  }
  order.set(best);
  settleAll();
  swapNeighbors(graph, place, isSmall ? 8 : 1);
}

/** With more than these, further starts take longer than they gain. */
const fewVertices = 1500;

/** Rows from right to left, and in the order of their vertices: boxes before the lines that pass them. */
function otherOrders({ order, rowStart }: RowGraph): Int32Array[] {
  const mirrored = order.slice();
  const plain = order.slice();
  for (let row = 0; row + 1 < rowStart.length; row++) {
    mirrored.subarray(rowStart[row]!, rowStart[row + 1]!).reverse();
    plain.subarray(rowStart[row]!, rowStart[row + 1]!).sort();
  }
  if (order.length > fewVertices) return [mirrored, plain];
  // The same for every run: from one that looks like chance.
  let seed = 1;
  const shuffled = Array.from({ length: 6 }, () => {
    const start = order.slice();
    for (let row = 0; row + 1 < rowStart.length; row++) {
      for (let i = rowStart[row + 1]! - 1; i > rowStart[row]!; i--) {
        seed = (seed * 48_271) % 2_147_483_647;
        const other = rowStart[row]! + (seed % (i - rowStart[row]! + 1));
        [start[i], start[other]] = [start[other]!, start[i]!];
      }
    }
    return start;
  });
  return [mirrored, plain, ...shuffled];
}

/** Sorts one row by the mean place of its vertices' neighbors above (or below); a vertex without any keeps its place. */
class RowSorter {
  readonly #key: Float64Array;

  constructor(vertices: number) {
    this.#key = new Float64Array(vertices);
  }

  sort({ order, rowStart, ...graph }: RowGraph, place: Int32Array, row: number, downwards: boolean): void {
    const begin = rowStart[row]!;
    const end = rowStart[row + 1]!;
    if (end - begin < 2) return;
    const start = downwards ? graph.upStart : graph.downStart;
    const list = downwards ? graph.up : graph.down;
    const key = this.#key;
    // Means run over the other row's places; a vertex that has none is put where its left neighbor goes.
    let last = -1;
    for (let i = begin; i < end; i++) {
      const v = order[i]!;
      const first = start[v]!;
      const after = start[v + 1]!;
      if (first < after) {
        let sum = 0;
        for (let k = first; k < after; k++) sum += place[list[k]!]!;
        last = sum / (after - first);
      }
      key[v] = last;
    }
    if (end - begin > 64) {
      const sorted = order.subarray(begin, end).toSorted((a, b) => key[a]! - key[b]! || place[a]! - place[b]!);
      order.set(sorted, begin);
      return;
    }
    for (let i = begin + 1; i < end; i++) {
      const v = order[i]!;
      let at = i;
      while (at > begin && key[order[at - 1]!]! > key[v]!) {
        order[at] = order[at - 1]!;
        at -= 1;
      }
      order[at] = v;
    }
  }
}

/** Counts crossings between neighboring rows with a tree of sums: edges × log(row). */
class CrossingCounter {
  readonly #graph: RowGraph;
  readonly #place: Int32Array;
  readonly #tree: Int32Array;
  #ends: number[] = [];

  constructor(graph: RowGraph, place: Int32Array) {
    this.#graph = graph;
    this.#place = place;
    let widest = 0;
    for (let row = 0; row + 1 < graph.rowStart.length; row++) {
      widest = Math.max(widest, graph.rowStart[row + 1]! - graph.rowStart[row]!);
    }
    this.#tree = new Int32Array(widest + 1);
  }

  count(): number {
    let sum = 0;
    for (let row = 0; row + 2 < this.#graph.rowStart.length; row++) sum += this.#between(row);
    return sum;
  }

  #between(row: number): number {
    const { rowStart, order, downStart, down } = this.#graph;
    const size = rowStart[row + 2]! - rowStart[row + 1]!;
    if (size < 2 || rowStart[row + 1]! - rowStart[row]! < 2) return 0;
    const tree = this.#tree.fill(0, 0, size + 1);
    let seen = 0;
    let crossings = 0;
    for (let i = rowStart[row]!; i < rowStart[row + 1]!; i++) {
      const v = order[i]!;
      const ends = this.#ends;
      ends.length = 0;
      for (let k = downStart[v]!; k < downStart[v + 1]!; k++) ends.push(this.#place[down[k]!]!);
      for (const end of ends) {
        let before = 0;
        for (let at = end + 1; at > 0; at -= at & -at) before += tree[at]!;
        crossings += seen - before;
      }
      for (const end of ends) for (let at = end + 1; at <= size; at += at & -at) tree[at]! += 1;
      seen += ends.length;
    }
    return crossings;
  }
}

/** Swaps neighbors in a row where that removes crossings, with both rows around them. */
function swapNeighbors({ order, rowStart, ...graph }: RowGraph, place: Int32Array, rounds: number): void {
  for (let round = 0; round < rounds; round++) {
    let swapped = false;
    for (let row = 0; row + 1 < rowStart.length; row++) {
      for (let i = rowStart[row]!; i + 1 < rowStart[row + 1]!; i++) {
        const a = order[i]!;
        const b = order[i + 1]!;
        const gain = gainOf(graph.upStart, graph.up, place, a, b) + gainOf(graph.downStart, graph.down, place, a, b);
        if (gain <= 0) continue;
        order[i] = b;
        order[i + 1] = a;
        place[a]! += 1;
        place[b]! -= 1;
        swapped = true;
      }
    }
    if (!swapped) return;
  }
}

/** Crossings of a's and b's edges on one side as they are, less those after a swap. Hubs are left alone: too costly to try. */
function gainOf(start: Int32Array, list: Int32Array, place: Int32Array, a: number, b: number): number {
  const aEnd = start[a + 1]!;
  const bEnd = start[b + 1]!;
  if ((aEnd - start[a]!) * (bEnd - start[b]!) > 256) return 0;
  let gain = 0;
  for (let i = start[a]!; i < aEnd; i++) {
    const p = place[list[i]!]!;
    for (let k = start[b]!; k < bEnd; k++) {
      const q = place[list[k]!]!;
      if (p > q) gain += 1;
      else if (p < q) gain -= 1;
    }
  }
  return gain;
}
