import { overlayKinds, paints } from '../../../src/core/scene/graph/overlay.ts';
import type { Overlay, OverlayKind } from '../../../src/core/scene/graph/overlay.ts';
import { element } from './element.ts';
import { graphStrings } from './graphStrings.ts';
import { isDerived } from '../draw/palette.ts';
import type { Palette } from '../draw/palette.ts';
import { thousands } from '../../../src/core/text/numbers.ts';

/** The choice of overlay and the legend, whose lines switch what they stand for off and on. */
export class Legend {
  readonly root: HTMLElement;
  readonly #list: HTMLElement;
  readonly #select: HTMLSelectElement;
  readonly #changed: (off: ReadonlySet<string>) => void;
  readonly #off = new Set<string>();
  #kind: OverlayKind | null = null;

  constructor(choose: (kind: OverlayKind) => void, changed: (off: ReadonlySet<string>) => void) {
    this.#changed = changed;
    this.#select = element('select', { onchange: () => choose(this.#select.value as OverlayKind) });
    for (const kind of overlayKinds)
      this.#select.append(element('option', { value: kind }, graphStrings.overlays[kind]));
    this.#list = element('div', { class: 'legend-list', role: 'group', 'aria-label': graphStrings.legend });
    const label = element('label', { class: 'legend-title' }, element('span', {}, graphStrings.overlay), this.#select);
    this.root = element('div', { class: 'graph-legend' }, label, this.#list);
  }

  /** Whether the choice has an overlay: what happened to overrides, for instance, only after a build that had some. */
  offer(kind: OverlayKind, offered: boolean): void {
    const option = this.#select.querySelector<HTMLOptionElement>(`option[value=${kind}]`);
    if (option !== null) option.hidden = option.disabled = !offered;
  }

  /** Shows an overlay's categories; what was switched off stays off while the overlay is the same kind. */
  show(overlay: Overlay, palette: Palette): void {
    const swatch = (paint: number) => {
      const made = element('span', { class: `swatch ${swatchClass(paint)}` });
      made.style.setProperty('--swatch', palette.strong(paint));
      const fill = palette.solid(paint);
      made.style.setProperty('--swatch-fill', typeof fill === 'string' ? fill : fill.stripes);
      return made;
    };
    if (overlay.kind !== this.#kind) this.#off.clear();
    this.#kind = overlay.kind;
    this.#select.value = overlay.kind;
    this.#list.replaceChildren(
      ...overlay.categories.map(({ key, label, paints: own, nodes, meaning }) => {
        const line = element(
          'button',
          {
            type: 'button',
            class: 'legend-line',
            'aria-pressed': String(!this.#off.has(key)),
            title: meaning,
            'data-category': key,
          },
          element('span', { class: 'swatches', 'aria-hidden': 'true' }, ...swatchPaints(own).map(swatch)),
          element('span', { class: 'legend-label' }, label),
          element('span', { class: 'legend-count muted' }, thousands(nodes)),
        );
        line.addEventListener('click', () => {
          if (!this.#off.delete(key)) this.#off.add(key);
          line.setAttribute('aria-pressed', String(!this.#off.has(key)));
          this.#changed(this.#off);
        });
        return line;
      }),
    );
  }

  get off(): ReadonlySet<string> {
    return this.#off;
  }
}

/** As many colours of one line of the legend as there is room for. */
export const swatchPaints = (all: readonly number[]): readonly number[] => all.slice(0, 4);

function swatchClass(paint: number): string {
  if (paint === paints.grey) return 'gone';
  if (paint === paints.unknown) return 'unknown';
  return isDerived(paint) ? 'derived' : 'painted';
}
