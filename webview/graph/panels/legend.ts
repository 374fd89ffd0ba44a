import { type Overlay, type OverlayKind, overlayKinds, paints } from '../../../src/kernel/picture/graph/overlay.ts';
import { element } from '../../shared/element.ts';
import { graphStrings } from './graphStrings.ts';
import { iconButton } from './internal/icons.ts';
import { isDerived, type Palette } from '../draw/palette.ts';
import { thousands } from '../../../src/kernel/base/text.ts';

/** A group in the legend's list: its position in the report's groups, its name, what it takes or has, its paint. */
export interface LegendGroup {
  group: number;
  label: string;
  note: string;
  paint: number;
}

/**
 * The choice of overlay and the legend below the graph, whose lines switch what they stand for off and on, and whose
 * list of groups leads to each of them. It can be folded to one line.
 */
export class Legend {
  readonly root: HTMLElement;
  readonly #list: HTMLElement;
  readonly #groups: HTMLDetailsElement;
  readonly #summary = element('summary', {});
  readonly #entries = element('div', { class: 'legend-entries' });
  readonly #selectGroup: (group: number) => void;
  readonly #select: HTMLSelectElement;
  readonly #changed: (off: ReadonlySet<string>) => void;
  readonly #off = new Set<string>();
  #kind: OverlayKind | null = null;

  constructor(
    choose: (kind: OverlayKind) => void,
    changed: (off: ReadonlySet<string>) => void,
    selectGroup: (group: number) => void,
  ) {
    this.#changed = changed;
    this.#selectGroup = selectGroup;
    this.#select = element('select', {
      // Where there is little room, the text next to it is hidden.
      'aria-label': graphStrings.overlay,
      onchange: () => choose(this.#select.value as OverlayKind),
    });
    for (const kind of overlayKinds)
      this.#select.append(element('option', { value: kind }, graphStrings.overlays[kind]));
    this.#list = element('div', {
      class: 'legend-list',
      id: 'legend-list',
      role: 'group',
      'aria-label': graphStrings.legend,
    });
    this.#groups = element('details', { class: 'legend-groups', hidden: true }, this.#summary, this.#entries);
    this.#groups.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.#groups.open) return;
      event.stopPropagation();
      this.#fold();
    });
    this.#groups.addEventListener('focusout', ({ relatedTarget }) => {
      if (relatedTarget instanceof Node && !this.#groups.contains(relatedTarget)) this.#groups.open = false;
    });
    const label = element('label', { class: 'legend-title' }, element('span', {}, graphStrings.overlay), this.#select);
    const fold = iconButton(
      'chevronDown',
      graphStrings.foldLegend,
      () => {
        this.#list.hidden = !this.#list.hidden;
        fold.setAttribute('aria-expanded', String(!this.#list.hidden));
      },
      { class: 'legend-fold', 'aria-expanded': 'true', 'aria-controls': 'legend-list' },
    );
    this.root = element('div', { class: 'graph-legend' }, label, this.#list, this.#groups, fold);
  }

  #fold(): void {
    this.#groups.open = false;
    this.#summary.focus();
  }

  /** Lists groups, in this order; each leads to its group. */
  list(groups: readonly LegendGroup[], palette: Palette): void {
    this.#groups.hidden = groups.length === 0;
    this.#summary.textContent = graphStrings.groups(groups.length);
    this.#entries.replaceChildren(
      ...groups.slice(0, mostEntries).map(({ group, label, note, paint }) => {
        const entry = element(
          'button',
          { type: 'button', class: 'legend-line' },
          element('span', { class: 'swatches', 'aria-hidden': 'true' }, swatchOf(palette, paint)),
          element('span', { class: 'legend-name' }, label),
          element('span', { class: 'muted' }, note),
        );
        entry.addEventListener('click', () => {
          this.#fold();
          this.#selectGroup(group);
        });
        return entry;
      }),
    );
  }

  /** Whether the choice has an overlay: what happened to overrides, for instance, only after a build that had some. */
  offer(kind: OverlayKind, offered: boolean): void {
    const option = this.#select.querySelector<HTMLOptionElement>(`option[value=${kind}]`);
    if (option !== null) option.hidden = option.disabled = !offered;
  }

  /** Shows an overlay's categories; what was switched off stays off while the overlay is the same kind. */
  show(overlay: Overlay, palette: Palette): void {
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
          element(
            'span',
            { class: 'swatches', 'aria-hidden': 'true' },
            ...swatchPaints(own).map((paint) => swatchOf(palette, paint)),
          ),
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

/** As many groups as the list shows; the largest come first. */
const mostEntries = 300;

function swatchOf(palette: Palette, paint: number): HTMLElement {
  const made = element('span', { class: `swatch ${swatchClass(paint)}` });
  made.style.setProperty('--swatch', palette.strong(paint));
  const fill = palette.solid(paint);
  made.style.setProperty('--swatch-fill', typeof fill === 'string' ? fill : fill.stripes);
  return made;
}

/** As many colors of one line of the legend as there is room for. */
export const swatchPaints = (all: readonly number[]): readonly number[] => all.slice(0, 4);

function swatchClass(paint: number): string {
  if (paint === paints.gray) return 'gone';
  if (paint === paints.unknown) return 'unknown';
  if (paint === paints.lost) return 'lost';
  return isDerived(paint) ? 'derived' : 'painted';
}
