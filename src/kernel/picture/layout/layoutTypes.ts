// Input and result of a layout.

/**
 * Boxes to place, some inside others. Arrays run over items unless said otherwise; parents come before children.
 * Everything is plain numbers, so that it can be handed to a worker without a copy.
 */
export interface LayoutInput {
  /** The open box around each item, -1 for none. */
  parent: Int32Array;
  /** 1: an open box, as large as what is in it needs. */
  open: Uint8Array;
  /** Size in pixels at scale 1; for an open box the least that it has. */
  width: Float32Array;
  height: Float32Array;
  /** Edges between items that are not open. */
  from: Int32Array;
  to: Int32Array;
  /** 1: a constant. It is next to what reads it first; edges to what is farther away become portals. */
  constant?: Uint8Array;
  /** What `begins` of an earlier layout said, which stays; -1: its level was not there, so its columns are chosen here. */
  begins?: Int8Array;
  options: LayoutOptions;
}

export interface LayoutOptions {
  /** Space that an open box keeps above its contents for its label, and around them. */
  header: number;
  padding: number;
  /** Least distance between neighbors in a row, and between rows. */
  gap: number;
  rowGap: number;
  /** An edge over more rows than this becomes two portals instead of a line. */
  portalSpan: number;
  /** Columns are to be no taller than this, where they can be broken: the window's height. Otherwise only tall piles are broken. */
  room?: number;
}

export interface LayoutResult {
  /** Top left corner and size of each item, from the picture's top left. */
  x: Float32Array;
  y: Float32Array;
  width: Float32Array;
  height: Float32Array;
  /**
   * Pieces of lines, `pieceSize` numbers each: x0, y0, x1, y1, y2, c. A cubic curve from x0, y0 to x1, y1 with its
   * control points at x0, c and x1, c (so it is vertical at both ends), then straight to x1, y2. Edges of one source
   * share pieces for as long as they run together.
   */
  pieces: Float32Array;
  /** The pieces of edge e, source first: `edgePieces[edgeStart[e]] … edgePieces[edgeStart[e + 1] - 1]`. */
  edgeStart: Int32Array;
  edgePieces: Int32Array;
  /** 1: too long to be drawn; both ends get a label instead. */
  portal: Uint8Array;
  /** 1: runs against the direction of the graph (both boxes stand for nodes before and after each other). */
  back: Uint8Array;
  /** 1: in the first row of a column, but for the first column of a level. */
  begins: Int8Array;
  totalWidth: number;
  totalHeight: number;
}

export const pieceSize = 6;

export const defaultLayout: LayoutOptions = { header: 30, padding: 16, gap: 22, rowGap: 30, portalSpan: 24 };

/** Lists by key in two arrays: those of key k are `list[start[k]] … list[start[k + 1] - 1]`. */
export interface CompressedRows {
  start: Int32Array;
  list: Int32Array;
}

/**
 * What `keys`, each of 0 … count - 1, gather: their positions, or what is at these in `values`. Within a key it comes
 * in the order of the positions.
 */
export function rowsBy(count: number, keys: Int32Array, values?: Int32Array): CompressedRows {
  const start = new Int32Array(count + 1);
  for (let i = 0; i < keys.length; i++) start[keys[i]! + 1]! += 1;
  for (let k = 0; k < count; k++) start[k + 1]! += start[k]!;
  const next = start.slice(0, count);
  const list = new Int32Array(keys.length);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    list[next[key]!] = values === undefined ? i : values[i]!;
    next[key]! += 1;
  }
  return { start, list };
}

/** A binary heap of numbers. */
export class SmallestFirst {
  #items: number[] = [];

  push(value: number): void {
    const items = this.#items;
    let at = items.length;
    items.push(value);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (items[parent]! <= value) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = value;
  }

  pop(): number | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && items[child + 1]! < items[child]!) child += 1;
      if (items[child]! >= last) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = last;
    return first;
  }
}
