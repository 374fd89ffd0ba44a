import type { Outline } from '../../../src/kernel/picture/graph/fusionGroups.ts';
import { visibleRuns, type Corner } from './internal/visibleRuns.ts';

/** How much of the graph is seen: screen = graph × k + (x, y), in CSS pixels. */
export interface Camera {
  k: number;
  x: number;
  y: number;
}

/** A fill: a color, or stripes of a color over another, `crossed` by others. */
export type Fill = string | { stripes: string; over: string; crossed?: true };

export interface BoxStyle {
  fill?: Fill;
  stroke?: string;
  lineWidth?: number;
  dashed?: boolean;
  radius?: number;
}

export interface TextStyle {
  size: number;
  color: string;
  bold?: boolean;
  align?: 'left' | 'center' | 'right';
}

/** What a picture is drawn with, in CSS pixels of the screen or of the exported page. One for a canvas, one for SVG. */
export interface Brush {
  box(x: number, y: number, width: number, height: number, style: BoxStyle): void;
  /** An area with rounded corners; what is inside an even number of loops is not filled. `radius` is in pixels of the screen. */
  shape(loops: Outline, camera: Camera, style: BoxStyle): void;
  /** A curve from x0, y0 to x1, y1 with its control points at the height c, then straight to x1, y2. */
  line(x0: number, y0: number, x1: number, y1: number, y2: number, c: number): void;
  /** Every line belongs between these two. */
  beginLines(color: string, lineWidth: number, dashed: boolean): void;
  endLines(): void;
  /** `y` is the middle of the letters. The text is drawn whole: fit it before. */
  text(text: string, x: number, y: number, style: TextStyle): void;
  /** A small filled triangle that points down (an arrow's head), its tip at x, y. */
  tip(x: number, y: number, size: number, color: string): void;
}

/** The corners of a loop on the screen; no rounder than half of the shorter side allows. */
export function roundedCorners(loop: readonly number[], { k, x: dx, y: dy }: Camera, radius: number): Corner[] {
  const corners: Corner[] = [];
  const count = loop.length;
  for (let i = 0; i < count; i += 2) {
    const x = loop[i]! * k + dx;
    const y = loop[i + 1]! * k + dy;
    const toward = (at: number): [number, number] => {
      const [sx, sy] = [loop[at]! * k + dx - x, loop[at + 1]! * k + dy - y];
      const length = Math.hypot(sx, sy);
      const share = length === 0 ? 0 : Math.min(radius, length / 2) / length;
      return [x + sx * share, y + sy * share];
    };
    const [x0, y0] = toward((i - 2 + count) % count);
    const [x1, y1] = toward((i + 2) % count);
    corners.push({ x0, y0, x, y, x1, y1 });
  }
  return corners;
}

/** Draws on a canvas. */
export class CanvasBrush implements Brush {
  readonly #context: CanvasRenderingContext2D;
  readonly #family: string;
  /** Of the canvas, in CSS pixels. */
  readonly #size: { width: number; height: number };
  readonly #patterns = new Map<string, CanvasPattern | null>();
  #lines = 0;
  #lineWidth = 1;
  #dashed = false;
  #font = '';

  constructor(context: CanvasRenderingContext2D, family: string) {
    this.#context = context;
    this.#family = family;
    const { a: ratio } = context.getTransform();
    this.#size = { width: context.canvas.width / ratio, height: context.canvas.height / ratio };
    context.textBaseline = 'middle';
    // Letters of any size are as wide as their size says.
    context.textRendering = 'geometricPrecision';
  }

  box(
    x: number,
    y: number,
    width: number,
    height: number,
    { fill, stroke, lineWidth, dashed, radius }: BoxStyle,
  ): void {
    const context = this.#context;
    const round = radius !== undefined && radius > 1.5;
    if (round || stroke !== undefined) {
      context.beginPath();
      if (round) context.roundRect(x, y, width, height, Math.min(radius, width / 2, height / 2));
      else context.rect(x, y, width, height);
    }
    if (fill !== undefined) {
      context.fillStyle = this.#paint(fill);
      if (round) context.fill();
      else context.fillRect(x, y, width, height);
    }
    if (stroke !== undefined) this.#outline(stroke, lineWidth, dashed);
  }

