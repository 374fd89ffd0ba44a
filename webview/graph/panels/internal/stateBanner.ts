import './stateBanner.css';
import { type BuildNotice, type BuildStep, profileNotice, stepWords } from '../../../../src/kernel/build/diagnosis.ts';
import type { Building } from '../../../../src/kernel/protocol/views.ts';
import type { GraphModel } from '../../view/graphModel.ts';
import { button, element } from '../../../shared/element.ts';
import { graphStrings } from '../graphStrings.ts';

export interface StateActions {
  run(step: BuildStep): void;
  /** Selects nodes by their ids and brings them into sight. */
  showNodes(ids: string[]): void;
}

type Kind = BuildNotice['kind'] | 'running';

/** What a kind looks like next to its color. */
const signs: Record<Kind, string> = {
  failed: '✕',
  cancelled: '⊘',
  stale: '!',
  profile: 'i',
  engine: 'i',
  part: 'i',
  near: 'i',
  checked: '✓',
  running: '…',
};

/** Under the header: a build that runs, failed or was cancelled, a picture of an older model, each with the next step. */
export class StateBanner {
  readonly root: HTMLElement;
  readonly #actions: StateActions;
  readonly #running: HTMLElement;
  readonly #text: HTMLElement;
  readonly #notices: HTMLElement;
  #model: GraphModel | null = null;
  #building = false;
  #shown = '';
  /** What the user closed; it comes back when something in it changes. */
  readonly #closed = new Set<string>();

  constructor(actions: StateActions) {
    this.#actions = actions;
    this.#text = element('span', { class: 'state-message' });
    const cancel = button(stepWords.cancel, () => actions.run('cancel'));
    this.#running = line('running', this.#text, element('span', { class: 'state-steps' }, cancel));
    this.#running.hidden = true;
    // Progress would be read aloud several times a second; how a build ended is said once.
    this.#notices = element('div', { role: 'status' });
    this.root = element(
      'section',
      { class: 'graph-state', 'aria-label': graphStrings.state },
      this.#running,
      this.#notices,
    );
    this.#update();
  }

  show(model: GraphModel | null): void {
    this.#model = model;
    this.#update();
  }

  building(building: Building | null): void {
    const began = this.#building !== (building !== null);
    this.#building = building !== null;
    this.#text.textContent = building?.text ?? '';
    this.#running.hidden = building === null;
    if (began) this.#update();
  }

  #update(): void {
    const shown = this.#building ? [] : noticesOf(this.#model).filter((notice) => !this.#closed.has(keyOf(notice)));
    const text = shown.map(keyOf).join('\n');
    // What is read aloud must not be put there again.
    if (text !== this.#shown) {
      this.#shown = text;
      this.#notices.replaceChildren(...shown.map((notice) => this.#line(notice)));
    }
    this.root.hidden = !this.#building && shown.length === 0;
  }

  #line(notice: BuildNotice): HTMLElement {
    const { kind, message, advice, steps } = notice;
    const guilty = kind === 'failed' ? [...new Set(this.#model?.data.state?.faults.flatMap(({ nodes }) => nodes))] : [];
    const close = () => {
      this.#closed.add(keyOf(notice));
      this.#update();
    };
    return line(
      kind,
      element(
        'span',
        { class: 'state-message', tabindex: '0' },
        element('strong', {}, message),
        advice === '' ? null : ` ${advice}`,
      ),
      element(
        'span',
        { class: 'state-steps' },
        guilty.length > 0 && button(graphStrings.showNodes(guilty.length), () => this.#actions.showNodes(guilty)),
        ...steps.map((step) => button(stepWords[step], () => this.#actions.run(step))),
      ),
      button('✕', close, { class: 'state-close', 'aria-label': graphStrings.dismiss, title: graphStrings.dismiss }),
    );
  }
}

const keyOf = (notice: BuildNotice): string => JSON.stringify(notice);

const line = (kind: Kind, message: Node, steps: Node, ...behind: Node[]): HTMLElement =>
  element(
    'div',
    { class: `state-line state-${kind}` },
    element('span', { class: 'state-sign', 'aria-hidden': 'true' }, signs[kind]),
    element('div', { class: 'state-body' }, message, steps),
    ...behind,
  );

/** What is to be said of a model's builds, and of colors that lack what they show. */
function noticesOf(model: GraphModel | null): BuildNotice[] {
  if (model === null) return [];
  const { build, state } = model.data;
  const notices = state?.notices ?? [];
  if (model.overlay.kind !== 'time' || build === null || model.times?.some((ms) => !Number.isNaN(ms)) === true)
    return notices;
  return [...notices, profileNotice(build)];
}
