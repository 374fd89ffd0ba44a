import { rowsBy } from '../layoutTypes.ts';
import type { RowGraph } from './orderRanks.ts';

/**
 * The boxes of one level and the lines between them. Lines are grouped: those of one source and one signal follow each
 * other, and run together for as long as they can.
 */
export interface LevelInput {
  count: number;
  /** Least height of the level: its lower border, with the ports on it, is there or below. */
  least: number;
  width: Float32Array;
  height: Float32Array;
  /** From 0, without gaps; every line leads to a later row. */
  row: Int32Array;
  lineFrom: Int32Array;
  lineTo: Int32Array;
  lineSignal: Int32Array;
  /** Where a line leaves or enters its box, from the box's center. */
  fromOffset: Float32Array;
  toOffset: Float32Array;
  /** 1 for a box that only marks where lines come in or go out. */
  port: Uint8Array;
  /** 1 for an open box: a line to it ends where its continuation inside begins. */
  open: Uint8Array;
  /** 1 for a constant. */
  constant: Uint8Array;
  /** 1: its row begins a column. */
  begins: Int8Array;
  /** Columns are to be chosen, no taller than this; Infinity: they are those that `begins` says. */
  room: number;
}

/** Vertices: the boxes, then one for each row that a bundle of lines passes. Steps join vertices of neighboring rows. */
export interface Chains {
  vertices: number;
  /** Row of each passing vertex, from index 0 = vertex `count`. */
  passRow: number[];
  stepFrom: Int32Array;
  stepTo: Int32Array;
  /** The line that a step was made for, for its offsets. */
  stepLine: Int32Array;
  lineStart: Int32Array;
  lineSteps: Int32Array;
}

/** Cuts lines into steps from row to row. */
export function buildChains({ count, row, lineFrom, lineTo, lineSignal }: LevelInput): Chains {
  const lines = lineFrom.length;
  const passRow: number[] = [];
  const stepFrom: number[] = [];
  const stepTo: number[] = [];
  const stepLine: number[] = [];
  const lineStart = new Int32Array(lines + 1);
  const lineSteps: number[] = [];
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
    // chain[k]: the step into the bundle's vertex k rows below the source; extended when a longer one is needed.
    for (let k = chain.length; k < passes; k++) {
      chain.push(stepFrom.length);
      stepFrom.push(k === 0 ? from : count + passRow.length - 1);
      stepTo.push(count + passRow.length);
      stepLine.push(i);
      passRow.push(row[from]! + k + 1);
    }
    for (let k = 0; k < passes; k++) lineSteps.push(chain[k]!);
    lineSteps.push(stepFrom.length);
    stepFrom.push(passes === 0 ? from : stepTo[chain[passes - 1]!]!);
    stepTo.push(to);
    stepLine.push(i);
    lineStart[i + 1] = lineSteps.length;
  }
  return {
    vertices: count + passRow.length,
    passRow,
    stepFrom: Int32Array.from(stepFrom),
    stepTo: Int32Array.from(stepTo),
    stepLine: Int32Array.from(stepLine),
    lineStart,
    lineSteps: Int32Array.from(lineSteps),
  };
}

/** The same as rows of vertices. */
export function rowGraph(input: LevelInput, chains: Chains): RowGraph {
  const { vertices, stepFrom, stepTo } = chains;
  const { start: upStart, list: up } = rowsBy(vertices, stepTo, stepFrom);
  const { start: downStart, list: down } = rowsBy(vertices, stepFrom, stepTo);
  let rowCount = 0;
  for (let v = 0; v < vertices; v++) rowCount = Math.max(rowCount, rowOf(input, chains, v) + 1);
  const rowStart = new Int32Array(rowCount + 1);
  for (let v = 0; v < vertices; v++) rowStart[rowOf(input, chains, v) + 1]! += 1;
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
      order[next[rowOf(input, chains, v)]!] = v;
      next[rowOf(input, chains, v)]! += 1;
      for (let k = downStart[v + 1]! - 1; k >= downStart[v]!; k--) if (seen[down[k]!] === 0) stack.push(down[k]!);
    }
  }
  return { rowStart, order, upStart, up, downStart, down };
}

/** Row of a box or of a passing vertex. */
export const rowOf = (input: LevelInput, { passRow }: Chains, v: number): number =>
  v < input.count ? input.row[v]! : passRow[v - input.count]!;
