import { buildChains, type LevelInput, rowGraph } from './chains.ts';
import type { LayoutOptions } from '../layoutTypes.ts';
import { drawPieces } from './linePieces.ts';
import { orderRanks } from './orderRanks.ts';
import { packRanks, placeRanks } from './placeRanks.ts';
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

/**
 * Places one level: order within rows, places across, heights of rows. `topRow`: row 0 holds ports on the upper border.
 * With `room` columns are chosen; boxes are packed then, and there are no lines.
 */
export function layeredLevel(input: LevelInput, options: LayoutOptions, topRow: boolean, bottomRow: boolean): Level {
  const { gap, room } = options;
  const chains = buildChains(input);
  const graph = rowGraph(input, chains);
  const width = new Float32Array(chains.vertices);
  width.set(input.width);
  width.fill(lineWidth, input.count);
  const line = new Uint8Array(chains.vertices).fill(1);
  line.set(input.port);
  if (room === undefined) orderRanks(graph);
  const x = room === undefined ? placeRanks(graph, width, line, gap) : packRanks(graph, width, line, gap);
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
    ...(room !== undefined ? noPieces(input) : drawPieces(input, chains, graph, x, rows)),
  };
}

const noPieces = ({ lineFrom }: LevelInput): Pick<Level, 'pieces' | 'lineStart' | 'linePieces'> => ({
  pieces: new Float32Array(0),
  lineStart: new Int32Array(lineFrom.length + 1),
  linePieces: new Int32Array(0),
});
