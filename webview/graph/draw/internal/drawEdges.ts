import { pieceSize } from '../../../../src/kernel/picture/layout/layoutTypes.ts';
import { errorStep, paints } from '../../../../src/kernel/picture/graph/overlay.ts';
import { itemTitle, shortTitle } from '../../../../src/kernel/picture/graph/scene.ts';
import type { Brush } from '../brush.ts';
import { type Frame, type LabelSpace, leastLetters, onScreen } from '../drawView.ts';
import { graphStrings } from '../../panels/graphStrings.ts';
import { errorLabel, judgedPoint } from '../../panels/accuracyDetails.ts';
import { tensorCard } from '../../panels/tensorDetails.ts';
import type { Picture } from '../../view/graphModel.ts';
import type { IsOnLine } from './lineFinder.ts';

/** Lines of edges; where the colors show errors, in the color of the error that they carry. */
export function drawEdges(brush: Brush, frame: Frame): void {
  const { palette, camera, model } = frame;
  const width = camera.k > 0.4 ? 1.2 : camera.k > 0.15 ? 0.8 : 0.5;
  if (model.overlay.kind !== 'accuracy') return drawPieces(brush, frame, palette.theme.strong, width, null);
  const { plain, steps } = piecesByError(frame);
  drawPieces(brush, frame, palette.theme.strong, width, plain);
  for (const [step, pieces] of steps.entries())
    if (pieces.length > 0) drawPieces(brush, frame, palette.strong(paints.time + step), 2 * width, pieces);
}

/** Pieces of edges: those that carry no known error, and those of each step of errors. */
interface PiecesByError {
  plain: number[];
  steps: number[][];
}

/** Errors are those of the picture's model, so they do not depend on where one looks. */
const byError = new WeakMap<Picture, PiecesByError>();

/** Of each piece, the step is that of the largest error that it carries. */
function piecesByError({ picture, model }: Frame): PiecesByError {
  const known = byError.get(picture);
  if (known !== undefined) return known;
  const { scene, layout } = picture;
  const stepOf = new Int8Array(layout.pieces.length / pieceSize).fill(-1);
  for (let edge = 0; edge < scene.from.length; edge++) {
    const node = judgedPoint(model, model.tensors.ofEdge(scene.edge[edge]!).producer);
    if (node === null) continue;
    const step = errorStep(node.propagatedError);
    for (let i = layout.edgeStart[edge]!; i < layout.edgeStart[edge + 1]!; i++) {
      const piece = layout.edgePieces[i]!;
      stepOf[piece] = Math.max(stepOf[piece]!, step);
    }
  }
  const found: PiecesByError = { plain: [], steps: Array.from({ length: paints.timeSteps }, () => []) };
  for (const [piece, step] of stepOf.entries()) (step < 0 ? found.plain : found.steps[step]!).push(piece);
  byError.set(picture, found);
  return found;
}

/** @param only the pieces to draw, in ascending order; null: all */
function drawPieces(brush: Brush, frame: Frame, color: string, width: number, only: readonly number[] | null): void {
  const { picture, camera } = frame;
  const { pieces } = picture.layout;
  const { k, x, y } = camera;
  const heads: number[] = [];
  brush.beginLines(color, width, false);
  const count = only?.length ?? pieces.length / pieceSize;
  for (let i = 0; i < count; i++) {
    const piece = only?.[i] ?? i;
    const at = piece * pieceSize;
    const y0 = pieces[at + 1]!;
    const y2 = pieces[at + 4]!;
    const x0 = pieces[at]!;
    const x1 = pieces[at + 2]!;
    const c = pieces[at + 5]!;
    const top = Math.min(y0, y2, c);
    const bottom = Math.max(y0, y2, c);
    if ((bottom - top) * k < 3 && Math.abs(x1 - x0) * k < 12) continue;
    if (!onScreen(frame, Math.min(x0, x1), top, Math.max(x0, x1), bottom, 4)) continue;
    brush.line(x0 * k + x, y0 * k + y, x1 * k + x, pieces[at + 3]! * k + y, y2 * k + y, c * k + y);
    if (k > 0.45 && picture.lastPiece[piece] === 1) heads.push(piece);
  }
  brush.endLines();
  for (const piece of heads) head(brush, frame, piece, color);
}

function head(brush: Brush, { picture, camera: { k, x, y } }: Frame, piece: number, color: string): void {
  const at = piece * pieceSize;
  const { pieces } = picture.layout;
  brush.tip(pieces[at + 2]! * k + x, pieces[at + 4]! * k + y, Math.max(4, 6 * Math.min(1.2, k)), color);
}

