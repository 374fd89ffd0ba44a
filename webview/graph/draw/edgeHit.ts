import type { Camera } from './brush.ts';
import { pieceSize } from '../../../src/kernel/picture/layout/layoutTypes.ts';
import type { TensorOrigin } from '../../../src/kernel/picture/graph/graphIndex.ts';
import type { GraphModel, Picture } from '../view/graphModel.ts';

/** How far from a line the pointer may be, in CSS pixels. */
const reach = 5;
/** A curve is followed in this many straight steps. */
const steps = 12;

/** The edges of the picture whose common line is next to a point of the screen; [] for none. */
export function edgesAt(picture: Picture, { k, x, y }: Camera, screenX: number, screenY: number): number[] {
  const piece = nearestPiece(picture, (screenX - x) / k, (screenY - y) / k, reach / k);
  if (piece < 0) return [];
  const { edgeStart, edgePieces } = picture.layout;
  const found: number[] = [];
  for (let edge = 0; edge < picture.scene.from.length; edge++) {
    for (let i = edgeStart[edge]!; i < edgeStart[edge + 1]!; i++) {
      if (edgePieces[i] !== piece) continue;
      found.push(edge);
      break;
    }
  }
  return found;
}

function nearestPiece({ layout: { pieces } }: Picture, px: number, py: number, within: number): number {
  let best = -1;
  let least = within;
  for (let piece = 0; piece < pieces.length / pieceSize; piece++) {
    const at = piece * pieceSize;
    const x0 = pieces[at]!;
    const y0 = pieces[at + 1]!;
    const x1 = pieces[at + 2]!;
    const y1 = pieces[at + 3]!;
    const y2 = pieces[at + 4]!;
    if (px < Math.min(x0, x1) - within || px > Math.max(x0, x1) + within) continue;
    if (py < Math.min(y0, y1, y2) - within || py > Math.max(y0, y1, y2) + within) continue;
    const distance = distanceTo([x0, y0, x1, y1, y2, pieces[at + 5]!], px, py);
    if (distance < least) {
      least = distance;
      best = piece;
    }
  }
  return best;
}

export type LinePiece = [x0: number, y0: number, x1: number, y1: number, y2: number, c: number];

/** The point of a piece's curve, see LayoutResult, at 0 (its start) … 1 (where it becomes straight). */
export function curveAt([x0, y0, x1, y1, , c]: LinePiece, t: number): [x: number, y: number] {
  const u = 1 - t;
  return [u * u * (u + 3 * t) * x0 + t * t * (t + 3 * u) * x1, u * u * u * y0 + 3 * u * t * c + t * t * t * y1];
}

/** From a point to a piece of a line. */
function distanceTo(piece: LinePiece, px: number, py: number): number {
  const [x0, y0, x1, y1, y2] = piece;
  let [lastX, lastY] = [x0, y0];
  let least = toSegment(px, py, x1, y1, x1, y2);
  for (let step = 1; step <= steps; step++) {
    const [x, y] = curveAt(piece, step / steps);
    least = Math.min(least, toSegment(px, py, lastX, lastY, x, y));
    [lastX, lastY] = [x, y];
  }
  return least;
}

function toSegment(px: number, py: number, ax: number, ay: number, bx: number, by: number): number {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.max(0, Math.min(1, ((px - ax) * dx + (py - ay) * dy) / length));
  return Math.hypot(px - ax - t * dx, py - ay - t * dy);
}

/** The tensors that some edges of the picture carry, each once, in the graph's order. */
export function tensorsOf({ graph, tensors, picture }: GraphModel, edges: readonly number[]): TensorOrigin[] {
  const { scene } = picture!;
  const found = new Map<string, TensorOrigin>();
  for (const edge of edges) {
    const [from, to] = [scene.from[edge]!, scene.to[edge]!];
    // An edge between closed modules stands for all that leave the one for the other.
    const every = scene.weight[edge]! > 1 ? graph.from.keys() : [scene.edge[edge]!].values();
    for (const e of every) {
      if (scene.itemOfPoint[graph.from[e]!] !== from || scene.itemOfPoint[graph.to[e]!] !== to) continue;
      const origin = tensors.ofEdge(e);
      found.set(`${origin.producer}\n${origin.name}`, origin);
    }
  }
  return [...found.values()];
}

/** The edges of the picture that carry some of these tensors. */
export function edgesOf({ graph, picture }: GraphModel, origins: readonly TensorOrigin[]): number[] {
  const { scene, outStart, outEdges } = picture!;
  const found = new Set<number>();
  for (const { producer, name } of origins) {
    const from = scene.itemOfPoint[producer]!;
    const readers = new Set<number>();
    for (let i = graph.outStart[producer]!; i < graph.outStart[producer + 1]!; i++) {
      const edge = graph.outEdges[i]!;
      if (graph.tensorNames[graph.tensor[edge]!] === name) readers.add(scene.itemOfPoint[graph.to[edge]!]!);
    }
    for (let i = outStart[from]!; i < outStart[from + 1]!; i++) {
      const edge = outEdges[i]!;
      if (readers.has(scene.to[edge]!)) found.add(edge);
    }
  }
  return [...found];
}