  shape(loops: Outline, camera: Camera, { fill, stroke, lineWidth, dashed, radius }: BoxStyle): void {
    const context = this.#context;
    const outlines = loops.map((loop) => roundedCorners(loop, camera, radius ?? 0));
    if (fill !== undefined) {
      context.beginPath();
      for (const corners of outlines) {
        corners.forEach(({ x0, y0, x, y, x1, y1 }, i) => {
          if (i === 0) context.moveTo(x0, y0);
          else context.lineTo(x0, y0);
          context.quadraticCurveTo(x, y, x1, y1);
        });
        context.closePath();
      }
      context.fillStyle = this.#paint(fill);
      context.fill('evenodd');
    }
    if (stroke === undefined) return;
    for (const corners of outlines) {
      for (const { x, y, steps, from, closed } of visibleRuns(corners, this.#size, (lineWidth ?? 1) + 2)) {
        context.beginPath();
        context.moveTo(x, y);
        for (const [a, b, c, d] of steps as [number, number, number?, number?][])
          if (c === undefined || d === undefined) context.lineTo(a, b);
          else context.quadraticCurveTo(a, b, c, d);
        if (closed) context.closePath();
        context.lineDashOffset = from;
        this.#outline(stroke, lineWidth, dashed);
      }
    }
    context.lineDashOffset = 0;
  }

  #paint(fill: Fill): string | CanvasPattern {
    return typeof fill === 'string' ? fill : (this.#stripes(fill) ?? fill.stripes);
  }

  #outline(stroke: string, lineWidth: number | undefined, dashed: boolean | undefined): void {
    const context = this.#context;
    context.strokeStyle = stroke;
    context.lineWidth = lineWidth ?? 1;
    if (dashed === true) context.setLineDash([4, 3]);
    context.stroke();
    if (dashed === true) context.setLineDash([]);
  }

  beginLines(color: string, lineWidth: number, dashed: boolean): void {
    const context = this.#context;
    context.strokeStyle = context.fillStyle = color;
    context.lineWidth = this.#lineWidth = lineWidth;
    this.#dashed = dashed;
    if (dashed) context.setLineDash([5, 4]);
    context.beginPath();
    this.#lines = 0;
  }

  line(x0: number, y0: number, x1: number, y1: number, y2: number, c: number): void {
    const context = this.#context;
    const straight = Math.abs(x1 - x0) < 0.5;
    // A rectangle is far cheaper than a stroke.
    if (straight && !this.#dashed) {
      context.fillRect(x0 - this.#lineWidth / 2, Math.min(y0, y2), this.#lineWidth, Math.abs(y2 - y0));
      return;
    }
    context.moveTo(x0, y0);
    if (straight) context.lineTo(x1, y2);
    else {
      if (Math.abs(y1 - y0) < 10 && c === (y0 + y1) / 2) context.lineTo(x1, y1);
      else context.bezierCurveTo(x0, c, x1, c, x1, y1);
      if (y2 !== y1) context.lineTo(x1, y2);
    }
    this.#lines += 1;
    // Long paths take more than their share of time.
    if (this.#lines % 128 === 0) {
      context.stroke();
      context.beginPath();
    }
  }

  endLines(): void {
    this.#context.stroke();
    if (this.#dashed) this.#context.setLineDash([]);
  }

  text(text: string, x: number, y: number, { size, color, bold, align }: TextStyle): void {
    const context = this.#context;
    const font = `${bold === true ? '600 ' : ''}${size}px ${this.#family}`;
    if (font !== this.#font) {
      context.font = font;
      this.#font = font;
    }
    context.textAlign = align ?? 'left';
    context.fillStyle = color;
    context.fillText(text, x, y + size * 0.06);
  }

  tip(x: number, y: number, size: number, color: string): void {
    const context = this.#context;
    context.fillStyle = color;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x - size * 0.6, y - size);
    context.lineTo(x + size * 0.6, y - size);
    context.fill();
  }

  #stripes({ stripes, over, crossed }: Exclude<Fill, string>): CanvasPattern | null {
    const key = `${stripes}/${over}/${crossed ?? false}`;
    const known = this.#patterns.get(key);
    if (known !== undefined) return known;
    const tile = document.createElement('canvas');
    tile.width = tile.height = 8;
    const context = tile.getContext('2d')!;
    context.fillStyle = over;
    context.fillRect(0, 0, 8, 8);
    context.strokeStyle = stripes;
    context.lineWidth = 2;
    context.beginPath();
    for (const shift of [-8, 0, 8]) {
      context.moveTo(shift, 8);
      context.lineTo(shift + 8, 0);
      if (crossed) {
        context.moveTo(shift, 0);
        context.lineTo(shift + 8, 8);
      }
    }
    context.stroke();
    const pattern = this.#context.createPattern(tile, 'repeat');
    this.#patterns.set(key, pattern);
    return pattern;
  }
}
