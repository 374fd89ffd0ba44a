import type { LayoutOptions } from './layoutTypes.ts';
import { orderRanks } from './orderRanks.ts';
import type { RowGraph } from './orderRanks.ts';
import { placeRanks } from './placeRanks.ts';

/**
 * The boxes of one level and the lines between them. Lines are grouped: those of one source and one signal follow each
 * other, and run together for as long as they can.
 */
export interface LevelInput {
  count: number;
  width: Float32Array;
  height: Float32Array;
  /** From 0, without gaps; every line leads to a later row. */
  row: Int32Array;
  lineFrom: Int32Array;
  lineTo: Int32Array;
  lineSignal: Int32Array;
  /** Where a line leaves or enters its box, from the box's centre. */
  fromOffset: Float32Array;
  toOffset: Float32Array;
  /** 1 for a box that only marks where lines come in or go out. */
  port: Uint8Array;
}

export interface Level {
  /** Centres across, tops down, of boxes. */
  x: Float64Array;
  top: Float64Array;
  width: number;
  height: number;
  /** `pieceSize` numbers a piece. */
  pieces: Float32Array;
  lineStart: Int32Array;
  linePieces: Int32Array;
}

/** Width that a passing line keeps free. */
const lineWidth = 6;

/** Places one level: order within rows, places across, heights of rows. `topRow`: row 0 holds ports on the upper border. */
export function layeredLevel(input: LevelInput, options: LayoutOptions, topRow: boolean, bottomRow: boolean): Level {
  const chains = buildChains(input);
  const graph = rowGraph(input, chains);
  orderRanks(graph);
  const width = new Float32Array(chains.vertices);
  const line = new Uint8Array(chains.vertices).fill(1);
  width.set(input.width);
  width.fill(lineWidth, input.count);
  line.set(input.port);
  const x = placeRanks(graph, width, line, options.gap);
  const rows = placeRows(input, chains, graph, x, options, topRow, bottomRow);
  let right = 0;
  for (let v = 0; v < chains.vertices; v++) right = Math.max(right, x[v]! + width[v]! / 2);
  const top = new Float64Array(input.count);
  for (let v = 0; v < input.count; v++) {
    const row = input.row[v]!;
    top[v] = rows.top[row]! + (rows.height[row]! - input.height[v]!) / 2;
  }
  return {
    x: x.subarray(0, input.count),
    top,
    width: right,
    height: rows.total,
    pieces: drawPieces(input, chains, graph, x, rows),
    lineStart: chains.lineStart,
    linePieces: chains.linePieces,
  };
}

/** Vertices: the boxes, then one for each row that a bundle of lines passes. Steps join vertices of neighbouring rows. */
interface Chains {
  vertices: number;
  /** Row of each passing vertex, from index 0 = vertex `count`. */
  passRow: number[];
  stepFrom: Int32Array;
  stepTo: Int32Array;
  /** The line that a step was made for, for its offsets. */
  stepLine: Int32Array;
  lineStart: Int32Array;
  linePieces: Int32Array;
}

function buildChains({ count, row, lineFrom, lineTo, lineSignal }: LevelInput): Chains {
  const lines = lineFrom.length;
  const passRow: number[] = [];
  const stepFrom: number[] = [];
  const stepTo: number[] = [];
  const stepLine: number[] = [];
  const lineStart = new Int32Array(lines + 1);
  const linePieces: number[] = [];
  let chain: number[] = [];
  let source = -1;
  let signal = -1;
  for (let i = 0; i < lines; i++) {
    const from = lineFrom[i]!;
    if (from !== source || lineSignal[i] !== signal) {
      source = from;
      signal = lineSignal[i]!;
      chain = [];
    }
    const to = lineTo[i]!;
    const passes = row[to]! - row[from]! - 1;
    // chain[k]: the step into the bundle's vertex k rows below the source; extended by whoever needs it longer.
    for (let k = chain.length; k < passes; k++) {
      chain.push(stepFrom.length);
      stepFrom.push(k === 0 ? from : count + passRow.length - 1);
      stepTo.push(count + passRow.length);
      stepLine.push(i);
      passRow.push(row[from]! + k + 1);
    }
    for (let k = 0; k < passes; k++) linePieces.push(chain[k]!);
    linePieces.push(stepFrom.length);
    stepFrom.push(passes === 0 ? from : stepTo[chain[passes - 1]!]!);
    stepTo.push(to);
    stepLine.push(i);
    lineStart[i + 1] = linePieces.length;
  }
  return {
    vertices: count + passRow.length,
    passRow,
    stepFrom: Int32Array.from(stepFrom),
    stepTo: Int32Array.from(stepTo),
    stepLine: Int32Array.from(stepLine),
    lineStart,
    linePieces: Int32Array.from(linePieces),
  };
}

function rowGraph(input: LevelInput, chains: Chains): RowGraph {
  const { vertices, stepFrom, stepTo } = chains;
  const rowOf = (v: number) => (v < input.count ? input.row[v]! : chains.passRow[v - input.count]!);
  const [upStart, up] = neighbours(vertices, stepTo, stepFrom);
  const [downStart, down] = neighbours(vertices, stepFrom, stepTo);
  let rowCount = 0;
  for (let v = 0; v < vertices; v++) rowCount = Math.max(rowCount, rowOf(v) + 1);
  const rowStart = new Int32Array(rowCount + 1);
  for (let v = 0; v < vertices; v++) rowStart[rowOf(v) + 1]! += 1;
  for (let r = 0; r < rowCount; r++) rowStart[r + 1]! += rowStart[r]!;
  // First order: depth first from each vertex in turn, so that what hangs together starts out together.
  const order = new Int32Array(vertices);
  const next = rowStart.slice(0, rowCount);
  const seen = new Uint8Array(vertices);
  const stack: number[] = [];
  for (let first = 0; first < vertices; first++) {
    if (seen[first] === 1) continue;
    stack.push(first);
    while (stack.length > 0) {
      const v = stack.pop()!;
      if (seen[v] === 1) continue;
      seen[v] = 1;
      order[next[rowOf(v)]!] = v;
      next[rowOf(v)]! += 1;
      for (let k = downStart[v + 1]! - 1; k >= downStart[v]!; k--) if (seen[down[k]!] === 0) stack.push(down[k]!);
    }
  }
  return { rowStart, order, upStart, up, downStart, down };
}

