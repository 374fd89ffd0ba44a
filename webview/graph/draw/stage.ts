import type { Camera } from './brush.ts';
import { select } from 'd3-selection';
// Adds `transition` to selections.
import 'd3-transition';
import { zoom, zoomIdentity } from 'd3-zoom';
import type { ZoomBehavior } from 'd3-zoom';

/** How far one can zoom in. */
const closest = 3;

/** What the user moves: drag or wheel to pan, Ctrl and wheel (or two fingers) to zoom. A drag with Shift selects. */
export class Stage {
  readonly #element: HTMLElement;
  readonly #zoom: ZoomBehavior<HTMLElement, unknown>;
  camera: Camera = { k: 1, x: 0, y: 0 };

  constructor(element: HTMLElement, moved: () => void) {
    this.#element = element;
    this.#zoom = zoom<HTMLElement, unknown>()
      .filter((event: MouseEvent) => {
        if (event.type === 'wheel') return event.ctrlKey || event.metaKey;
        return event.type !== 'dblclick' && event.button === 0 && !event.shiftKey;
      })
      .clickDistance(4)
      .on('zoom', ({ transform }: { transform: Camera }) => {
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
        this.set({ ...this.camera, x: this.camera.x - dx * unit, y: this.camera.y - dy * unit });
      },
      { passive: false },
    );
  }

  get size(): { width: number; height: number } {
    return { width: this.#element.clientWidth, height: this.#element.clientHeight };
  }

  /** Goes there, in under 200 ms where the user has nothing against motion. */
  set(camera: Camera, animate = false): void {
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

  /** Lets one zoom out until a graph of that size is small, and not further. */
  limit(width: number, height: number): void {
    const least = Math.min(0.5, 0.5 * this.scaleFor(width, height));
    this.#zoom.scaleExtent([Math.max(1e-5, least), closest]);
  }

  scaleFor(width: number, height: number, margin = 24): number {
    const size = this.size;
    return Math.min((size.width - 2 * margin) / Math.max(1, width), (size.height - 2 * margin) / Math.max(1, height));
  }

  /** The graph's rectangle in the middle of the screen, never larger than life; with `readable`, from its top at a scale at which names can be read. */
  show(
    left: number,
    top: number,
    right: number,
    bottom: number,
    { animate = true, readable = false, largest = 1 } = {},
  ): void {
    const { width, height } = this.size;
    let k = Math.min(largest, this.scaleFor(right - left, bottom - top, 40));
    if (readable && k < 0.6) {
      k = Math.min(0.85, Math.max(0.6, (width - 80) / Math.max(1, right - left)));
      // What is wider than the screen begins at its left.
      const x = (right - left) * k > width - 80 ? 40 - left * k : width / 2 - ((left + right) / 2) * k;
      this.set({ k, x, y: 16 - top * k }, animate);
      return;
    }
    this.set({ k, x: width / 2 - ((left + right) / 2) * k, y: height / 2 - ((top + bottom) / 2) * k }, animate);
  }
}
