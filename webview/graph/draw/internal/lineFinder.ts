import { pieceSize } from '../../../../src/kernel/picture/layout/layoutTypes.ts';
import type { Frame, PlacedBox } from '../drawView.ts';
import { curveAt, type LinePiece } from '../edgeHit.ts';

/** A curve is followed in this many straight steps. */
const steps = 6;

/** Lines are sorted by where they are, in stripes of so many CSS pixels. */
const stripe = 64;

/** Whether a box of the screen, or what is closer to it than `gap` CSS pixels, is on a line. */
export type IsOnLine = (box: PlacedBox, gap: number) => boolean;

/** Finds the lines of edges and around open modules; looks for them when first asked. */
export function lineFinder(frame: Frame): IsOnLine {
  let lines: Line[][] | null = null;
  return (box, gap) => {
    lines ??= linesOf(frame);
    const [left, top] = [box.x - gap, box.y - gap];
    const [right, bottom] = [box.x + box.width + gap, box.y + box.height + gap];
    const isIn = (x0: number, y0: number, x1: number, y1: number): boolean =>
      Math.min(x0, x1) < right && Math.max(x0, x1) > left && Math.min(y0, y1) < bottom && Math.max(y0, y1) > top;
    for (let row = rowOf(top); row <= rowOf(bottom); row++)
      for (const line of lines[row] ?? []) {
        if (!isIn(line.left, line.top, line.right, line.bottom)) continue;
        if (line.piece === null) {
          const within = left > line.left && right < line.right && top > line.top && bottom < line.bottom;
          if (!within) return true;
        } else if (isOnPiece(line.piece, isIn)) return true;
      }
    return false;
  };
}

const rowOf = (y: number): number => Math.max(0, Math.floor(y / stripe));

function isOnPiece(piece: LinePiece, isIn: (x0: number, y0: number, x1: number, y1: number) => boolean): boolean {
  const [x0, y0, x1, y1, y2] = piece;
  if (isIn(x1, y1, x1, y2)) return true;
  let [lastX, lastY] = [x0, y0];
  for (let step = 1; step <= steps; step++) {
    const [x, y] = curveAt(piece, step / steps);
    if (isIn(lastX, lastY, x, y)) return true;
    [lastX, lastY] = [x, y];
  }
  return false;
}

/** On the screen: the box around a piece of an edge, or an open module, of which the border is the line. */
interface Line {
  left: number;
  top: number;
  right: number;
  bottom: number;
  piece: LinePiece | null;
}

/** The lines that are on the screen, by stripe. */
function linesOf(frame: Frame): Line[][] {
  const { scene, layout } = frame.picture;
  const { k, x, y } = frame.camera;
  const rows: Line[][] = [];
  const put = (left: number, top: number, right: number, bottom: number, at: number): void => {
    if (left > frame.width || right < 0 || top > frame.height || bottom < 0) return;
    const piece: LinePiece | null =
      at < 0
        ? null
        : [
            p[at]! * k + x,
            p[at + 1]! * k + y,
            p[at + 2]! * k + x,
            p[at + 3]! * k + y,
            p[at + 4]! * k + y,
            p[at + 5]! * k + y,
          ];
    const line = { left, top, right, bottom, piece };
    const last = rowOf(Math.min(bottom, frame.height));
    for (let row = rowOf(top); row <= last; row++) (rows[row] ??= []).push(line);
  };
  const p = layout.pieces;
  for (let at = 0; at < p.length; at += pieceSize) {
    const y0 = p[at + 1]!;
    const y2 = p[at + 4]!;
    const c = p[at + 5]!;
    const top = Math.min(y0, y2, c) * k + y;
    const bottom = Math.max(y0, y2, c) * k + y;
    const x0 = p[at]! * k + x;
    const x1 = p[at + 2]! * k + x;
    put(Math.min(x0, x1), top, Math.max(x0, x1), bottom, at);
  }
  for (let item = 0; item < scene.kind.length; item++) {
    if (scene.kind[item] !== 'open') continue;
    const left = layout.x[item]! * k + x;
    const top = layout.y[item]! * k + y;
    put(left, top, left + layout.width[item]! * k, top + layout.height[item]! * k, -1);
  }
  return rows;
}