function neighbours(count: number, keys: Int32Array, values: Int32Array): [Int32Array, Int32Array] {
  const start = new Int32Array(count + 1);
  for (let i = 0; i < keys.length; i++) start[keys[i]! + 1]! += 1;
  for (let v = 0; v < count; v++) start[v + 1]! += start[v]!;
  const next = start.slice(0, count);
  const list = new Int32Array(keys.length);
  for (let i = 0; i < keys.length; i++) {
    list[next[keys[i]!]!] = values[i]!;
    next[keys[i]!]! += 1;
  }
  return [start, list];
}

interface Rows {
  top: Float64Array;
  height: Float64Array;
  total: number;
}

function placeRows(
  input: LevelInput,
  chains: Chains,
  graph: RowGraph,
  x: Float64Array,
  options: LayoutOptions,
  topRow: boolean,
  bottomRow: boolean,
): Rows {
  const rowCount = graph.rowStart.length - 1;
  const height = new Float64Array(rowCount);
  for (let v = 0; v < input.count; v++) height[input.row[v]!] = Math.max(height[input.row[v]!]!, input.height[v]!);
  // Lines that run far to the side need more room to stay apart.
  const sideways = new Float64Array(rowCount + 1);
  const rowOf = (v: number) => (v < input.count ? input.row[v]! : chains.passRow[v - input.count]!);
  for (let s = 0; s < chains.stepFrom.length; s++) {
    const from = chains.stepFrom[s]!;
    const to = chains.stepTo[s]!;
    const row = rowOf(from);
    sideways[row] = Math.max(sideways[row]!, Math.abs(x[from]! - x[to]!));
  }
  const top = new Float64Array(rowCount);
  let y = topRow ? 0 : options.header;
  for (let r = 0; r < rowCount; r++) {
    top[r] = y;
    if (r === 0 && topRow) y = options.header;
    else if (r === rowCount - 1) y += height[r]!;
    else if (r === rowCount - 2 && bottomRow) y += height[r]! + options.padding;
    else y += height[r]! + options.rowGap * (1 + Math.min(1, sideways[r]! / 900));
  }
  return { top, height, total: bottomRow ? y : y + options.padding };
}

function drawPieces(input: LevelInput, chains: Chains, graph: RowGraph, x: Float64Array, rows: Rows): Float32Array {
  const { stepFrom, stepTo, stepLine } = chains;
  const pieces = new Float32Array(stepFrom.length * 5);
  const spread = spreadArrivals(input, chains, graph, x);
  const top = (v: number, row: number) => rows.top[row]! + (rows.height[row]! - input.height[v]!) / 2;
  for (let s = 0; s < stepFrom.length; s++) {
    const from = stepFrom[s]!;
    const to = stepTo[s]!;
    const line = stepLine[s]!;
    const at = s * 5;
    if (from < input.count) {
      pieces[at] = x[from]! + input.fromOffset[line]!;
      pieces[at + 1] = top(from, input.row[from]!) + input.height[from]!;
    } else {
      const row = chains.passRow[from - input.count]!;
      pieces[at] = x[from]!;
      pieces[at + 1] = rows.top[row]! + rows.height[row]!;
    }
    if (to < input.count) {
      const y = top(to, input.row[to]!);
      pieces[at + 2] = x[to]! + input.toOffset[line]! + spread[s]!;
      pieces[at + 3] = rows.top[input.row[to]!]!;
      pieces[at + 4] = y;
    } else {
      const row = chains.passRow[to - input.count]!;
      pieces[at + 2] = x[to]!;
      pieces[at + 3] = rows.top[row]!;
      pieces[at + 4] = rows.top[row]! + rows.height[row]!;
    }
  }
  return pieces;
}

/** Several lines into one small box arrive side by side, in the order in which they come. */
function spreadArrivals(
  { count, width, toOffset, port }: LevelInput,
  chains: Chains,
  graph: RowGraph,
  x: Float64Array,
): Float32Array {
  const { stepFrom, stepTo, stepLine } = chains;
  const spread = new Float32Array(stepFrom.length);
  const [start, steps] = neighbours(
    chains.vertices,
    stepTo,
    Int32Array.from(stepTo, (_, i) => i),
  );
  for (let v = 0; v < count; v++) {
    const begin = start[v]!;
    const arrivals = start[v + 1]! - begin;
    if (arrivals < 2 || port[v] === 1 || toOffset[stepLine[steps[begin]!]!] !== 0) continue;
    const sorted = steps
      .subarray(begin, begin + arrivals)
      .toSorted((a, b) => x[stepFrom[a]!]! - x[stepFrom[b]!]! || a - b);
    const pitch = Math.min(14, (width[v]! * 0.6) / (arrivals - 1));
    sorted.forEach((step, i) => (spread[step] = (i - (arrivals - 1) / 2) * pitch));
  }
  return spread;
}
