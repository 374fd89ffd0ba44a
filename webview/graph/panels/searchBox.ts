import { button, element } from './element.ts';
import { graphStrings } from './graphStrings.ts';

/** The search field, the number of hits, and the way through them. */
export class SearchBox {
  readonly root: HTMLElement;
  readonly input: HTMLInputElement;
  readonly #count: HTMLElement;
  #at = -1;
  #hits = 0;

  /** `query` finds the hits of a text, and what is wrong with it; `go` shows the n-th; `leave` gives the focus back. */
  constructor(query: (text: string) => { hits: number; problem: string }, go: (at: number) => void, leave: () => void) {
    this.#count = element('output', { class: 'hits muted', 'aria-live': 'polite' });
    this.input = element('input', {
      type: 'search',
      'aria-label': graphStrings.search,
      placeholder: graphStrings.searchPlaceholder,
      title: graphStrings.searchHint,
      spellcheck: 'false',
    });
    this.input.addEventListener('input', () => {
      const { hits, problem } = query(this.input.value);
      this.#at = -1;
      this.#hits = hits;
      this.#count.textContent =
        problem !== '' ? problem : this.input.value.trim() === '' ? '' : graphStrings.hits(-1, hits);
      this.input.setAttribute('aria-invalid', String(problem !== ''));
    });
    this.input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.step(event.shiftKey ? -1 : 1);
      else if (event.key === 'Escape') {
        if (this.input.value === '') leave();
        this.input.value = '';
        this.input.dispatchEvent(new Event('input'));
      } else if (event.key === 'ArrowDown') leave();
      else return;
      event.preventDefault();
    });
    this.step = (by: number): void => {
      if (this.#hits === 0) return;
      this.#at = this.#at < 0 ? (by > 0 ? 0 : this.#hits - 1) : (this.#at + by + this.#hits) % this.#hits;
      this.#count.textContent = graphStrings.hits(this.#at, this.#hits);
      go(this.#at);
    };
    this.root = element(
      'div',
      { class: 'graph-search', role: 'search' },
      this.input,
      this.#count,
      button('↑', () => this.step(-1), { 'aria-label': graphStrings.previousHit, title: graphStrings.previousHit }),
      button('↓', () => this.step(1), { 'aria-label': graphStrings.nextHit, title: graphStrings.nextHit }),
    );
  }

  /** To the next hit (or, with -1, the one before). */
  readonly step: (by: number) => void;

  /** Searches again, after the data changed. */
  refresh(): void {
    if (this.input.value !== '') this.input.dispatchEvent(new Event('input'));
  }
}