/** Edges of what is selected or under the pointer, in the focus color. */
export function drawLitEdges(brush: Brush, frame: Frame): void {
  const { selected, hovered, litEdges, picture, palette, camera } = frame;
  const { scene, layout } = picture;
  if (selected === null && hovered < 0 && litEdges.size === 0) return;
  const lit = new Set<number>();
  const light = (edge: number) => {
    for (let i = layout.edgeStart[edge]!; i < layout.edgeStart[edge + 1]!; i++) lit.add(layout.edgePieces[i]!);
  };
  for (const edge of litEdges) light(edge);
  let many = 0;
  if (selected !== null) {
    for (let edge = 0; edge < scene.from.length && many < 4000; edge++) {
      const a = selected[scene.from[edge]!]! > 0;
      const b = selected[scene.to[edge]!]! > 0;
      if (a === b) continue;
      many += 1;
      light(edge);
    }
  }
  if (hovered >= 0) {
    for (let i = picture.outStart[hovered]!; i < picture.outStart[hovered + 1]!; i++) light(picture.outEdges[i]!);
    for (let i = picture.inStart[hovered]!; i < picture.inStart[hovered + 1]!; i++) light(picture.inEdges[i]!);
  }
  if (lit.size === 0) return;
  const { k, x, y } = camera;
  brush.beginLines(palette.theme.focus, 2, false);
  for (const piece of lit) {
    const at = piece * pieceSize;
    const p = layout.pieces;
    const [x0, y0, x1, y1, y2, c] = p.subarray(at, at + pieceSize) as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    brush.line(x0 * k + x, y0 * k + y, x1 * k + x, y1 * k + y, y2 * k + y, c * k + y);
  }
  brush.endLines();
  if (k > 0.45)
    for (const piece of lit) if (picture.lastPiece[piece] === 1) head(brush, frame, piece, palette.theme.focus);
}

/** Ends of edges that are not drawn: the name of what is at the other end, next to the box, which leads there. */
export function drawPortals(brush: Brush, frame: Frame, labels: LabelSpace, isOnLine: IsOnLine): void {
  const { picture, camera, model } = frame;
  const { scene } = picture;
  if (camera.k < 0.3) return;
  for (const [item, edges] of picture.portalsOut) {
    if (!visible(frame, item)) continue;
    const [first] = edges;
    const target = scene.to[first!]!;
    const text = edges.length === 1 ? `→ ${nameOf(frame, target)}` : graphStrings.portalTo(edges.length);
    drawChip(brush, frame, labels, isOnLine, { item, text, target, leaves: true });
  }
  for (const [item, edges] of picture.portalsIn) {
    // What a constant is says the constant itself, next to what reads it first.
    const sources = edges.map((edge) => scene.from[edge]!).filter((source) => !isConstant(model, scene, source));
    const [source] = sources;
    if (source === undefined || !visible(frame, item)) continue;
    const more = sources.length > 1 ? ` +${sources.length - 1}` : '';
    const text = graphStrings.portalFrom(nameOf(frame, source)) + more;
    drawChip(brush, frame, labels, isOnLine, { item, text, target: source, leaves: false });
  }
}

const isConstant = ({ graph }: Frame['model'], { kind, ref }: Picture['scene'], item: number): boolean =>
  kind[item] === 'node' && graph.data.nodes[ref[item]!]!.op === 'Constant';

/** An item as its box names it, a node by what tells it from others of its operator. */
function nameOf({ model, picture: { scene } }: Frame, item: number): string {
  const own = scene.kind[item] === 'node' ? shortTitle(model.graph, model.hierarchy, scene.ref[item]!) : '';
  return own === '' ? itemTitle(model.graph, model.hierarchy, scene, item) : own;
}

/** The end of an edge at an item, the name of what is at the other end, and that item. */
interface Chip {
  item: number;
  text: string;
  target: number;
  leaves: boolean;
}

