import { actionOfKey } from '../../../../src/kernel/protocol/graphActions.ts';
import type { Picture } from '../graphModel.ts';

/** What keys act on. */
export interface KeyTarget {
  picture: Picture;
  focused: number;
  /** The keyboard is on the graph, or on nothing in particular. */
  onGraph: boolean;
  /** A group is selected and everything else dimmed. */
  dims: boolean;
  focusItem(item: number): void;
  /** The same, and says what the item is. */
  walkTo(item: number): void;
  activate(item: number): void;
  selectItem(item: number): void;
  /** Adds an item to the selection, or takes it out. */
  addItem(item: number): void;
  selectGroupOf(item: number): void;
  clear(): void;
  search(): void;
  stepHit(by: number): void;
  fit(): void;
  zoomBy(factor: number): void;
  help(): void;
}

/** Does what a key stands for; false: the key is not the graph's. */
export function handleKey(event: KeyboardEvent, target: KeyTarget): boolean {
  if ((event.ctrlKey || event.metaKey) && event.key === ' ' && target.onGraph && target.focused >= 0) {
    target.addItem(target.focused);
    return true;
  }
  const { target: at } = event;
  if (at instanceof HTMLInputElement || at instanceof HTMLSelectElement || at instanceof HTMLTextAreaElement)
    return false;
  if (document.querySelector('dialog[open]') !== null) return false;
  // The editor's command selects nodes; the browser would also select the text of the page.
  if (actionOfKey(event) === 'selectAll') return true;
  if (event.altKey || event.ctrlKey || event.metaKey) return false;
  return anywhere(event.key, target) || (target.onGraph && onGraph(event.key, target));
}

function anywhere(key: string, target: KeyTarget): boolean {
  switch (key) {
    case '/':
      target.search();
      return true;
    case 'f':
      target.fit();
      return true;
    case '?':
      target.help();
      return true;
    case '+':
    case '=':
      target.zoomBy(1.4);
      return true;
    case '-':
      target.zoomBy(1 / 1.4);
      return true;
    case 'n':
      target.stepHit(1);
      return true;
    case 'N':
      target.stepHit(-1);
      return true;
    case 'Escape':
      if (target.dims) target.clear();
      return target.dims;
    default:
      return false;
  }
}

function onGraph(key: string, target: KeyTarget): boolean {
  const { focused, picture } = target;
  if (focused < 0) return false;
  switch (key) {
    case 'ArrowDown':
    case 'ArrowUp':
    case 'ArrowLeft':
    case 'ArrowRight': {
      const next = neighbor(picture, focused, key);
      if (next >= 0) target.walkTo(next);
      return true;
    }
    case 'Enter':
      target.activate(focused);
      return true;
    case ' ':
      target.selectItem(focused);
      return true;
    case 'g':
      target.selectGroupOf(focused);
      return true;
    case 'Escape':
      if (picture.scene.parent[focused]! >= 0) target.focusItem(picture.scene.parent[focused]!);
      else target.clear();
      return true;
    case 'Home':
      target.walkTo(0);
      return true;
    case 'End':
      target.walkTo(picture.scene.kind.length - 1);
      return true;
    default:
      return false;
  }
}

/** Down and up follow edges, into an open module and out of it too; left and right go to the nearest box at that height. */
export function neighbor(picture: Picture, item: number, key: string): number {
  const { scene, layout, outStart, outEdges, inStart, inEdges } = picture;
  if (key === 'ArrowDown') {
    if (scene.kind[item] === 'open') return item + 1 < picture.subtreeEnd[item]! ? item + 1 : -1;
    const ends: number[] = [];
    for (let i = outStart[item]!; i < outStart[item + 1]!; i++) ends.push(scene.to[outEdges[i]!]!);
    return nearest(picture, item, ends, 1);
  }
  if (key === 'ArrowUp') {
    const ends: number[] = [];
    for (let i = inStart[item]!; i < inStart[item + 1]!; i++) ends.push(scene.from[inEdges[i]!]!);
    return nearest(picture, item, ends, -1);
  }
  const sign = key === 'ArrowRight' ? 1 : -1;
  const x = layout.x[item]! + layout.width[item]! / 2;
  const y = layout.y[item]! + layout.height[item]! / 2;
  let best = -1;
  let least = Infinity;
  for (let other = 0; other < scene.kind.length; other++) {
    if (other === item || scene.parent[other] !== scene.parent[item]) continue;
    const dx = (layout.x[other]! + layout.width[other]! / 2 - x) * sign;
    if (dx <= 1) continue;
    const dy = Math.abs(layout.y[other]! + layout.height[other]! / 2 - y);
    const cost = dx + dy * 4;
    if (dy < 400 && cost < least) {
      least = cost;
      best = other;
    }
  }
  return best;
}

/** Of an item's neighbors along edges the closest one; without any, the closest box in that direction. */
function nearest({ scene, layout }: Picture, item: number, ends: number[], sign: number): number {
  const x = layout.x[item]! + layout.width[item]! / 2;
  const y = layout.y[item]!;
  const candidates = ends.length > 0 ? ends : Array.from({ length: scene.kind.length }, (_, i) => i);
  let best = -1;
  let least = Infinity;
  for (const other of candidates) {
    const dy = (layout.y[other]! - y) * sign;
    if (other === item || (ends.length === 0 && (dy <= 1 || scene.parent[other] !== scene.parent[item]))) continue;
    const cost = Math.abs(dy) + Math.abs(layout.x[other]! + layout.width[other]! / 2 - x) * 0.5;
    if (cost < least) {
      least = cost;
      best = other;
    }
  }
  return best;
}
