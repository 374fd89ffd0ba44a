import { type ColumnChoice, columnsFrom, fitColumns } from './columns.ts';
import { type Chains, type LevelInput, rowOf } from './chains.ts';
import type { LayoutOptions } from '../layoutTypes.ts';
import type { RowGraph } from './orderRanks.ts';

/** Rows with their places; several columns of them where the pile would be tall. */
export interface Rows {
  top: Float64Array;
  /** Height of what is in a row. */
  size: Float64Array;
  column: Int32Array;
  /** Per column: where its rows end, and the middle of the gutter at its right. */
  bottom: Float64Array;
  gutter: Float64Array;
  /** How far a box is below the middle of its row. */
  drop: Float64Array;
  /** Where the first row of boxes begins. */
  start: number;
  width: number;
  height: number;
}

/** Room between columns, and for each line in it. */
const gutterWidth = 56;
export const track = 10;
/** How far the control points of a turn between two columns are out; the turn itself goes three quarters as far. */
export const swing = 34;

/** Tops of rows, and columns: moves `x` of all vertices to their column. */
export function placeRows(
  input: LevelInput,
  chains: Chains,
  graph: RowGraph,
  x: Float64Array,
  width: Float32Array,
  options: LayoutOptions,
  topRow: boolean,
  bottomRow: boolean,
): Rows {
  const count = graph.rowStart.length - 1;
  const { size, sideways, crossing, choice } = measure(input, chains, count, x, options);
  const { column } = choice;
  const spread = spreadColumns(graph, x, width, column, choice.count, crossing);
  const start = choice.count > 1 ? Math.max(options.header, 0.75 * swing) : options.header;
  const rows: Rows = {
    top: new Float64Array(count),
    size,
    column,
    drop: new Float64Array(input.count),
    bottom: new Float64Array(choice.count),
    gutter: spread.gutter,
    start,
    width: spread.width,
    height: 0,
  };
  let y = start;
  const last = bottomRow ? count - 2 : count - 1;
  for (let r = topRow ? 1 : 0; r <= last; r++) {
    if (r > 0 && column[r] !== column[r - 1]) y = start;
    rows.top[r] = y;
    rows.bottom[column[r]!] = y + size[r]!;
    // Lines that run far to the side need more room to stay apart.
    y += size[r]! + options.rowGap * (1 + Math.min(1, sideways[r]! / 1500));
  }
  for (const bottom of rows.bottom) rows.height = Math.max(rows.height, bottom + options.padding, start);
  // A turn below the last row of a column needs room.
  if (choice.count > 1) rows.height += options.rowGap;
  rows.height = Math.max(rows.height, input.least);
  if (topRow) rows.top[0] = 0;
  if (bottomRow) rows.top[count - 1] = rows.height;
  dropConstants(input, graph, x, rows, options);
  return rows;
}

/** A constant goes down to what reads it, where that is in the middle of a tall row and nothing else is in the way. */
function dropConstants(
  input: LevelInput,
  { rowStart, order, downStart, down }: RowGraph,
  x: Float64Array,
  rows: Rows,
  { gap, rowGap }: LayoutOptions,
): void {
  for (let v = 0; v < input.count; v++) {
    const reader = down[downStart[v]!];
    if (input.constant[v] !== 1 || downStart[v + 1]! - downStart[v]! !== 1 || reader! >= input.count) continue;
    const row = input.row[v]!;
    const next = input.row[reader!]!;
    if (next !== row + 1 || rows.column[row] !== rows.column[next] || input.open[reader!] === 1) continue;
    const drop = boxTop(input, rows, reader!) - rowGap - (boxTop(input, rows, v) + input.height[v]!);
    const half = input.width[v]! / 2 + gap;
    let isFree = drop > rowGap;
    for (let i = rowStart[next]!; isFree && i < rowStart[next + 1]!; i++) {
      const other = order[i]!;
      const wide = other < input.count ? input.width[other]! / 2 : 0;
      isFree = other === reader || Math.abs(x[other]! - x[v]!) > half + wide;
    }
    if (isFree) rows.drop[v] = drop;
  }
}

function measure(input: LevelInput, chains: Chains, count: number, x: Float64Array, options: LayoutOptions) {
  const size = new Float64Array(count);
  for (let v = 0; v < input.count; v++) {
    const row = input.row[v]!;
    size[row] = Math.max(size[row]!, input.height[v]!);
  }
  const sideways = new Float64Array(count);
  const crossing = new Int32Array(count);
  for (let s = 0; s < chains.stepFrom.length; s++) {
    const from = chains.stepFrom[s]!;
    const row = rowOf(input, chains, from);
    sideways[row] = Math.max(sideways[row]!, Math.abs(x[from]! - x[chains.stepTo[s]!]!));
    crossing[row]! += 1;
  }
  const choice = input.room < Infinity ? fitColumns(size, crossing, options.rowGap, input.room) : begun(input, count);
  return { size, sideways, crossing, choice };
}

/** The columns that are decided already. */
function begun({ begins, row, port }: LevelInput, rows: number): ColumnChoice {
  const first = new Uint8Array(rows);
  for (let v = 0; v < row.length; v++) if (port[v] === 0 && begins[v] === 1) first[row[v]!] = 1;
  return columnsFrom(first);
}

/** Puts columns side by side. */
function spreadColumns(
  graph: RowGraph,
  x: Float64Array,
  width: Float32Array,
  column: Int32Array,
  count: number,
  crossing: Int32Array,
): { gutter: Float64Array; width: number } {
  const low = new Float64Array(count).fill(Infinity);
  const high = new Float64Array(count).fill(-Infinity);
  const lines = new Float64Array(count);
  for (let r = 0; r < column.length; r++) {
    const c = column[r]!;
    if (column[r + 1] !== undefined && column[r + 1] !== c) lines[c] = crossing[r]!;
    for (let i = graph.rowStart[r]!; i < graph.rowStart[r + 1]!; i++) {
      const v = graph.order[i]!;
      low[c] = Math.min(low[c]!, x[v]! - width[v]! / 2);
      high[c] = Math.max(high[c]!, x[v]! + width[v]! / 2);
    }
  }
  const shift = new Float64Array(count);
  const gutter = new Float64Array(count);
  let at = 0;
  for (let c = 0; c < count; c++) {
    if (low[c] === Infinity) low[c] = high[c] = 0;
    shift[c] = at - low[c]!;
    at += high[c]! - low[c]!;
    const room = gutterWidth + track * lines[c]!;
    gutter[c] = at + room / 2;
    if (c < count - 1) at += room;
  }
  for (let r = 0; r < column.length; r++) {
    for (let i = graph.rowStart[r]!; i < graph.rowStart[r + 1]!; i++) x[graph.order[i]!]! += shift[column[r]!]!;
  }
  return { gutter, width: at };
}

/** Boxes are in the middle of their row, but for constants. */
export const boxTop = (input: LevelInput, { top, size, drop }: Rows, v: number): number =>
  top[input.row[v]!]! + (size[input.row[v]!]! - input.height[v]!) / 2 + drop[v]!;