/** Next to a box, rather off lines; nothing where there is no room. */
function drawChip(
  brush: Brush,
  frame: Frame,
  labels: LabelSpace,
  isOnLine: IsOnLine,
  { item, text, target, leaves }: Chip,
): void {
  const { picture, camera, palette } = frame;
  const { layout } = picture;
  const size = leastLetters;
  const fitted = frame.fit(text, 150, size, false, 'end');
  if (fitted === '') return;
  const [width, height] = [frame.fit.width(fitted, size, false) + 10, size + 5];
  const left = layout.x[item]! * camera.k + camera.x;
  const top = layout.y[item]! * camera.k + camera.y;
  const [right, bottom] = [left + layout.width[item]! * camera.k, top + layout.height[item]! * camera.k];
  const stub = 8;
  const middle = (top + bottom - height) / 2;
  // What leaves a box is at its right or below it, what enters it at its left or above it.
  const level = leaves ? bottom + stub : top - stub - height;
  const sides: [x: number, y: number][] = [
    [right + stub, middle],
    [left - stub - width, middle],
  ];
  const places = [...(leaves ? sides : sides.toReversed()), [right - width, level] as const, [left, level] as const];
  const clear = places.filter(([x, y]) => !isOnLine({ x, y, width, height }, 0));
  for (const [x, y] of [...clear, ...places]) {
    const box = { x, y, width, height, target: { kind: 'item', item: target } as const };
    if (!labels.take(box)) continue;
    brush.beginLines(palette.theme.strong, 1.2, true);
    if (y === middle) {
      const [from, to] = x > left ? [right, x] : [x + width, left];
      brush.line(from, y + height / 2, to, y + height / 2, y + height / 2, y + height / 2);
    } else {
      const at = x + width / 2;
      const [from, to] = leaves ? [bottom, y] : [y + height, top];
      brush.line(at, from, at, to, to, (from + to) / 2);
    }
    brush.endLines();
    brush.box(x, y, width, height, {
      fill: palette.theme.background,
      stroke: palette.theme.strong,
      radius: height / 2,
      dashed: true,
    });
    brush.text(fitted, x + width / 2, y + height / 2, { size, color: palette.theme.muted, align: 'center' });
    return;
  }
}

function visible(frame: Frame, item: number): boolean {
  const { layout } = frame.picture;
  const x = layout.x[item]!;
  const y = layout.y[item]!;
  return (
    layout.height[item]! * frame.camera.k > 12 &&
    onScreen(frame, x, y, x + layout.width[item]!, y + layout.height[item]!, 40)
  );
}

/** Type and shape on edges: where there is room when zoomed in, and always on those of the node under the pointer and on selected ones. */
export function drawEdgeLabels(brush: Brush, frame: Frame, labels: LabelSpace): void {
  const { picture, camera, hovered, litEdges } = frame;
  const { layout, scene } = picture;
  const close = camera.k >= 1.15;
  if (!close && ((hovered < 0 && litEdges.size === 0) || camera.k < 0.5)) return;
  const seen = new Set<string>();
  for (let edge = 0; edge < scene.from.length; edge++) {
    const touched = scene.from[edge] === hovered || scene.to[edge] === hovered || litEdges.has(edge);
    if (!close && !touched) continue;
    const first = layout.edgeStart[edge]!;
    if (first === layout.edgeStart[edge + 1]!) continue;
    // At the reader's end when the pointer is there, else at the source, where edges of one tensor are still one line.
    const piece = layout.edgePieces[scene.to[edge] === hovered ? layout.edgeStart[edge + 1]! - 1 : first]!;
    label(brush, frame, labels, edge, piece, seen);
  }
}

function label(brush: Brush, frame: Frame, labels: LabelSpace, edge: number, piece: number, seen: Set<string>): void {
  const { picture, camera, palette, model } = frame;
  const at = piece * pieceSize;
  const p = picture.layout.pieces;
  const x = ((p[at]! + p[at + 2]!) / 2) * camera.k + camera.x;
  const y = ((p[at + 1]! + p[at + 3]!) / 2) * camera.k + camera.y;
  if (x < 0 || y < 0 || x > frame.width || y > frame.height) return;
  const origin = model.tensors.ofEdge(picture.scene.edge[edge]!);
  const key = `${piece}/${origin.name}`;
  if (seen.has(key)) return;
  seen.add(key);
  const parts = [tensorCard(model, origin), errorLabel(model, origin)];
  const text = parts.filter((part) => part !== '').join(' · ');
  if (text === '') return;
  const size = leastLetters;
  const width = frame.fit.width(text, size, false) + 8;
  const box = {
    x: x + 4,
    y: y - 8,
    width,
    height: 15,
    target: { kind: 'item', item: picture.scene.from[edge]! } as const,
  };
  if (!labels.take(box)) return;
  brush.box(box.x, box.y, width, box.height, { fill: palette.theme.background, radius: 3 });
  brush.text(text, box.x + 4, y, { size, color: palette.theme.muted });
}
