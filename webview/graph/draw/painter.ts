import { CanvasBrush } from './brush.ts';
import { drawGround, drawOver, isHeavy } from './internal/drawFrame.ts';
import type { Frame, LabelBox } from './drawView.ts';
import { LabelPlaces } from './groupLabels.ts';
import type { GraphParts } from '../panels/graphParts.ts';
import { TileLayer } from './internal/tileLayer.ts';

/** This long after the last change of scale the picture is made sharp again. */
const zoomPause = 140;

type Size = Pick<Frame, 'width' | 'height'>;

/** Nothing of the page is seen, as where a panel takes all of the window. */
export const isEmpty = ({ width, height }: Size): boolean => width === 0 || height === 0;

const pixelRatio = (): number => globalThis.devicePixelRatio || 1;
const inPixels = (length: number): number => Math.round(length * pixelRatio());

/** Draws at most once a frame, and says when the picture stands still. */
export class Painter {
  readonly #parts: GraphParts;
  readonly #frameOf: () => Frame | null;
  readonly #settled: (frame: Frame) => void;
  readonly #tiles = new TileLayer();
  readonly #labelPlaces = new LabelPlaces();
  #pending = 0;
  #scaled = 0;
  /** What the last frame showed, and whether with tiles. */
  #last = { stamp: {}, group: -1, camera: { k: 0, x: 0, y: 0 }, tiled: false };
  /** That was drawn last, or reported since. */
  #size: Size = { width: 0, height: 0 };
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

  /** The same, unless it has this size already: an element that has just been shown reports its first size, too. */
  resize({ width, height }: Size): void {
    if (width === this.#size.width && height === this.#size.height) return;
    this.#size = { width, height };
    this.request();
  }

  /** Draws, with a new overview: something else is shown than before. */
  restamp(): void {
    this.#stamp = {};
    this.request();
  }

  #draw(): void {
    this.#pending = 0;
    const frame = this.#frameOf();
    if (frame === null || isEmpty(frame)) return;
    this.#size = { width: frame.width, height: frame.height };
    const { canvas, minimap } = this.#parts;
    const [width, height] = [inPixels(frame.width), inPixels(frame.height)];
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const context = canvas.getContext('2d', { alpha: false });
    if (context === null) return;
    const ratio = pixelRatio();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = frame.palette.theme.background;
    context.fillRect(0, 0, frame.width, frame.height);
    const heavy = isHeavy(frame);
    if (this.#isTiled(frame, heavy)) this.#drawTiles(context, frame, ratio, heavy);
    else drawGround(new CanvasBrush(context, this.family), frame);
    this.labels = drawOver(new CanvasBrush(context, this.family), frame, this.#labelPlaces);
    minimap.draw(frame, this.#stamp, heavy);
    clearTimeout(this.#still);
    this.#still = setTimeout(() => {
      const now = this.#frameOf();
      if (now !== null && !isEmpty(now)) this.#settled(now);
    }, 120);
  }

  /** What is much, and what has been moved, is drawn with tiles: moving them is cheaper than drawing it again. */
  #isTiled({ camera, group }: Frame, heavy: boolean): boolean {
    const last = this.#last;
    if (group !== last.group) this.#stamp = {};
    if (camera.k !== last.camera.k) this.#scaled = performance.now();
    const same = this.#stamp === last.stamp && camera.k === last.camera.k;
    const moved = camera.x !== last.camera.x || camera.y !== last.camera.y;
    const tiled = heavy || (same && (moved || last.tiled));
    this.#last = { stamp: this.#stamp, group, camera, tiled };
    return tiled;
  }

  #drawTiles(context: CanvasRenderingContext2D, frame: Frame, ratio: number, heavy: boolean): void {
    const zooming = performance.now() - this.#scaled < zoomPause;
    if (heavy && zooming) this.#parts.minimap.drawUnder(context, frame.camera);
    const done = this.#tiles.draw(context, frame, ratio, this.#stamp, { heavy, zooming }, (inner, camera, size) => {
      inner.fillStyle = frame.palette.theme.background;
      inner.fillRect(0, 0, size, size);
      drawGround(new CanvasBrush(inner, this.family), { ...frame, camera, width: size, height: size });
    });
    if (!done) this.request();
  }
}
