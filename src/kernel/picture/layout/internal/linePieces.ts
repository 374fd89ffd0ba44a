import { type Chains, type LevelInput, rowOf } from './chains.ts';
import { pieceSize, rowsBy } from '../layoutTypes.ts';
import type { RowGraph } from './orderRanks.ts';
import { docks } from './placeRanks.ts';
import { boxTop, type Rows, swing, track } from './placeRows.ts';

/** A line that begins this much above its row's end may have to go straight down first. */
const shortLead = 4;
/** After so many boxes on a line's way one is taken to be in it. */
const mostLooked = 32;

/**
 * The pieces of all lines of a level: one a step, one more where a lower box of the row is in the way and where a step
 * leads to the top of the next column.
 */
export function drawPieces(
  input: LevelInput,
  chains: Chains,
  graph: RowGraph,
  x: Float64Array,
  rows: Rows,
): { pieces: Float32Array; lineStart: Int32Array; linePieces: Int32Array } {
  const { stepFrom, stepTo, stepLine } = chains;
  const steps = stepFrom.length;
  const first = new Int32Array(steps + 1);
  const columnOf = (v: number) => rows.column[rowOf(input, chains, v)]!;
  const blocked = blockedSteps(input, chains, graph, x, rows);
  for (let s = 0; s < steps; s++) {
    first[s + 1] = first[s]! + blocked[s]! + (columnOf(stepFrom[s]!) === columnOf(stepTo[s]!) ? 1 : 2);
  }
  const pieces = new Float32Array(first[steps]! * pieceSize);
  const spread = spreadArrivals(input, chains, graph, x);
  const tracks = new Int32Array(rows.gutter.length);
  const ways = new Map<string, number>();
  const put = (piece: number, x0: number, y0: number, x1: number, y1: number, y2: number, c: number) =>
    pieces.set([x0, y0, x1, y1, y2, c], piece * pieceSize);
  for (let s = 0; s < steps; s++) {
    const from = stepFrom[s]!;
    const to = stepTo[s]!;
    const line = stepLine[s]!;
    const isBox = to < input.count;
    const x1 = x[to]! + (isBox ? input.toOffset[line]! + spread[s]! : 0);
    const turns = columnOf(from) !== columnOf(to);
    const x0 = from < input.count ? departure(input, x, from, line, turns ? x[from]! : x1) : x[from]!;
    let y0 = bottomOf(input, chains, rows, from);
    let next = first[s]!;
    if (blocked[s] === 1) {
      const end = endOf(rows, rowOf(input, chains, from));
      put(next, x0, y0, x0, end, end, (y0 + end) / 2);
      y0 = end;
      next += 1;
    }
    const row = rowOf(input, chains, to);
    const y1 = rows.top[row]!;
    const y2 = isBox ? boxTop(input, rows, to) : y1 + rows.size[row]!;
    const column = columnOf(from);
    if (!turns) {
      put(next, x0, y0, x1, y1, y2, (y0 + y1) / 2);
      continue;
    }
    // Lines of one signal turn together, each signal on a track of its own, to both sides of the gutter's middle.
    const key = `${from}/${input.lineSignal[line]!}`;
    let way = ways.get(key);
    if (way === undefined) {
      const turn = tracks[column]!;
      tracks[column]! += 1;
      way = rows.gutter[column]! + Math.ceil(turn / 2) * (turn % 2 === 0 ? 1 : -1) * track;
      ways.set(key, way);
    }
    put(next, x0, y0, way, y0, y1, y0 + swing);
    put(next + 1, way, y1, x1, y1, y2, y1 - swing);
  }
  return { pieces, ...piecesOfLines(chains, first) };
}

function bottomOf(input: LevelInput, chains: Chains, rows: Rows, v: number): number {
  if (v < input.count) return boxTop(input, rows, v) + input.height[v]!;
  return endOf(rows, rowOf(input, chains, v));
}

const endOf = ({ top, size }: Rows, row: number): number => top[row]! + size[row]!;

