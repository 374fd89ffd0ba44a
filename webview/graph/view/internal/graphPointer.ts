import type { Frame } from '../../draw/drawView.ts';
import { edgesAt, tensorsOf } from '../../draw/edgeHit.ts';
import { groupAt, itemAt, itemsInside, labelAt, segmentAt } from '../../draw/hitTest.ts';
import type { Painter } from '../../draw/painter.ts';
import type { Area } from '../../draw/rubberBand.ts';
import type { Stage } from '../../draw/stage.ts';
import { graphStrings } from '../../panels/graphStrings.ts';
import type { HoverCard } from '../../panels/hoverCard.ts';
import type { PlaceBar } from '../../panels/placeBar.ts';
import type { GraphMenuContext } from '../../../../src/kernel/protocol/graphMenu.ts';
import type { GraphTree } from '../graphTree.ts';
import type { GraphSurface } from './graphEvents.ts';
import type { GraphModel, Picture } from '../graphModel.ts';
import type { GraphSelection } from './graphSelection.ts';
import type { HoverTarget } from '../../panels/hoverText.ts';
import { menuContext } from './subjectOf.ts';
import { centerItem } from './navigate.ts';

/** What pointer and keyboard act on. */
export interface PointedView {
  readonly model: GraphModel | null;
  readonly stage: Stage;
  readonly painter: Painter;
  readonly tree: GraphTree;
  readonly card: HoverCard;
  readonly place: PlaceBar;
  /** The element that shows by its cursor that something is below the pointer. */
  readonly floor: HTMLElement;
  /** What is on the screen; null without a picture. */
  frame(): Frame | null;
  readonly selecting: GraphSelection;
  toggleItem(item: number): void;
  fit(): void;
  zoomBy(factor: number): void;
}

/** The item below the pointer and the item with the keyboard's focus, and what clicks and keys do to them. */
export class GraphPointer implements GraphSurface {
  readonly #view: PointedView;
  /** ViewState by key, since items are numbered again with each layout. */
  focusedKey = '';
  focused = -1;
  hovered = -1;
  /** The group under the pointer, -1 for none. */
  pointed = -1;
  /** The keyboard came to the focused item, and its card is still to come. */
  #walked = false;
  /** Edges of the picture under the pointer. */
  edges: readonly number[] = [];

  constructor(view: PointedView) {
    this.#view = view;
  }

  get picture(): Picture | null {
    return this.#view.model?.picture ?? null;
  }

  get dims(): boolean {
    return this.#view.selecting.marks.group >= 0;
  }

  /** After a layout: the focus stays on its item. */
  refresh(model: GraphModel): void {
    this.focused = model.itemOfKey(this.focusedKey);
    this.hovered = this.pointed = -1;
    this.edges = [];
    this.#view.card.hide();
  }

  close(): void {
    this.#view.selecting.close();
  }

  fit(): void {
    this.#view.fit();
  }

  zoomBy(factor: number): void {
    this.#view.zoomBy(factor);
  }

  selectItem(item: number): void {
    this.#view.selecting.selectItem(item);
  }

