import { buildChains, type LevelInput, rowGraph } from './chains.ts';
import type { LayoutOptions } from '../layoutTypes.ts';
import { drawPieces } from './linePieces.ts';
import { orderRanks } from './orderRanks.ts';
import { placeRanks } from './placeRanks.ts';
import { boxTop, placeRows } from './placeRows.ts';

export interface Level {
  /** Centers across, tops down, of boxes. */
  x: Float64Array;
  top: Float64Array;
  width: number;
  height: number;
  /** 1: in the first row of a column after the first. */
  begins: Int8Array;
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
  const rows = placeRows(input, chains, graph, x, width, options, topRow, bottomRow);
  const top = new Float64Array(input.count);
  const begins = new Int8Array(input.count);
  for (let v = 0; v < input.count; v++) {
    top[v] = boxTop(input, rows, v);
    const row = input.row[v]!;
    if (row > 0 && rows.column[row] !== rows.column[row - 1]) begins[v] = 1;
  }
  return {
    x: x.subarray(0, input.count),
    top,
    begins,
    width: rows.width,
    height: rows.height,
    ...drawPieces(input, chains, graph, x, rows),
  };
}
