/**
 * Breaks a tall pile of rows into columns that stand side by side, read like those of a newspaper. Decided from sizes
 * that rows have when everything in them is closed, so that opening a box lengthens its column and moves nothing to
 * another one. Breaks only where few lines cross.
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
/** More lines than this are not led from one column to the next. */
const mostCrossing = 6;

/**
 * `height` and `width` are those of closed rows; `crossing[r]` is how many lines lead from row r or above to rows below.
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
