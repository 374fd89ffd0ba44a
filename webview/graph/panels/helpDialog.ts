import { graphKeys, keyText } from '../../../src/protocol/graphActions.ts';
import { button, element } from './element.ts';
import { graphStrings } from './graphStrings.ts';

/** The list of keys, over the page. */
export class HelpDialog {
  readonly root: HTMLDialogElement;

  constructor() {
    const list = element('dl', { class: 'facts' });
    const contributed = graphKeys.map(({ key, meaning }) => [keyText(key), meaning] as const);
    for (const [key, meaning] of [...contributed, ...graphStrings.helpKeys]) {
      list.append(element('dt', { class: 'mono' }, key), element('dd', {}, meaning));
    }
    this.root = element(
      'dialog',
      { class: 'graph-help', 'aria-label': graphStrings.helpTitle },
      element('h2', {}, graphStrings.helpTitle),
      list,
      element('p', { class: 'muted' }, graphStrings.helpMouse),
      button(graphStrings.close, () => this.root.close()),
    );
  }

  open(): void {
    if (!this.root.open) this.root.showModal();
  }
}
