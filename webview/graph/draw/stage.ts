import type { Camera } from './brush.ts';
import { nameScale } from './drawView.ts';
import { select } from 'd3-selection';
// Adds `transition` to selections.
import 'd3-transition';
import { zoom, zoomIdentity } from 'd3-zoom';
import type { ZoomBehavior } from 'd3-zoom';

/** How far one can zoom in. */
const closest = 3;
/** At this scale names fit their boxes in the smallest letters. */
export const leastScale = 0.82;
/** From this scale on, groups have room for their names: a picture of a build is shown whole. */
export const overviewScale = 0.26;
/** Around a picture that is shown whole, and around one that is smaller than its names would be. */
export const [margin, overviewMargin] = [40, 14];

/** What the user moves: drag or wheel to pan, Ctrl and wheel (or two fingers) to zoom. A drag with Shift selects. */
export class Stage {
  readonly #element: HTMLElement;
  readonly #zoom: ZoomBehavior<HTMLElement, unknown>;
  camera: Camera = { k: 1, x: 0, y: 0 };
  /** Of the graph, at scale 1. */
  #graph = { width: 0, height: 0 };
  /** Nothing has been moved since `show` put the whole picture, or its beginning, there. */
  isFitted = false;

  constructor(element: HTMLElement, moved: () => void) {
    this.#element = element;
    this.#zoom = zoom<HTMLElement, unknown>()
      .filter((event: MouseEvent) => {
        if (event.type === 'wheel') return event.ctrlKey || event.metaKey;
        return event.type !== 'dblclick' && event.button === 0 && !event.shiftKey;
      })
      .clickDistance(4)
      .constrain((transform) => {
        const { k, x, y } = this.#inReach(transform);
        return zoomIdentity.translate(x, y).scale(k);
      })
      .on('zoom', ({ transform, sourceEvent }: { transform: Camera; sourceEvent: Event | null }) => {
        if (sourceEvent !== null) this.isFitted = false;
        this.camera = { k: transform.k, x: transform.x, y: transform.y };
        moved();
      });
    select(element).call(this.#zoom);
    element.addEventListener(
      'wheel',
      (event) => {
        if (event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        const unit = event.deltaMode === 1 ? 20 : event.deltaMode === 2 ? 400 : 1;
        const [dx, dy] = event.shiftKey ? [event.deltaY, event.deltaX] : [event.deltaX, event.deltaY];
        this.set(this.#inReach({ ...this.camera, x: this.camera.x - dx * unit, y: this.camera.y - dy * unit }));
      },
      { passive: false },
    );
  }

  get size(): { width: number; height: number } {
    return { width: this.#element.clientWidth, height: this.#element.clientHeight };
  }

  /** The nearest place from which the graph is in the middle of the screen: one cannot pan away from it. */
  #inReach({ k, x, y }: Camera): Camera {
    const { width, height } = this.size;
    const within = (offset: number, length: number, screen: number) =>
      Math.max(screen / 2 - length * k, Math.min(screen / 2, offset));
    return { k, x: within(x, this.#graph.width, width), y: within(y, this.#graph.height, height) };
  }

  /** Goes there, in under 200 ms where the user has nothing against motion. */
  set(camera: Camera, animate = false): void {
    this.isFitted = false;
    const target = zoomIdentity.translate(camera.x, camera.y).scale(camera.k);
    const node = select(this.#element);
    if (animate && !matchMedia('(prefers-reduced-motion: reduce)').matches) {
      this.#zoom.transform(node.transition().duration(170), target);
    } else this.#zoom.transform(node.interrupt(), target);
  }

  /** Puts a point of the graph in the middle of the screen. */
  center(x: number, y: number): void {
    const { width, height } = this.size;
    const { k } = this.camera;
    this.set({ k, x: width / 2 - x * k, y: height / 2 - y * k });
  }

  zoomBy(factor: number): void {
    const { width, height } = this.size;
    const { k, x, y } = this.camera;
    const to = Math.min(closest, Math.max(this.#zoom.scaleExtent()[0], k * factor));
    this.set({ k: to, x: width / 2 - ((width / 2 - x) / k) * to, y: height / 2 - ((height / 2 - y) / k) * to }, true);
  }

  /** Lets one zoom out until a graph of that size is small, and not further, and pan as long as it is in sight. */
  limit(width: number, height: number): void {
    this.#graph = { width, height };
    const least = Math.min(0.5, 0.5 * this.scaleFor(width, height));
    this.#zoom.scaleExtent([Math.max(1e-5, least), closest]);
  }

  /** The scale at which so much of the graph fits the screen. */
  scaleFor(width: number, height: number, around = 24): number {
    return scaleFor(this.size, width, height, around);
  }

  /** The graph's rectangle on the screen, see `cameraOn`. */
  show(area: Bounds, { animate = true, ...how }: { animate?: boolean } & Parameters<typeof cameraOn>[2] = {}): void {
    this.set(cameraOn(this.size, area, how), animate);
  }
}

/** A part of the graph. */
export interface Bounds {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const scaleFor = (size: Stage['size'], width: number, height: number, around: number): number =>
  Math.min((size.width - 2 * around) / Math.max(1, width), (size.height - 2 * around) / Math.max(1, height));

/**
 * Where one sees a part of the graph in the middle of a screen, never larger than `largest`; with `readable`, from its
 * top at a scale at which names can be read, unless at least `whole` is the scale of all of it.
 */
export function cameraOn(
  size: Stage['size'],
  { left, top, right, bottom }: Bounds,
  { readable = false, largest = 1, whole = leastScale } = {},
): Camera {
  const { width, height } = size;
  const [wide, high] = [right - left, bottom - top];
  const roomy = Math.min(largest, scaleFor(size, wide, high, margin));
  const k = roomy >= nameScale ? roomy : Math.min(nameScale, scaleFor(size, wide, high, overviewMargin));
  if (!readable || k >= whole)
    return { k, x: width / 2 - ((left + right) / 2) * k, y: height / 2 - ((top + bottom) / 2) * k };
  const near = Math.min(1, Math.max(leastScale, (width - 2 * margin) / Math.max(1, right - left)));
  // What is wider than the screen begins at its left.
  const isWider = (right - left) * near > width - 2 * margin;
  const x = isWider ? margin - left * near : width / 2 - ((left + right) / 2) * near;
  return { k: near, x, y: 16 - top * near };
}