  itemUnder(x: number, y: number): number {
    const { picture } = this;
    return picture === null ? -1 : itemAt(picture, this.#view.stage.camera, x, y);
  }

  /** A click on the graph; `add` keeps what is selected. */
  click(x: number, y: number, add: boolean): void {
    const { model, stage, selecting } = this.#view;
    if (model?.picture == null) return;
    this.#view.card.hide();
    const label = labelAt(this.#view.painter.labels, x, y);
    if (label?.target.kind === 'group') {
      selecting.selectGroup(label.target.group);
      return;
    }
    if (label?.target.kind === 'kernel') {
      selecting.pick({ kind: 'layers', ids: [label.target.layer] });
      return;
    }
    const item = label?.target.kind === 'item' ? label.target.item : this.itemUnder(x, y);
    const edges = label === undefined ? this.#edgesUnder(item, x, y) : [];
    if (edges.length > 0) {
      selecting.selectTensors(tensorsOf(model, edges));
      return;
    }
    const segment = label === undefined ? segmentAt(model, stage.camera, item, x, y) : -1;
    if (segment >= 0) {
      selecting.selectGroup(segment);
      return;
    }
    if (item < 0) {
      this.close();
      return;
    }
    this.focused = item;
    this.focusedKey = model.key(item);
    if (add) {
      selecting.toggleItem(item);
      return;
    }
    const { scene, layout } = model.picture;
    const { k, x: cx } = stage.camera;
    const kind = scene.kind[item]!;
    // The triangle at the left of a module's label opens and closes it at once.
    const onTriangle =
      (kind === 'open' || kind === 'closed') && x - (layout.x[item]! * k + cx) < 24 * Math.max(0.6, Math.min(1, k));
    if (onTriangle && k > 0.3) this.#view.toggleItem(item);
    else this.selectItem(item);
    if (label !== undefined) centerItem(model, stage, item);
  }

  /** Selects the nodes whose boxes are in a rectangle of the screen; `add` keeps what is selected. */
  selectInside(area: Area, add: boolean): void {
    const { model, stage, selecting, place } = this.#view;
    if (model?.picture == null) return;
    const nodes = itemsInside(model.picture, stage.camera, area)
      .flatMap((item) => Array.from(model.pointsOf(item)))
      .filter((point) => point < model.graph.nodes);
    if (nodes.length > 0 || !add) selecting.selectNodes(nodes, add);
    place.say(graphStrings.inRectangle(nodes.length, model.noun));
  }

  /** Back (-1) or forward (1) through selections. */
  step(by: -1 | 1): void {
    this.#view.selecting.step(by);
  }

  addItem(item: number): void {
    this.#view.selecting.toggleItem(item);
  }

  /**
   * What the menu at a point of the screen is about, or without a point that of the focused box. Selects it, unless it
   * is selected already.
   */
  menuContext(at: [x: number, y: number] | null): GraphMenuContext {
    const { model, selecting, card } = this.#view;
    if (model?.picture == null) return menuContext(null, selecting.marks);
    card.hide();
    if (at === null) {
      if (this.focused >= 0) selecting.selectItem(this.focused);
    } else {
      const { leaf, edges, target } = this.#under(model, ...at);
      const item = leaf >= 0 ? leaf : this.itemUnder(...at);
      if (edges.length > 0) selecting.selectTensors(tensorsOf(model, edges));
      else if (target?.kind === 'group') selecting.selectGroup(target.group);
      else if (item < 0) selecting.close();
      else if (selecting.marks.subject?.kind !== 'many' || selecting.marks.selected?.[item] !== 2)
        selecting.selectItem(item);
    }
    return menuContext(model, selecting.marks);
  }

  /** The pointer is there; nowhere for a negative x. */
  hover(x: number, y: number): void {
    const { model, painter, floor, card } = this.#view;
    if (model?.picture == null) return;
    const { leaf, edges, target, clickable } = this.#under(model, x, y);
    floor.classList.toggle('over', clickable);
    card.hover(model, target, { isBox: false, x, y, width: 8, height: 8 });
    const pointed = target === null ? -1 : this.#groupOf(model, target);
    if (leaf === this.hovered && pointed === this.pointed && edges.join() === this.edges.join()) return;
    this.hovered = leaf;
    this.pointed = pointed;
    this.edges = edges;
    painter.request();
  }

  /** What is at a point of the screen: a box that is no open module (-1: none), edges, and what a card is to explain. */
  #under(
    model: GraphModel,
    x: number,
    y: number,
  ): { leaf: number; edges: number[]; target: HoverTarget | null; clickable: boolean } {
    if (x < 0) return { leaf: -1, edges: [], target: null, clickable: false };
    const label = labelAt(this.#view.painter.labels, x, y)?.target;
    if (label?.kind === 'group') return { leaf: -1, edges: [], target: label, clickable: true };
    if (label?.kind === 'kernel') return { leaf: -1, edges: [], target: null, clickable: true };
    const item = label?.item ?? this.itemUnder(x, y);
    const leaf = item >= 0 && model.picture!.scene.kind[item] !== 'open' ? item : -1;
    const segment = segmentAt(model, this.#view.stage.camera, leaf, x, y);
    if (segment >= 0) return { leaf, edges: [], target: { kind: 'group', group: segment }, clickable: true };
    if (leaf >= 0) return { leaf, edges: [], target: { kind: 'item', item: leaf }, clickable: true };
    const edges = label === undefined ? this.#edgesUnder(item, x, y) : [];
    if (edges.length > 0)
      return { leaf, edges, target: { kind: 'tensors', origins: tensorsOf(model, edges) }, clickable: true };
    const group = groupAt(model, this.#view.stage.camera, x, y);
    return { leaf, edges, target: group < 0 ? null : { kind: 'group', group }, clickable: item >= 0 };
  }

  /** The group that is named for what a card explains: its own, or that of a node. */
  #groupOf({ fusion, picture }: GraphModel, target: HoverTarget): number {
    if (target.kind === 'group') return target.group;
    if (target.kind !== 'item' || picture?.scene.kind[target.item] !== 'node') return -1;
    return fusion.groupOf[picture.scene.ref[target.item]!]!;
  }

  /** Edges of the picture at a point where there is no box but perhaps an open module. */
  #edgesUnder(item: number, x: number, y: number): number[] {
    const { picture } = this;
    if (picture === null || (item >= 0 && picture.scene.kind[item] !== 'open')) return [];
    return edgesAt(picture, this.#view.stage.camera, x, y);
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
    if (group >= 0) this.#view.selecting.selectGroup(group);
  }

  focusItem(item: number, take = true): void {
    this.focused = item;
    this.focusedKey = this.#view.model!.key(item);
    centerItem(this.#view.model!, this.#view.stage, item);
    const frame = this.#view.frame();
    if (frame !== null) this.#view.tree.update({ ...frame, focused: item });
    if (take) this.#view.tree.focus();
    this.#walked = false;
    this.#view.painter.request();
  }

  /** The keyboard goes to an item: once the picture stands still, a card says what it is. */
  walkTo(item: number): void {
    this.focusItem(item);
    this.#walked = true;
  }

  /** The picture stands still. */
  settled(): void {
    const { model, stage, card, tree } = this.#view;
    if (!this.#walked || model?.picture == null || !tree.hasFocus || this.focused < 0) return;
    this.#walked = false;
    const { layout, scene } = model.picture;
    const { k, x, y } = stage.camera;
    const item = this.focused;
    const height = scene.kind[item] === 'open' ? Math.min(layout.height[item]!, 28) : layout.height[item]!;
    const at = { isBox: true, x: layout.x[item]! * k + x, y: layout.y[item]! * k + y };
    card.show(model, { kind: 'item', item }, { ...at, width: layout.width[item]! * k, height: height * k });
  }

  /** The focus came to an item by itself, by Tab for instance (`byKey`), or left the graph. */
  focusCame(key: string | undefined, byKey: boolean): void {
    if (key !== undefined && this.picture !== null) {
      this.focusedKey = key;
      this.focused = this.#view.model!.itemOfKey(key);
      this.#walked = byKey;
    } else this.#view.card.hide();
    this.#view.painter.request();
  }
}
