import type { Camera } from '../brush.ts';
import type { Frame } from '../drawView.ts';

/** Side of a tile in CSS pixels; a multiple of the stripes' width, so that they meet. */
const side = 384;
/** Tiles that are kept, of one scale. */
const most = 80;
/** Milliseconds of a frame that may go into new tiles; one is always made. */
const budget = 7;

/** Milliseconds between two frames of which neither costs anything; after more than the other, no frame was due. */
const [frameLength, longestFrame] = [1000 / 60, 2000];

interface Level {
  k: number;
  /** Where the first tile is from the graph's corner, less than a pixel: a move by whole pixels changes no letter. */
  x: number;
  y: number;
  tiles: Map<string, HTMLCanvasElement>;
}

/**
 * A drawing that is too large to be made again in every frame, as tiles that are made once and moved. While the user
 * zooms, tiles of another scale are stretched; tiles of the right scale come a few a frame once it is known.
 */
export class TileLayer {
  #stamp: unknown = null;
  #level: Level | null = null;
  #before: Level | null = null;
  /** Milliseconds that one of the last tiles took. */
  #cost = 0;
  /** When the last frame began, and how many tiles it made. */
  #last = { start: 0, made: 0 };

  /**
   * Draws what there is, and makes what is missing as far as time allows; false: more is to be made in the next frame.
   * `paint` draws the graph as a camera sees it. `stamp`: the same one means that the same is drawn. `heavy`: it
   * takes several frames. `zooming`: the scale is about to change again, so that of that only tiles that are made quickly
   * are worth it; what is missing stays as it was.
   */
  draw(
    context: CanvasRenderingContext2D,
    frame: Frame,
    ratio: number,
    stamp: unknown,
    { heavy, zooming }: { heavy: boolean; zooming: boolean },
    paint: (context: CanvasRenderingContext2D, camera: Camera, size: number) => void,
  ): boolean {
    const { camera, width, height } = frame;
    const start = performance.now();
    this.#judge(start);
    if (stamp !== this.#stamp) {
      this.#stamp = stamp;
      this.#level = this.#before = null;
    }
    const level = this.#levelFor(camera, heavy && zooming);
    const { shown, left: x, top: y } = placeOf(level, camera);
    const missing: [column: number, row: number][] = [];
    const span = (offset: number, size: number) =>
      [Math.floor(-offset / shown), Math.floor((size - offset) / shown)] as const;
    const [left, right] = span(x, width);
    const [top, bottom] = span(y, height);
    for (let row = top; row <= bottom; row++) {
      for (let column = left; column <= right; column++) {
        if (!level.tiles.has(`${column}/${row}`)) missing.push([column, row]);
      }
    }
    if (missing.length > 0 && this.#before !== null) put(context, this.#before, camera, width, height, null);
    put(context, level, camera, width, height, null);
    // The middle of the screen first.
    const [cx, cy] = [(left + right) / 2, (top + bottom) / 2];
    missing.sort((a, b) => Math.hypot(a[0] - cx, a[1] - cy) - Math.hypot(b[0] - cx, b[1] - cy));
    let made = 0;
    for (const [column, row] of missing) {
      if (heavy && ((made > 0 && performance.now() - start > budget) || (zooming && this.#cost > budget))) break;
      const key = `${column}/${row}`;
      const tile = document.createElement('canvas');
      tile.width = tile.height = Math.ceil(side * ratio);
      const inner = tile.getContext('2d', { alpha: false });
      if (inner === null) return true;
      inner.setTransform(ratio, 0, 0, ratio, 0, 0);
      paint(inner, { k: level.k, x: level.x - column * side, y: level.y - row * side }, side);
      level.tiles.set(key, tile);
      put(context, level, camera, width, height, key);
      made += 1;
    }
    this.#last = { start, made };
    for (const key of level.tiles.keys()) {
      if (level.tiles.size <= most) break;
      level.tiles.delete(key);
    }
    if (made === missing.length) this.#before = null;
    return made === missing.length && level.k === camera.k;
  }

  /**
   * What a tile cost: the browser paints what was drawn only after the frame's script, so that the time until the next
   * frame says it.
   */
  #judge(start: number): void {
    const { start: before, made } = this.#last;
    if (made > 0 && start - before < longestFrame) this.#cost = (start - before - frameLength) / made;
  }

  /** While the scale changes, the level at hand serves as long as it is not stretched too far. */
  #levelFor({ k, x, y }: Camera, zooming: boolean): Level {
    const level = this.#level;
    if (level !== null && (level.k === k || (zooming && (this.#cost > budget || isNear(k, level.k))))) return level;
    if (level !== null && level.tiles.size > 0) this.#before = level;
    this.#level = { k, x: x - Math.floor(x), y: y - Math.floor(y), tiles: new Map() };
    return this.#level;
  }
}

/** Whether tiles of one scale still look like something at another. */
const isNear = (a: number, b: number): boolean => a / b < 2.5 && b / a < 2.5;

/** Where a camera sees the corner of a level's first tile, and how large each is. */
function placeOf({ k, x, y }: Level, camera: Camera): { shown: number; left: number; top: number } {
  const stretch = camera.k / k;
  return { shown: side * stretch, left: camera.x - x * stretch, top: camera.y - y * stretch };
}

/** Puts a level's tiles where the camera sees them; with `only`, that one. */
function put(
  context: CanvasRenderingContext2D,
  level: Level,
  camera: Camera,
  width: number,
  height: number,
  only: string | null,
): void {
  const { shown, left, top } = placeOf(level, camera);
  const exact = level.k === camera.k;
  // What is stretched is seen for a moment only.
  context.imageSmoothingEnabled = exact;
  for (const [key, tile] of only === null ? level.tiles : [[only, level.tiles.get(only)!] as const]) {
    const [column, row] = key.split('/').map(Number) as [number, number];
    const x = column * shown + left;
    const y = row * shown + top;
    if (x > width || y > height || x + shown < 0 || y + shown < 0) continue;
    // Whole pixels keep letters sharp; stretched tiles overlap a little, so that no seams show.
    if (exact) context.drawImage(tile, Math.round(x), Math.round(y), side, side);
    else context.drawImage(tile, x, y, shown + 0.7, shown + 0.7);
  }
}
