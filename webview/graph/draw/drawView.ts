import type { GraphModel, Picture } from '../view/graphModel.ts';
import type { Palette } from './palette.ts';

/** How much of the graph is seen: screen = graph × k + (x, y), in CSS pixels. */
export interface Camera {
  k: number;
  x: number;
  y: number;
}

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
  target: { kind: 'group'; group: number } | { kind: 'item'; item: number };
}

export type PlacedBox = Pick<LabelBox, 'x' | 'y' | 'width' | 'height'>;

const touch = (a: PlacedBox, b: PlacedBox): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** The area that two boxes have in common. */
const shared = (a: PlacedBox, b: PlacedBox): number =>
  Math.max(0, Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)) *
  Math.max(0, Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y));

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

  /** How much is there under a box, in CSS pixels squared; labels, which could no longer be read, count four times. */
  covered(box: PlacedBox): number {
    let area = 0;
    const last = Math.floor((box.y + box.height) / 32);
    for (let row = Math.floor(box.y / 32); row <= last; row++) {
      // Only what is in this row, so that a box of several rows counts once.
      const top = Math.max(box.y, row * 32);
      const part = { x: box.x, y: top, width: box.width, height: Math.min(box.y + box.height, row * 32 + 32) - top };
      for (const other of this.#cells.get(row) ?? []) area += shared(part, other);
    }
    for (const label of this.boxes) area += 3 * shared(box, label);
    return area;
  }

  /** Whether something is there. */
  hits(box: PlacedBox): boolean {
    const last = Math.floor((box.y + box.height) / 32);
    for (let row = Math.floor(box.y / 32); row <= last; row++) {
      for (const other of this.#cells.get(row) ?? []) {
        if (touch(box, other)) return true;
      }
    }
    return false;
  }

  #put(box: PlacedBox): void {
    const last = Math.floor((box.y + box.height) / 32);
    for (let row = Math.floor(box.y / 32); row <= last; row++) {
      const cell = this.#cells.get(row);
      if (cell === undefined) this.#cells.set(row, [box]);
      else cell.push(box);
    }
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

/** Letters are drawn in whole sizes, so that they stay sharp and are measured once. */
export const letterSize = (wanted: number, least: number, most: number): number =>
  Math.max(least, Math.min(most, Math.round(wanted)));

/** Letters smaller than this say nothing. */
const leastLetters = 5;

/**
 * Size on the screen of letters that grow with the picture; 0 where they are too small. In quarters of a pixel, never
 * more than asked for, so that what fits at scale 1 fits everywhere.
 */
export function scaledSize(size: number, scale: number): number {
  const scaled = Math.floor(size * scale * 4) / 4;
  return scaled < leastLetters ? 0 : scaled;
}
