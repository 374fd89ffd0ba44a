/**
 * One tab stop for a drawing with many marks: arrow keys go to the nearest mark in that direction, Home and End to the
 * first and last, Enter or Space clicks. Marks are the elements that match `selector` below `root`; call the result
 * after drawing again, it keeps the focus on the mark with the same `data-id`. `root` is no SVG element: browsers give
 * the focus to those that listen to it.
 */
export function arrowKeys(root: HTMLElement, selector: string): () => void {
  let current: string | null = null;
  let hadFocus = false;
  const marks = (): (Element & HTMLOrSVGElement)[] => [...root.querySelectorAll<SVGElement>(selector)];

  const setCurrent = (mark: Element & HTMLOrSVGElement, all = marks()) => {
    for (const other of all) other.tabIndex = other === mark ? 0 : -1;
    current = mark.dataset['id'] ?? null;
  };

  root.addEventListener('focusin', (event) => {
    const mark = event.target instanceof Element ? event.target.closest<SVGElement>(selector) : null;
    hadFocus = mark !== null;
    if (mark !== null) setCurrent(mark);
  });
  root.addEventListener('focusout', (event) => {
    const mark = event.target;
    // Asked only once the drawing is done: a mark that was replaced did not leave, its successor has the focus by then.
    queueMicrotask(() => {
      if (mark instanceof Element && mark.isConnected && !root.contains(document.activeElement)) hadFocus = false;
    });
  });
  root.addEventListener('keydown', (event) => {
    const mark = event.target instanceof Element ? event.target.closest<SVGElement>(selector) : null;
    if (mark === null || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      mark.dispatchEvent(new MouseEvent('click', { bubbles: true }));
      return;
    }
    const next = target(mark, event.key, marks());
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
    next.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });

  return () => {
    const all = marks();
    const mark = all.find((other) => other.dataset['id'] === current) ?? all[0];
    if (mark === undefined) return;
    setCurrent(mark, all);
    if (hadFocus && !root.contains(document.activeElement)) mark.focus();
  };
}

const directions: Record<string, [x: number, y: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function target<T extends Element>(from: T | Element, key: string, all: T[]): T | undefined {
  if (key === 'Home') return all[0];
  if (key === 'End') return all.at(-1);
  const direction = directions[key];
  if (direction === undefined) return undefined;
  const [dx, dy] = direction;
  const own = from.getBoundingClientRect();
  let best: T | undefined;
  let least = Infinity;
  for (const mark of all) {
    if (mark === from) continue;
    const box = mark.getBoundingClientRect();
    const along = (middle(box, 'x') - middle(own, 'x')) * dx + (middle(box, 'y') - middle(own, 'y')) * dy;
    if (along <= 0.5) continue;
    // Marks side by side overlap across the direction: the gap between them counts, not the middles.
    const across =
      dx === 0 ? gap(own.left, own.right, box.left, box.right) : gap(own.top, own.bottom, box.top, box.bottom);
    const cost = along + across * 8;
    if (cost < least) {
      least = cost;
      best = mark;
    }
  }
  return best;
}

const middle = (box: DOMRect, axis: 'x' | 'y'): number =>
  axis === 'x' ? box.left + box.width / 2 : box.top + box.height / 2;
const gap = (a0: number, a1: number, b0: number, b1: number): number => Math.max(0, b0 - a1, a0 - b1);
