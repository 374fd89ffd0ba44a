import type { GraphMenuContext } from '../../../../src/kernel/protocol/graphMenu.ts';
import { type Area, listenToRubberBand } from '../../draw/rubberBand.ts';
import type { GraphParts } from '../../panels/graphParts.ts';
import type { Picture } from '../graphModel.ts';
import { handleKey } from './keyboard.ts';

/** What pointer and keyboard do to the view. Positions are in CSS pixels from the stage's corner. */
export interface GraphSurface {
  picture: Picture | null;
  focused: number;
  /** A group is selected and everything else dimmed. */
  dims: boolean;
  click(x: number, y: number, add: boolean): void;
  selectInside(area: Area, add: boolean): void;
  step(by: -1 | 1): void;
  addItem(item: number): void;
  menuContext(at: [x: number, y: number] | null): GraphMenuContext;
  hover(x: number, y: number): void;
  itemUnder(x: number, y: number): number;
  activate(item: number): void;
  selectItem(item: number): void;
  selectGroupOf(item: number): void;
  focusItem(item: number): void;
  walkTo(item: number): void;
  focusCame(key: string | undefined, byKey: boolean): void;
  close(): void;
  fit(): void;
  zoomBy(factor: number): void;
}

/** Connects the page's elements with the view. `resized` is called when the stage has another size. */
export function listenTo(
  { canvas, stage, tree, search, help }: GraphParts,
  surface: GraphSurface,
  resized: () => void,
): void {
  const at = (event: MouseEvent): [x: number, y: number] => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  listenToRubberBand(stage, (area, add) => surface.selectInside(area, add));
  stage.addEventListener('click', (event) => surface.click(...at(event), event.ctrlKey || event.metaKey));
  // The editor reads what its menu is about when the event has come up to the page.
  stage.addEventListener('contextmenu', (event) => {
    const byPointer = event.button === 2 || event.ctrlKey;
    stage.dataset['vscodeContext'] = JSON.stringify(surface.menuContext(byPointer ? at(event) : null));
  });
  // The buttons at the side of a mouse; the browser would leave the page.
  for (const type of ['mousedown', 'mouseup'] as const)
    document.addEventListener(type, (event) => {
      if (event.button !== 3 && event.button !== 4) return;
      event.preventDefault();
      if (type === 'mouseup') surface.step(event.button === 3 ? -1 : 1);
    });
  stage.addEventListener('dblclick', (event) => {
    const item = surface.itemUnder(...at(event));
    const kind = item < 0 ? undefined : surface.picture?.scene.kind[item];
    if (kind === 'open' || kind === 'closed') surface.activate(item);
  });
  stage.addEventListener('pointermove', (event) => {
    if (event.buttons === 0 && surface.picture !== null) surface.hover(...at(event));
  });
  stage.addEventListener('pointerleave', () => {
    if (surface.picture !== null) surface.hover(-1, -1);
  });
  tree.root.addEventListener('focusin', ({ target }) => {
    const box = target as HTMLElement;
    surface.focusCame(box.dataset['key'], box.matches(':focus-visible'));
  });
  tree.root.addEventListener('focusout', () => surface.focusCame(undefined, false));
  document.addEventListener('keydown', (event) => {
    const { picture } = surface;
    if (picture === null) return;
    const used = handleKey(event, {
      picture,
      focused: surface.focused,
      dims: surface.dims,
      onGraph: tree.hasFocus || document.activeElement === document.body,
      focusItem: (item) => surface.focusItem(item),
      addItem: (item) => surface.addItem(item),
      walkTo: (item) => surface.walkTo(item),
      activate: (item) => surface.activate(item),
      selectItem: (item) => surface.selectItem(item),
      selectGroupOf: (item) => surface.selectGroupOf(item),
      clear: () => surface.close(),
      search: () => search.open(),
      stepHit: (by) => search.step(by),
      fit: () => surface.fit(),
      zoomBy: (factor) => surface.zoomBy(factor),
      help: () => help.open(),
    });
    if (used) event.preventDefault();
  });
  new ResizeObserver(resized).observe(stage);
}
