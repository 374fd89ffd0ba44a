import type { Camera } from './brush.ts';
import type { GraphModel, Picture } from '../view/graphModel.ts';
import type { Palette } from './palette.ts';

/** Everything that one frame shows. */
export interface Frame {
  model: GraphModel;
  picture: Picture;
  camera: Camera;
  width: number;
  height: number;
  palette: Palette;
  fit: FitText;
  /** Per item: 1 some of its points are selected, 2 all of them. null: no selection. */
  selected: Uint8Array | null;
  /** Per item: search hits in it. */
  hits: Uint32Array | null;
  /** Per point: 1 where the legend's filter takes it out. */
  dimmed: Uint8Array | null;
  focused: number;
  hovered: number;
  /** Edges of the picture that are selected or under the pointer. */
  litEdges: ReadonlySet<number>;
  /** The selected group, for which everything else is dimmed, and the group under the pointer; -1 for none. */
  group: number;
  pointed: number;
}

/** Texts in the page's font. */
export interface FitText {
  /** A text cut to a width; '' if nothing readable is left. */
  (text: string, width: number, size: number, bold: boolean, keep: 'start' | 'end'): string;
  width(text: string, size: number, bold: boolean): number;
}

/** A label that can be clicked, on the screen. */
export interface LabelBox {
  x: number;
  y: number;
  width: number;
  height: number;
  target: { kind: 'group'; group: number } | { kind: 'kernel'; layer: number } | { kind: 'item'; item: number };
}

export type PlacedBox = Pick<LabelBox, 'x' | 'y' | 'width' | 'height'>;

const touch = (a: PlacedBox, b: PlacedBox): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** The area that two boxes have in common. */
const shared = (a: PlacedBox, b: PlacedBox): number =>
  Math.max(0, Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)) *
  Math.max(0, Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y));

/** Boxes are sorted by where they are, in cells of so many CSS pixels. */
const cellSize = [256, 32] as const;

/** Keeps labels off boxes and off each other: first come, first served. */
export class LabelSpace {
  readonly #cells = new Map<number, PlacedBox[]>();
  readonly boxes: LabelBox[] = [];

  /** Nothing may be written here. */
  block(box: PlacedBox): void {
    this.#put(box);
  }

  /** Takes the place whatever is there. */
  force(box: LabelBox): void {
    this.#put(box);
    this.boxes.push(box);
  }

  /** false: something already exists. */
  take(box: LabelBox): boolean {
    if (this.hits(box)) return false;
    this.force(box);
    return true;
  }

  /** Whether another label is there, whatever else is. */
  onLabel(box: PlacedBox): boolean {
    return this.boxes.some((label) => touch(box, label));
  }

  /** How much is there under a box, in CSS pixels squared; labels, which could no longer be read, count four times. */
  covered(box: PlacedBox): number {
    let area = 0;
    this.#inCells(box, (cell, column, row) => {
      // Only what is in this cell, so that a box of several cells counts once.
      const [wide, high] = cellSize;
      const [x, y] = [Math.max(box.x, column * wide), Math.max(box.y, row * high)];
      const width = Math.min(box.x + box.width, (column + 1) * wide) - x;
      const height = Math.min(box.y + box.height, (row + 1) * high) - y;
      for (const other of cell) area += shared({ x, y, width, height }, other);
      return false;
    });
    for (const label of this.boxes) area += 3 * shared(box, label);
    return area;
  }

  /** Whether something is there. */
  hits(box: PlacedBox): boolean {
    // Asked for hundreds of places in the first frame, before anything of it is compiled.
    const [wide, high] = cellSize;
    const [right, bottom] = [box.x + box.width, box.y + box.height];
    for (let row = Math.floor(box.y / high); row <= Math.floor(bottom / high); row++)
      for (let column = Math.floor(box.x / wide); column <= Math.floor(right / wide); column++)
        for (const other of this.#cells.get(row * 4096 + column) ?? []) if (touch(box, other)) return true;
    return false;
  }

  #put(box: PlacedBox): void {
    this.#inCells(box, (cell) => {
      cell.push(box);
      return false;
    });
  }

  /** Visits the cells that a box is in until a visit gives true. */
  #inCells(box: PlacedBox, visit: (cell: PlacedBox[], column: number, row: number) => boolean): boolean {
    const [wide, high] = cellSize;
    const [right, bottom] = [box.x + box.width, box.y + box.height];
    for (let row = Math.floor(box.y / high); row <= Math.floor(bottom / high); row++)
      for (let column = Math.floor(box.x / wide); column <= Math.floor(right / wide); column++) {
        const key = row * 4096 + column;
        let cell = this.#cells.get(key);
        if (cell === undefined) this.#cells.set(key, (cell = []));
        if (visit(cell, column, row)) return true;
      }
    return false;
  }
}

/** Whether a rectangle of the graph is on the screen, with a margin of the screen's pixels. */
export function onScreen(
  { camera: { k, x, y }, width, height }: Frame,
  left: number,
  top: number,
  right: number,
  bottom: number,
  margin = 12,
): boolean {
  return (
    right * k + x >= -margin &&
    left * k + x <= width + margin &&
    bottom * k + y >= -margin &&
    top * k + y <= height + margin
  );
}

/** No letters on the graph are smaller than this, in CSS pixels: where they have no room, less is written, or nothing. */
export const leastLetters = 11;

/** Below this scale boxes within a boundary have no text: the group's name is over them. */
export const nameScale = 0.5;

/** Letters are drawn in whole sizes, so that they stay sharp and are measured once. */
export const letterSize = (wanted: number, most: number): number =>
  Math.max(leastLetters, Math.min(most, Math.round(wanted)));

/**
 * Letters that grow with the picture and never shrink below what can be read. In quarters of a pixel, never more than
 * asked for, so that what fits at scale 1 fits at every larger one.
 */
export const scaledSize = (size: number, scale: number): number =>
  Math.max(leastLetters, Math.floor(size * scale * 4) / 4);

/** As much of a text as fits in so many CSS pixels in letters of that size at scale 1. */
export function fitScaled(
  { fit, camera: { k } }: Pick<Frame, 'fit' | 'camera'>,
  text: string,
  room: number,
  size: number,
  bold: boolean,
  keep: 'start' | 'end',
): string {
  // At every scale at which letters grow, what fits is the same.
  return scaledSize(size, k) > leastLetters
    ? fit(text, room / k, size, bold, keep)
    : fit(text, room, leastLetters, bold, keep);
}
