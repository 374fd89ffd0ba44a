import { type LayoutResult, pieceSize } from '../../src/kernel/picture/layout/layoutTypes.ts';

/** A straight stretch of edges' lines; `edges` go along it. */
export interface Segment {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  edges: number[];
}

/** Our curves as straight stretches. */
export function segmentsOf({ pieces, edgeStart, edgePieces }: LayoutResult): Segment[] {
  const users: number[][] = Array.from({ length: pieces.length / pieceSize }, () => []);
  for (let e = 0; e + 1 < edgeStart.length; e++) {
    for (let i = edgeStart[e]!; i < edgeStart[e + 1]!; i++) users[edgePieces[i]!]!.push(e);
  }
  return users.flatMap((edges, piece) => {
    const [x0, y0, x1, y1, y2, c] = pieces.slice(piece * pieceSize, (piece + 1) * pieceSize) as unknown as number[];
    const turn = c! > Math.max(y0!, y1!) || c! < Math.min(y0!, y1!);
    const points: [number, number][] = turn
      ? [
          [x0!, y0!],
          [x0!, (y0! + 3 * c!) / 4],
          [x1!, (y1! + 3 * c!) / 4],
          [x1!, y2!],
        ]
      : [
          [x0!, y0!],
          [x1!, y1!],
          [x1!, y2!],
        ];
    return polyline(points, edges);
  });
}

export function polyline(points: [x: number, y: number][], edges: number[]): Segment[] {
  const segments: Segment[] = [];
  for (let i = 1; i < points.length; i++) {
    const [x0, y0] = points[i - 1]!;
    const [x1, y1] = points[i]!;
    if (x0 !== x1 || y0 !== y1) segments.push({ x0, y0, x1, y1, edges });
  }
  return segments;
}

/** Total length of all edges; a stretch that several share counts for each of them. */
export const totalLength = (segments: Segment[]): number =>
  segments.reduce((sum, { x0, y0, x1, y1, edges }) => sum + Math.hypot(x1 - x0, y1 - y0) * edges.length, 0);

/** Crossings of edges that have no node in common; a shared stretch counts for each edge on it. */
export function crossings(segments: Segment[], from: ArrayLike<number>, to: ArrayLike<number>): number {
  const sorted = segments.toSorted((a, b) => Math.min(a.y0, a.y1) - Math.min(b.y0, b.y1));
  let sum = 0;
  for (let i = 0; i < sorted.length; i++) {
    const a = sorted[i]!;
    const bottom = Math.max(a.y0, a.y1);
    for (let k = i + 1; k < sorted.length && Math.min(sorted[k]!.y0, sorted[k]!.y1) < bottom; k++) {
      const b = sorted[k]!;
      if (!cross(a, b)) continue;
      for (const e of a.edges) {
        for (const f of b.edges) {
          const apart = from[e] !== from[f] && to[e] !== to[f] && from[e] !== to[f] && to[e] !== from[f];
          if (apart) sum += 1;
        }
      }
    }
  }
  return sum;
}

function cross(a: Segment, b: Segment): boolean {
  const side = (s: Segment, x: number, y: number) => Math.sign((s.x1 - s.x0) * (y - s.y0) - (s.y1 - s.y0) * (x - s.x0));
  return side(a, b.x0, b.y0) * side(a, b.x1, b.y1) < 0 && side(b, a.x0, a.y0) * side(b, a.x1, a.y1) < 0;
}
