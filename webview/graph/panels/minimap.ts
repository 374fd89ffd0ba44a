import { CanvasBrush, type Camera } from '../draw/brush.ts';
import type { Frame } from '../draw/drawView.ts';
import { element } from '../../shared/element.ts';
import { graphStrings } from './graphStrings.ts';

const widest = 150;
const highest = 190;
/** What it takes of the corner at most, with its border and its distance from the edges. */
export const minimapRoom = { width: widest + 20, height: highest + 20 };

/** Whether all of the graph is on the screen: there is no overview then. */
export const isAllInSight = (
  { totalWidth, totalHeight }: Pick<Frame['picture']['layout'], 'totalWidth' | 'totalHeight'>,
  { k, x, y }: Frame['camera'],
  { width, height }: Pick<Frame, 'width' | 'height'>,
): boolean => x >= 0 && y >= 0 && x + totalWidth * k <= width && y + totalHeight * k <= height;

/** The whole graph in a corner, with what is on the screen marked; not where all of it is on the screen. */
export class Minimap {
  readonly root: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #picture = document.createElement('canvas');
  #of: unknown = null;
  #scale = 1;

  /** `go` puts a point of the graph in the middle of the screen. */
  constructor(go: (x: number, y: number) => void) {
    this.#canvas = element('canvas', { title: graphStrings.minimap });
    this.root = element('div', { class: 'graph-minimap', 'aria-hidden': 'true', hidden: true }, this.#canvas);
    const jump = (event: PointerEvent) => {
      const { left, top } = this.#canvas.getBoundingClientRect();
      go((event.clientX - left) / this.#scale, (event.clientY - top) / this.#scale);
    };
    this.#canvas.addEventListener('pointerdown', (event) => {
      this.#canvas.setPointerCapture(event.pointerId);
      jump(event);
    });
    this.#canvas.addEventListener('pointermove', (event) => {
      if (event.buttons === 1) jump(event);
    });
  }

  /** Draws the graph again only when it changed (`stamp`), the mark always. `under`: the picture is needed for `drawUnder`, too. */
  draw(frame: Frame, stamp: unknown, under: boolean): void {
    const { totalWidth, totalHeight } = frame.picture.layout;
    const { k, x, y } = frame.camera;
    const isIdle = isAllInSight(frame.picture.layout, frame.camera, frame);
    this.root.hidden = isIdle;
    if (isIdle && !under) return;
    // A long thin graph is drawn wider than it is, so that something is seen.
    this.#scale = Math.min(widest / totalWidth, highest / totalHeight);
    const ratio = globalThis.devicePixelRatio || 1;
    const width = Math.max(24, totalWidth * this.#scale);
    const height = totalHeight * this.#scale;
    if (stamp !== this.#of) {
      this.#of = stamp;
      for (const canvas of [this.#canvas, this.#picture]) {
        canvas.width = Math.ceil(width * ratio);
        canvas.height = Math.ceil(height * ratio);
      }
      this.#canvas.style.setProperty('width', `${width}px`);
      this.#canvas.style.setProperty('height', `${height}px`);
      this.#paint(frame, ratio);
    }
    const context = this.#canvas.getContext('2d')!;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    context.drawImage(this.#picture, 0, 0);
    context.scale(ratio, ratio);
    const left = (-x / k) * this.#scale;
    const top = (-y / k) * this.#scale;
    context.strokeStyle = frame.palette.theme.focus;
    context.lineWidth = 1.5;
    context.strokeRect(
      Math.max(0.75, left),
      Math.max(0.75, top),
      Math.max(4, Math.min(width - 1.5, (frame.width / k) * this.#scale)),
      Math.max(4, Math.min(height - 1.5, (frame.height / k) * this.#scale)),
    );
  }

  /** The whole graph where a camera sees it, as coarse as it is here. */
  drawUnder(context: CanvasRenderingContext2D, { k, x, y }: Camera): void {
    const { width, height } = this.#picture;
    if (this.#of === null || width === 0 || height === 0) return;
    const stretch = k / (this.#scale * (globalThis.devicePixelRatio || 1));
    context.imageSmoothingEnabled = false;
    context.drawImage(this.#picture, x, y, width * stretch, height * stretch);
  }

  #paint({ model, picture, palette }: Frame, ratio: number): void {
    const context = this.#picture.getContext('2d')!;
    const scale = this.#scale * ratio;
    const { scene, layout } = picture;
    context.fillStyle = palette.theme.background;
    context.fillRect(0, 0, this.#picture.width, this.#picture.height);
    const brush = new CanvasBrush(context, '');
    // Where colors say something else, boundaries have none.
    for (const { group, boxes } of model.overlay.kind === 'fusion' ? model.regions : []) {
      const fill = palette.area(model.fusion.groups[group]!.color, 1);
      for (let i = 0; i < boxes.length; i += 4) {
        const width = boxes[i + 2]! * scale + 2;
        const height = boxes[i + 3]! * scale + 2;
        brush.box(boxes[i]! * scale - 1, boxes[i + 1]! * scale - 1, width, height, { fill });
      }
    }
    for (let item = 0; item < scene.kind.length; item++) {
      const kind = scene.kind[item]!;
      if (kind === 'open') continue;
      const x = layout.x[item]! * scale;
      const y = layout.y[item]! * scale;
      const width = Math.max(1, layout.width[item]! * scale);
      const height = Math.max(0.6, layout.height[item]! * scale);
      if (kind === 'closed') {
        let at = x;
        for (const { paint, share } of model.stretches.get(item) ?? []) {
          brush.box(at, y, share * width, height, { fill: palette.solid(paint) });
          at += share * width;
        }
        continue;
      }
      const fill = kind === 'node' ? palette.solid(model.overlay.paintOf[scene.ref[item]!]!) : palette.theme.strong;
      brush.box(x, y, width, height, { fill });
    }
  }
}
