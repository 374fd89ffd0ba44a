/**
 * Breaks a tall pile of rows into columns that stand side by side, read like those of a newspaper. Only lines to the next
 * row are drawn from one column to the next, longer ones become portals, and only where few lines cross a pile is broken.
 */
export interface ColumnChoice {
  /** Column of each row. */
  column: Int32Array;
  count: number;
}

/** A pile up to this height, in pixels at scale 1, is left alone. */
const lowest = 900;
/** Width to height that columns aim at. */
const aspect = 1.5;
/** Where more lines than this cross, a pile is not broken. */
const mostCrossing = 5;
/** More rows than this fit no window, however they are broken. */
const mostRows = 300;

/** The columns of an earlier picture: rows that began one begin one again. */
export function columnsFrom(begins: Uint8Array): ColumnChoice {
  const column = new Int32Array(begins.length);
  let count = 0;
  for (let row = 1; row < begins.length; row++) {
    count += begins[row]!;
    column[row] = count;
  }
  return { column, count: count + 1 };
}

/**
 * Decided from the sizes that rows have when everything in them is closed, so that opening a box lengthens its column
 * and moves nothing to another one. `crossing[r]` is how many lines lead from row r or above to rows below.
 */
export function chooseColumns(height: Float64Array, width: number, crossing: Int32Array, rowGap: number): ColumnChoice {
  const rows = height.length;
  const column = new Int32Array(rows);
  let total = 0;
  for (const own of height) total += own + rowGap;
  const wanted = Math.floor(Math.sqrt((aspect * total) / (width + 80)));
  if (total <= lowest || wanted < 2) return { column, count: 1 };
  const target = total / wanted;
  let count = 0;
  let filled = 0;
  for (let row = 0; row < rows; row++) {
    column[row] = count;
    filled += height[row]! + rowGap;
    if (filled < 0.75 * target || row >= rows - 2) continue;
    if (breakAt(height, crossing, row, filled, target, rowGap)) {
      count += 1;
      filled = 0;
    }
  }
  return { column, count: count + 1 };
}

/** Whether no better place than after this row comes before the column is much too long. */
function breakAt(
  height: Float64Array,
  crossing: Int32Array,
  row: number,
  filled: number,
  target: number,
  rowGap: number,
): boolean {
  if (crossing[row]! > mostCrossing) return false;
  const cost = (at: number, length: number) => crossing[at]! + (2 * Math.abs(length - target)) / target;
  const own = cost(row, filled);
  let length = filled;
  for (let ahead = row + 1; ahead < height.length - 2; ahead++) {
    length += height[ahead]! + rowGap;
    if (length > 1.25 * target) break;
    if (cost(ahead, length) < own) return false;
  }
  return true;
}

/**
 * As few columns as fit a height, about equally long, broken where least lines cross; the first and the last have two rows,
 * if that fits, else one. Where they cannot be broken so that they fit, the pile stays whole.
 */
export function fitColumns(height: Float64Array, crossing: Int32Array, rowGap: number, room: number): ColumnChoice {
  const rows = height.length;
  const whole: ColumnChoice = { column: new Int32Array(rows), count: 1 };
  let total = 0;
  for (const own of height) total += own + rowGap;
  if (total <= room || rows > mostRows || rows < 4) return whole;
  for (const least of [2, 1])
    for (let count = Math.ceil(total / room); count <= Math.min(12, rows / least); count++) {
      const column = brokenInto(height, crossing, rowGap, room, total / count, least);
      if (column !== null) return column;
    }
  return whole;
}

/** The cheapest way to break rows, none of the columns longer than that; null: there is none. */
function brokenInto(
  height: Float64Array,
  crossing: Int32Array,
  rowGap: number,
  room: number,
  target: number,
  least: number,
): ColumnChoice | null {
  const rows = height.length;
  const cost = new Float64Array(rows + 1).fill(Infinity);
  const start = new Int32Array(rows + 1);
  cost[0] = 0;
  for (let end = 1; end <= rows; end++) {
    const isLast = end === rows;
    if (!isLast && (end < least || end > rows - least || crossing[end - 1]! > mostCrossing)) continue;
    let length = 0;
    for (let first = end - 1; first >= 0; first--) {
      length += height[first]! + rowGap;
      if (length > room) break;
      const uneven = (length - target) / target;
      const own = cost[first]! + uneven * uneven + (isLast ? 0 : 0.2 * crossing[end - 1]!);
      if (own < cost[end]!) {
        cost[end] = own;
        start[end] = first;
      }
    }
  }
  if (cost[rows] === Infinity) return null;
  const begins = new Uint8Array(rows);
  for (let at = start[rows]!; at > 0; at = start[at]!) begins[at] = 1;
  return columnsFrom(begins);
}