/** 1 for a step that would run through a box of the row that it leaves: one on its side that reaches lower. */
function blockedSteps(input: LevelInput, chains: Chains, graph: RowGraph, x: Float64Array, rows: Rows): Uint8Array {
  const { rowStart, order } = graph;
  const place = new Int32Array(chains.vertices);
  order.forEach((v, i) => (place[v] = i));
  const isLower = (v: number, y: number) => v < input.count && boxTop(input, rows, v) + input.height[v]! > y;
  return Uint8Array.from(chains.stepFrom, (from, s) => {
    const row = rowOf(input, chains, from);
    const y0 = bottomOf(input, chains, rows, from);
    if (endOf(rows, row) - y0 < shortLead) return 0;
    const to = chains.stepTo[s]!;
    const turns = rows.column[row] !== rows.column[rowOf(input, chains, to)];
    const x1 = turns ? Infinity : x[to]! + (to < input.count ? input.toOffset[chains.stepLine[s]!]! : 0);
    const side = x1 > x[from]! ? 1 : -1;
    for (let i = place[from]! + side, looked = 0; i >= rowStart[row]! && i < rowStart[row + 1]!; i += side) {
      const v = order[i]!;
      if ((x1 - x[v]!) * side < -(v < input.count ? input.width[v]! / 2 : 0)) return 0;
      looked += 1;
      if (isLower(v, y0) || looked > mostLooked) return 1;
    }
    return 0;
  });
}

function piecesOfLines(
  { lineStart, lineSteps }: Chains,
  first: Int32Array,
): { lineStart: Int32Array; linePieces: Int32Array } {
  const start = new Int32Array(lineStart.length);
  const list: number[] = [];
  for (let line = 0; line + 1 < lineStart.length; line++) {
    for (let i = lineStart[line]!; i < lineStart[line + 1]!; i++) {
      const step = lineSteps[i]!;
      for (let piece = first[step]!; piece < first[step + 1]!; piece++) list.push(piece);
    }
    start[line + 1] = list.length;
  }
  return { lineStart: start, linePieces: Int32Array.from(list) };
}

const near = (wanted: number, middle: number, reach: number): number =>
  Math.max(middle - reach, Math.min(middle + reach, wanted));

/** A line leaves a closed box where it is nearest to where it leads. */
function departure(input: LevelInput, x: Float64Array, from: number, line: number, to: number): number {
  const middle = x[from]! + input.fromOffset[line]!;
  return input.port[from] === 1 || input.open[from] === 1 ? middle : near(to, middle, docks * input.width[from]!);
}

/** Lines into one closed box arrive where they are nearest to where they come from, side by side, in their order. */
function spreadArrivals(
  { count, width, port, open }: LevelInput,
  chains: Chains,
  graph: RowGraph,
  x: Float64Array,
): Float32Array {
  const { stepFrom, stepTo } = chains;
  const spread = new Float32Array(stepFrom.length);
  const { start, list: steps } = rowsBy(chains.vertices, stepTo);
  for (let v = 0; v < count; v++) {
    const begin = start[v]!;
    const arrivals = start[v + 1]! - begin;
    if (arrivals < 1 || port[v] === 1 || open[v] === 1) continue;
    const sorted = steps
      .subarray(begin, begin + arrivals)
      .toSorted((a, b) => x[stepFrom[a]!]! - x[stepFrom[b]!]! || a - b);
    const reach = docks * width[v]!;
    const pitch = Math.min(14, (2 * reach) / Math.max(1, arrivals - 1));
    // As far to the left as they come from, but room for those at the right of each.
    let last = -Infinity;
    sorted.forEach((step, i) => {
      const most = reach - (arrivals - 1 - i) * pitch;
      const least = Math.max(-reach + i * pitch, last + pitch);
      last = Math.min(most, Math.max(least, x[stepFrom[step]!]! - x[v]!));
      spread[step] = last;
    });
  }
  return spread;
}
