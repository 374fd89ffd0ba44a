import type { ViewHost } from '../../../src/kernel/protocol/views.ts';
import { button, element } from '../../shared/element.ts';
import { graphStrings } from './graphStrings.ts';

/** What is shown instead of a graph: why there is none, or else the ways to one. A file that cannot be read builds no engine. */
export function emptyState(message: string, host: ViewHost): Node[] {
  const title = element('h1', {}, graphStrings.empty.title);
  if (message !== '') return [title, element('p', {}, message)];
  return [
    title,
    element('p', {}, graphStrings.empty.howTo),
    element(
      'p',
      {},
      button(graphStrings.empty.build, () => host.run('build', []), { class: 'primary' }),
      ' ',
      button(graphStrings.empty.openLog, () => host.run('attach', [])),
    ),
  ];
}
