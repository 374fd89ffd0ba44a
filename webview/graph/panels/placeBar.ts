import { counted, thousands } from '../../../src/kernel/base/text.ts';
import { button, element } from '../../shared/element.ts';
import { graphStrings } from './graphStrings.ts';

/** A place above what is selected. */
export interface Crumb {
  text: string;
  go: () => void;
}

/** What is shown of the graph; `steps`: how far from the selection, null for paths. */
export interface Isolated {
  nodes: number;
  of: number;
  steps: number | null;
}

/** What the line asks the view to do. */
export interface PlaceActions {
  showAll(): void;
  /** More (1) or fewer (-1) steps from the selection. */
  step(by: number): void;
}

/** The line over the graph: the modules around what is selected, and, of a part of the graph, what it is and the way back. */
export class PlaceBar {
  readonly root: HTMLElement;
  readonly #crumbs = element('ol', { class: 'crumbs' });
  readonly #part = element('div', { class: 'graph-part', hidden: true });
  readonly #notice = element('span', { class: 'muted', role: 'status' });
  readonly #actions: PlaceActions;

  constructor(actions: PlaceActions) {
    this.#actions = actions;
    const crumbs = element('nav', { 'aria-label': graphStrings.crumbs }, this.#crumbs);
    this.root = element('div', { class: 'graph-place' }, crumbs, this.#notice, this.#part);
  }

  /** The modules from the outermost to the innermost, then what is selected itself. */
  showCrumbs(crumbs: readonly Crumb[]): void {
    this.#notice.textContent = '';
    this.#crumbs.replaceChildren(
      ...crumbs.map(({ text, go }, i) =>
        element(
          'li',
          {},
          button(text, go, { class: 'link', ...(i === crumbs.length - 1 && { 'aria-current': 'location' }) }),
        ),
      ),
    );
  }

  /** null: the whole graph is shown. */
  showPart(part: Isolated | null): void {
    this.#notice.textContent = '';
    this.#part.hidden = part === null;
    if (part === null) return;
    const { nodes, of, steps } = part;
    const what = `${thousands(nodes)} of ${counted(of, 'node')}: ${steps === null ? graphStrings.paths : graphStrings.around(steps)}`;
    const step = (by: number, name: string) =>
      button(by > 0 ? '+' : '−', () => this.#actions.step(by), {
        'aria-label': name,
        title: name,
        disabled: by < 0 && steps === 0,
      });
    this.#part.replaceChildren(
      element('span', { role: 'status' }, what),
      ...(steps === null ? [] : [step(-1, graphStrings.fewerSteps), step(1, graphStrings.moreSteps)]),
      button(graphStrings.showAll, () => this.#actions.showAll(), { class: 'primary' }),
    );
  }

  /** Why nothing happened, in a sentence, until something else is selected. */
  say(notice: string): void {
    this.#notice.textContent = notice;
  }
}
