import { foreignTitle, titleOfLayer } from '../../../src/kernel/report/words.ts';
import { itemTitle, shortTitle } from '../../../src/kernel/picture/graph/scene.ts';
import { forVisible } from '../draw/drawItems.ts';
import type { Frame } from '../draw/drawView.ts';
import { element } from '../../shared/element.ts';
import { graphStrings } from '../panels/graphStrings.ts';
import { HoverCard } from '../panels/hoverCard.ts';
import type { GraphModel } from './graphModel.ts';

/** As many boxes as a screen reader, or the user who tabs, may meet at once. */
const most = 160;

/**
 * The boxes on the screen as elements that are not painted: screen readers read them, the keyboard's focus is on one
 * of them, magnifiers follow it. They cover exactly what the canvas shows.
 */
export class GraphTree {
  readonly root: HTMLElement;
  readonly #elements = new Map<string, HTMLElement>();
  #focusedKey = '';

  constructor() {
    this.root = element('div', { class: 'graph-tree', role: 'tree', hidden: true });
  }

  /** Call when the picture stands still. The focused item is there even when it is out of sight. */
  update(frame: Frame): void {
    const { model, picture, camera } = frame;
    this.root.setAttribute('aria-label', graphStrings.tree(model.data.title, model.graph.nodes));
    const wanted: number[] = [];
    const seen = new Set<number>();
    const want = (item: number) => {
      if (item < 0 || seen.has(item)) return;
      seen.add(item);
      wanted.push(item);
    };
    want(frame.focused);
    forVisible(frame, (item) => {
      if (wanted.length < most && picture.layout.height[item]! * camera.k > 5) want(item);
    });
    wanted.sort((a, b) => a - b);
    const focused = frame.focused >= 0 ? frame.focused : (wanted[0] ?? -1);
    const kept = new Set<string>();
    for (const item of wanted) {
      const key = model.key(item);
      kept.add(key);
      let node = this.#elements.get(key);
      if (node === undefined) {
        node = element('div', { role: 'treeitem', 'data-key': key });
        this.#elements.set(key, node);
      }
      this.#describe(node, frame, item, item === focused);
      // Elements are in the order of the graph; moving one that stands right would cost it the focus.
      if (node.parentElement !== this.root) this.root.append(node);
    }
    for (const [key, node] of this.#elements) {
      if (kept.has(key)) continue;
      node.remove();
      this.#elements.delete(key);
    }
    this.root.hidden = wanted.length === 0;
    this.#focusedKey = focused < 0 ? '' : model.key(focused);
  }

  /** Moves the keyboard's focus to the item that `update` was told is focused. */
  focus(): void {
    this.#elements.get(this.#focusedKey)?.focus({ preventScroll: true });
  }

  get hasFocus(): boolean {
    return this.root.contains(document.activeElement);
  }

  clear(): void {
    this.root.replaceChildren();
    this.#elements.clear();
    this.root.hidden = true;
  }

  #describe(node: HTMLElement, { model, picture, camera, selected }: Frame, item: number, focused: boolean): void {
    const { scene, layout } = picture;
    const kind = scene.kind[item]!;
    let level = 1;
    for (let at = scene.parent[item]!; at >= 0; at = scene.parent[at]!) level += 1;
    node.tabIndex = focused ? 0 : -1;
    if (focused) node.setAttribute('aria-describedby', HoverCard.id);
    else node.removeAttribute('aria-describedby');
    node.setAttribute('aria-level', String(level));
    node.setAttribute('aria-label', describeItem(model, item));
    node.setAttribute('aria-selected', String((selected?.[item] ?? 0) === 2));
    if (kind === 'open' || kind === 'closed') node.setAttribute('aria-expanded', String(kind === 'open'));
    else node.removeAttribute('aria-expanded');
    node.style.setProperty('left', `${layout.x[item]! * camera.k + camera.x}px`);
    node.style.setProperty('top', `${layout.y[item]! * camera.k + camera.y}px`);
    node.style.setProperty('width', `${layout.width[item]! * camera.k}px`);
    // Of an open module only the label is its own; what is in it has elements of its own.
    const height = kind === 'open' ? Math.min(layout.height[item]!, 28) : layout.height[item]!;
    node.style.setProperty('height', `${height * camera.k}px`);
  }
}

/** What a screen reader says about a box. */
export function describeItem(model: GraphModel, item: number): string {
  const { scene } = model.picture!;
  const { graph, hierarchy, fusion } = model;
  const ref = scene.ref[item]!;
  const title = itemTitle(graph, hierarchy, scene, item);
  switch (scene.kind[item]!) {
    case 'input':
      return `${graphStrings.input} ${title}`;
    case 'output':
      return `${graphStrings.output} ${title}`;
    case 'node': {
      const group = fusion.groups[fusion.groupOf[ref]!];
      const fate = fusion.fateOf[ref];
      const where =
        group === undefined
          ? (fate ?? '')
          : group.kind === 'foreign'
            ? foreignTitle(model.data.report!, group.ref)
            : `${group.kind}, ${group.kind === 'single' ? `layer ${group.ref}` : titleOfLayer(model.data.report!, group.ref)}`;
      const faults = (model.faults.get(ref) ?? []).map(({ severity, message }) => `${severity}: ${message}`);
      return [title, shortTitle(graph, hierarchy, ref), where, ...faults].filter((part) => part !== '').join(', ');
    }
    case 'closed':
    case 'open': {
      const module = hierarchy.modules[ref]!;
      const parts = [title, graphStrings.nodes(module.end - module.start, model.noun)];
      if (module.times > 1) parts.push(graphStrings.times(module.times));
      for (const { label, nodes } of model.categoriesIn(ref)) parts.push(`${nodes} ${label}`);
      return parts.join(', ');
    }
  }
}
