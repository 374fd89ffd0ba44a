import { CanvasBrush } from './brush.ts';
import { drawGround, drawOver, isHeavy } from './internal/drawFrame.ts';
import type { Frame, LabelBox } from './drawView.ts';
import type { GraphParts } from '../panels/graphParts.ts';
import { TileLayer } from './internal/tileLayer.ts';

/** This long after the last change of scale the picture is made sharp again. */
const zoomPause = 140;

/** Draws at most once a frame, and says when the picture stands still. */
export class Painter {
  readonly #parts: GraphParts;
  readonly #frameOf: () => Frame | null;
  readonly #settled: (frame: Frame) => void;
  readonly #tiles = new TileLayer();
  #pending = 0;
  #scale = 0;
  #scaled = 0;
  #group = -1;
  #still: ReturnType<typeof setTimeout> | undefined;
  /** Another object whenever the picture looks different other than by its place. */
  #stamp = {};
  /** Labels of the last frame, for clicks. */
  labels: LabelBox[] = [];
  family = getComputedStyle(document.body).fontFamily;

  constructor(parts: GraphParts, frameOf: () => Frame | null, settled: (frame: Frame) => void) {
    this.#parts = parts;
    this.#frameOf = frameOf;
    this.#settled = settled;
  }

  /** Draws in the next frame. */
  request(): void {
    if (this.#pending === 0) this.#pending = requestAnimationFrame(() => this.#draw());
  }

  /** The same, with a new overview: something else is shown than before. */
  restamp(): void {
    this.#stamp = {};
    this.request();
  }

  #draw(): void {
    this.#pending = 0;
    const frame = this.#frameOf();
    if (frame === null || frame.width === 0 || frame.height === 0) return;
    const { canvas, minimap } = this.#parts;
    const ratio = globalThis.devicePixelRatio || 1;
    const width = Math.round(frame.width * ratio);
    const height = Math.round(frame.height * ratio);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const context = canvas.getContext('2d', { alpha: false });
    if (context === null) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = frame.palette.theme.background;
    context.fillRect(0, 0, frame.width, frame.height);
    const heavy = isHeavy(frame);
    if (heavy) this.#drawTiles(context, frame, ratio);
    else drawGround(new CanvasBrush(context, this.family), frame);
    this.labels = drawOver(new CanvasBrush(context, this.family), frame);
    minimap.draw(frame, this.#stamp, heavy);
    clearTimeout(this.#still);
    this.#still = setTimeout(() => {
      const now = this.#frameOf();
      if (now !== null) this.#settled(now);
    }, 120);
  }

  #drawTiles(context: CanvasRenderingContext2D, frame: Frame, ratio: number): void {
    const now = performance.now();
    const { k } = frame.camera;
    if (k !== this.#scale) this.#scaled = now;
    this.#scale = k;
    if (frame.group !== this.#group) this.#stamp = {};
    this.#group = frame.group;
    const zooming = now - this.#scaled < zoomPause;
    if (zooming) this.#parts.minimap.drawUnder(context, frame.camera);
    const done = this.#tiles.draw(context, frame, ratio, this.#stamp, zooming, (inner, camera, size) => {
      inner.fillStyle = frame.palette.theme.background;
      inner.fillRect(0, 0, size, size);
      drawGround(new CanvasBrush(inner, this.family), { ...frame, camera, width: size, height: size });
    });
    if (!done) this.request();
  }
}
