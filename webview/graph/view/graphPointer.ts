import type { Frame } from '../draw/drawView.ts';
import { itemAt, labelAt } from '../draw/hitTest.ts';
import type { Painter } from '../draw/painter.ts';
import type { Stage } from '../draw/stage.ts';
import type { GraphTree } from './graphTree.ts';
import type { GraphSurface } from './graphEvents.ts';
import type { GraphModel, Picture } from './graphModel.ts';
import { centreItem } from './navigate.ts';

/** What pointer and keyboard act on. */
export interface PointedView {
  readonly model: GraphModel | null;
  readonly stage: Stage;
  readonly painter: Painter;
  readonly tree: GraphTree;
  /** The element that shows by its cursor that something is below the pointer. */
  readonly floor: HTMLElement;
  /** What is on the screen; null without a picture. */
  frame(): Frame | null;
  selectItem(item: number): void;
  selectGroup(group: number): void;
  toggleItem(item: number): void;
  close(): void;
  fit(): void;
  zoomBy(factor: number): void;
}

/** The item below the pointer and the item with the keyboard's focus, and what clicks and keys do to them. */
export class GraphPointer implements GraphSurface {
  readonly #view: PointedView;
  /** Kept by key, since items are numbered again with each layout. */
  focusedKey = '';
  focused = -1;
  hovered = -1;

  constructor(view: PointedView) {
    this.#view = view;
  }

  get picture(): Picture | null {
    return this.#view.model?.picture ?? null;
  }

  /** After a layout: the focus stays on its item. */
  refresh(model: GraphModel): void {
    this.focused = model.itemOfKey(this.focusedKey);
    this.hovered = -1;
  }

  close(): void {
    this.#view.close();
  }

  fit(): void {
    this.#view.fit();
  }

  zoomBy(factor: number): void {
    this.#view.zoomBy(factor);
  }

  selectItem(item: number): void {
    this.#view.selectItem(item);
  }

  itemUnder(x: number, y: number): number {
    const { picture } = this;
    return picture === null ? -1 : itemAt(picture, this.#view.stage.camera, x, y);
  }

  /** A click on the graph. */
  click(x: number, y: number): void {
    const { model, stage } = this.#view;
    if (model?.picture == null) return;
    const label = labelAt(this.#view.painter.labels, x, y);
    if (label?.target.kind === 'group') {
      this.#view.selectGroup(label.target.group);
      return;
    }
    const item = label?.target.kind === 'item' ? label.target.item : this.itemUnder(x, y);
    if (item < 0) {
      this.close();
      return;
    }
    this.focused = item;
    this.focusedKey = model.key(item);
    const { scene, layout } = model.picture;
    const { k, x: cx } = stage.camera;
    const kind = scene.kind[item]!;
    // The triangle at the left of a module's label opens and closes it at once.
    const onTriangle =
      (kind === 'open' || kind === 'closed') && x - (layout.x[item]! * k + cx) < 24 * Math.max(0.6, Math.min(1, k));
    if (onTriangle && k > 0.3) this.#view.toggleItem(item);
    else this.selectItem(item);
    if (label !== undefined) centreItem(model, stage, item);
  }

  /** The pointer is there; nowhere for a negative x. */
  hover(x: number, y: number): void {
    const label = x < 0 ? undefined : labelAt(this.#view.painter.labels, x, y);
    const item = x < 0 ? -1 : label?.target.kind === 'item' ? label.target.item : this.itemUnder(x, y);
    const leaf = item >= 0 && this.picture!.scene.kind[item] !== 'open' ? item : -1;
    this.#view.floor.classList.toggle('over', item >= 0 || label !== undefined);
    if (leaf === this.hovered) return;
    this.hovered = leaf;
    this.#view.painter.request();
  }

  /** Expands or collapses a module, selects anything else. */
  activate(item: number): void {
    const kind = this.picture!.scene.kind[item];
    if (kind === 'open' || kind === 'closed') this.#view.toggleItem(item);
    else this.selectItem(item);
  }

  selectGroupOf(item: number): void {
    const [point] = Array.from(this.#view.model!.pointsOf(item));
    const group = point === undefined ? -1 : this.#view.model!.fusion.groupOf[point]!;
    if (group >= 0) this.#view.selectGroup(group);
  }

  focusItem(item: number): void {
    this.focused = item;
    this.focusedKey = this.#view.model!.key(item);
    centreItem(this.#view.model!, this.#view.stage, item);
    const frame = this.#view.frame();
    if (frame !== null) this.#view.tree.update({ ...frame, focused: item });
    this.#view.tree.focus();
    this.#view.painter.request();
  }

  /** The keyboard's focus came to an item by itself. */
  focusCame(key: string | undefined): void {
    if (key !== undefined && this.picture !== null) {
      this.focusedKey = key;
      this.focused = this.#view.model!.itemOfKey(key);
    }
    this.#view.painter.request();
  }
}
