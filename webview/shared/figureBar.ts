import './figureBar.css';
import type { Headline } from '../../src/kernel/picture/page/headline.ts';
import type { Selection, ViewHost } from '../../src/kernel/protocol/views.ts';
import { button, element } from './element.ts';
import { sameSelection } from './sameSelection.ts';
import { strings } from './strings.ts';

/** What the bar asks of its view. */
export interface FigureBarActions {
  /** Selects what a figure counts or a step is about. */
  select(selection: Selection): void;
  run: ViewHost['run'];
}

/** Above every view: the figures of a build, each a filter, and one line on what to look at next. */
export class FigureBar {
  readonly root: HTMLElement;
  readonly #title = element('h1', { class: 'spoken' });
  readonly #figures = element('div', { class: 'figure-line', role: 'group', 'aria-label': strings.figures.label });
  readonly #next = element('div', { class: 'figure-line next', role: 'group', 'aria-label': strings.figures.next });
  readonly #actions: FigureBarActions;
  #buttons: [HTMLButtonElement, Selection][] = [];
  #selection: Selection = { kind: 'none' };
  #shown = '';
  #isBuilding = false;
  /** Begin a build. */
  #builds: HTMLButtonElement[] = [];

  constructor(actions: FigureBarActions) {
    this.#actions = actions;
    this.root = element('div', { class: 'figure-bar' }, this.#title, this.#figures, this.#next);
  }

  show(headline: Headline): void {
    const text = JSON.stringify(headline);
    // Data come again whenever something about the model changes: what has the focus stays.
    if (text === this.#shown) return;
    this.#shown = text;
    const { title, figures, next, notes } = headline;
    this.#buttons = [];
    this.#builds = [];
    this.#title.textContent = title;
    this.#figures.replaceChildren(
      ...figures.map(({ key, text: label, meaning, selection }) => {
        const made = this.#choice(label, meaning, 'figure', selection);
        made.dataset['figure'] = key;
        made.disabled = selection.kind === 'none';
        return made;
      }),
      ...(notes.length > 0 ? [notesOf(notes)] : []),
    );
    this.#next.replaceChildren(
      element('span', { class: 'muted', 'aria-hidden': 'true' }, strings.figures.nextTitle),
      ...next.map(({ text: label, meaning, selection, run }, i) => {
        if (selection !== undefined) return this.#choice(label, meaning, 'next-step', selection);
        const click = () => run !== undefined && this.#actions.run(run, []);
        const made = button(label, click, {
          title: meaning,
          class: i === 0 && run === 'build' ? 'next-step primary' : 'next-step',
        });
        if (run === 'build') this.#builds.push(made);
        return made;
      }),
    );
    this.#next.hidden = next.length === 0;
    this.mark(this.#selection);
    this.building(this.#isBuilding);
  }

  /** While a build runs, another one is not the next step. */
  building(isBuilding: boolean): void {
    this.#isBuilding = isBuilding;
    for (const made of this.#builds) made.hidden = isBuilding;
  }

  /** Shows what is selected, here or elsewhere. */
  mark(selection: Selection): void {
    this.#selection = selection;
    for (const [made, own] of this.#buttons) made.setAttribute('aria-pressed', String(sameSelection(own, selection)));
  }

  /** A button that selects, and clears the selection where it is its own. */
  #choice(label: string, meaning: string, kind: string, selection: Selection): HTMLButtonElement {
    const made = button(
      label,
      () => this.#actions.select(sameSelection(selection, this.#selection) ? { kind: 'none' } : selection),
      { title: meaning, class: kind },
    );
    if (selection.kind !== 'none') this.#buttons.push([made, selection]);
    return made;
  }
}

function notesOf(notes: readonly string[]): HTMLElement {
  const list = element('ul', {}, ...notes.map((note) => element('li', {}, note)));
  const details = element(
    'details',
    { class: 'figure-notes' },
    element('summary', {}, strings.figures.notes(notes.length)),
    list,
  );
  details.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !details.open) return;
    details.open = false;
    event.stopPropagation();
  });
  return details;
}
