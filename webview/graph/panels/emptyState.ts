import type { ViewHost } from '../../../src/protocol/views.ts';
import { button, element } from './element.ts';
import { graphStrings } from './graphStrings.ts';

/** What is shown instead of a graph: why there is none, and the ways to one. */
export function emptyState(message: string, host: ViewHost): Node[] {
  return [
    element('h1', {}, graphStrings.empty.title),
    element('p', {}, message === '' ? graphStrings.empty.howTo : message),
    element(
      'p',
      {},
      button(graphStrings.empty.build, () => host.run('build', []), { class: 'primary' }),
      ' ',
      button(graphStrings.empty.openLog, () => host.run('attach', [])),
    ),
  ];
}
