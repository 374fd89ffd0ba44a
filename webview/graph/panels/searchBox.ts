import { element } from '../../shared/element.ts';
import { graphStrings } from './graphStrings.ts';
import { iconButton } from './internal/icons.ts';

/** As many results as a list shows; the count next to the field is of all. */
const most = 200;

/** One result: what it is and where. */
export interface SearchEntry {
  type: string;
  path: string;
}

/** What the search asks the view to do. */
export interface SearchActions {
  /** Finds the results of a text, and what is wrong with it. */
  find(text: string): { hits: number; problem: string };
  /** Describes the n-th result. */
  entry(at: number): SearchEntry;
  /** Shows the n-th result. */
  go(at: number): void;
  /** Gives the keyboard's focus back to the graph. */
  leave(): void;
}

/** The search field, the number of results, their list, and the way through them. */
export class SearchBox {
  readonly root: HTMLElement;
  readonly input: HTMLInputElement;
  readonly #actions: SearchActions;
  readonly #count = element('output', { class: 'hits muted', 'aria-live': 'polite' });
  readonly #list = element('div', {
    class: 'search-results',
    id: 'search-results',
    role: 'listbox',
    'aria-label': graphStrings.results,
    hidden: true,
  });
  #at = -1;
  #hits = 0;

  constructor(actions: SearchActions) {
    this.#actions = actions;
    this.input = element('input', {
      type: 'search',
      role: 'combobox',
      'aria-label': graphStrings.search,
      'aria-controls': 'search-results',
      'aria-expanded': 'false',
      'aria-autocomplete': 'list',
      placeholder: graphStrings.searchPlaceholder,
      title: graphStrings.searchHint,
      spellcheck: 'false',
    });
    this.input.addEventListener('input', () => this.#search());
    this.input.addEventListener('keydown', (event) => {
      if (this.#key(event)) event.preventDefault();
    });
    this.input.addEventListener('focus', () => this.#unfold(this.#hits > 0));
    // A result keeps the field focused, so that keys go on working.
    this.#list.addEventListener('mousedown', (event) => event.preventDefault());
    this.#list.addEventListener('click', ({ target }) => {
      const at = (target as HTMLElement).closest<HTMLElement>('[role=option]')?.dataset['at'];
      if (at !== undefined) this.#goTo(Number(at));
    });
    this.root = element(
      'div',
      { class: 'graph-search', role: 'search' },
      this.input,
      this.#count,
      iconButton('arrowUp', graphStrings.previousHit, () => this.step(-1)),
      iconButton('arrowDown', graphStrings.nextHit, () => this.step(1)),
      this.#list,
    );
    this.root.addEventListener('focusout', ({ relatedTarget }) => {
      if (!this.root.contains(relatedTarget as Node | null)) this.#unfold(false);
    });
  }

  /** Puts the focus in the field, with its text selected: typing replaces it. */
  open(): void {
    this.input.focus();
    this.input.select();
  }

  /** To the next result (or, with -1, the one before), round and round. */
  step(by: number): void {
    if (this.#hits === 0) return;
    this.#goTo(this.#at < 0 ? (by > 0 ? 0 : this.#hits - 1) : (this.#at + by + this.#hits) % this.#hits);
  }

  /** Searches again, after the data changed. */
  refresh(): void {
    if (this.input.value !== '') this.#search();
  }

  #key({ key, shiftKey }: KeyboardEvent): boolean {
    switch (key) {
      case 'Enter':
        this.step(shiftKey ? -1 : 1);
        return true;
      case 'ArrowDown':
      case 'ArrowUp':
        this.step(key === 'ArrowDown' ? 1 : -1);
        return true;
      case 'Escape':
        this.input.value = '';
        this.#search();
        this.#actions.leave();
        return true;
      default:
        return false;
    }
  }

  #search(): void {
    const { hits, problem } = this.#actions.find(this.input.value);
    this.#at = -1;
    this.#hits = hits;
    const empty = this.input.value.trim() === '';
    this.#count.textContent = problem !== '' ? problem : empty ? '' : graphStrings.hits(-1, hits);
    this.input.setAttribute('aria-invalid', String(problem !== ''));
    this.#list.replaceChildren(...this.#entries());
    this.#unfold(hits > 0 && document.activeElement === this.input);
  }

  #entries(): Node[] {
    const made: Node[] = [];
    for (let at = 0; at < Math.min(this.#hits, most); at++) {
      const { type, path } = this.#actions.entry(at);
      const name = element('span', { class: 'muted mono' }, path);
      const id = `search-result-${at}`;
      made.push(element('div', { role: 'option', id, 'data-at': at, 'aria-selected': 'false' }, type, ' ', name));
    }
    if (this.#hits > most)
      made.push(
        element(
          'div',
          { class: 'muted', role: 'option', 'aria-disabled': 'true', 'aria-selected': 'false' },
          graphStrings.moreHits(this.#hits - most),
        ),
      );
    return made;
  }

  #goTo(at: number): void {
    this.#at = at;
    this.#count.textContent = graphStrings.hits(at, this.#hits);
    for (const old of this.#list.querySelectorAll('[aria-selected=true]')) old.setAttribute('aria-selected', 'false');
    const shown = this.#list.querySelector(`[data-at="${at}"]`);
    shown?.setAttribute('aria-selected', 'true');
    shown?.scrollIntoView({ block: 'nearest' });
    if (shown === null) this.input.removeAttribute('aria-activedescendant');
    else this.input.setAttribute('aria-activedescendant', shown.id);
    this.#actions.go(at);
  }

  #unfold(open: boolean): void {
    this.#list.hidden = !open;
    this.input.setAttribute('aria-expanded', String(open));
    if (!open) this.input.removeAttribute('aria-activedescendant');
  }
}
