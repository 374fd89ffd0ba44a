import { foreignTitle, titleOfLayer, longestName } from '../../../src/kernel/report/words.ts';
import type { DrawnGroup } from '../../../src/kernel/picture/graph/fusionGroups.ts';
import type { TensorOrigin } from '../../../src/kernel/picture/graph/graphIndex.ts';
import { sourceRanges } from '../../../src/kernel/network/sourceLines.ts';
import { shorten } from '../../../src/kernel/base/text.ts';
import type { ViewHost } from '../../../src/kernel/protocol/views.ts';
import type { GraphModel } from '../view/graphModel.ts';
import { button, element } from '../../shared/element.ts';
import { graphStrings } from './graphStrings.ts';

const words = graphStrings.facts;

/** A point by its full name, or by operator and id if it has none. */
export function pointName({ graph }: GraphModel, point: number): string {
  const node = graph.data.nodes[point];
  if (node !== undefined) return node.name === '' ? `${node.op} (node ${node.id})` : node.name;
  return (
    (graph.data.inputs[point - graph.nodes] ?? graph.data.outputs[point - graph.nodes - graph.data.inputs.length])
      ?.name ?? ''
  );
}

/** What a ForeignNode is called, or a layer by its name. */
export function groupName(model: GraphModel, group: DrawnGroup): string {
  if (group.kind === 'foreign') return foreignTitle(model.data.report!, group.ref);
  return titleOfLayer(model.data.report!, group.ref);
}

export function heading(text: string, note: string | null = null): Node {
  return element('h2', {}, text, note === null ? null : element('span', { class: 'muted note' }, ` ${note}`));
}

export const detailSection = (title: string, content: Node): Node =>
  element('section', {}, element('h3', {}, title), content);

export function factList(rows: [string, string | Node][]): Node {
  const list = element('dl', { class: 'facts' });
  for (const [name, value] of rows) list.append(element('dt', {}, name), element('dd', { class: 'wrap' }, value));
  return list;
}

/** What details lead to. */
export interface DetailTargets {
  /** Selects a point and brings it into sight. */
  go(point: number): void;
  selectGroup(group: number): void;
  selectTensors(origins: TensorOrigin[]): void;
}

/** The links in details: to nodes, tensors, layers and lines of the log. */
export class DetailLinks {
  readonly #host: ViewHost;
  readonly #targets: DetailTargets;

  constructor(host: ViewHost, targets: DetailTargets) {
    this.#host = host;
    this.#targets = targets;
  }

  point(model: GraphModel, point: number, say: (name: string) => string = (name) => name): Node {
    return button(say(pointName(model, point)), () => this.#targets.go(point), { class: 'link wrap' });
  }

  points(model: GraphModel, points: readonly number[]): Node {
    const list = element('ul', {});
    for (const point of points.slice(0, 100)) list.append(element('li', {}, this.point(model, point)));
    if (points.length > 100) list.append(element('li', { class: 'muted' }, words.more(points.length - 100)));
    return list;
  }

  tensor(origin: TensorOrigin): Node {
    return button(origin.name, () => this.#targets.selectTensors([origin]), { class: 'link mono wrap' });
  }

  layer(id: number, name: string): Node {
    const select = () => this.#host.selected({ kind: 'layers', ids: [id] });
    return button(shorten(name, longestName) || `layer ${id}`, select, { class: 'link mono wrap' });
  }

  /** The lines of the program that nodes come from, as a link to them; nothing where none is recorded. */
  source(model: GraphModel, points: readonly number[]): Node[] {
    const nodes = points.flatMap((point) => model.graph.data.nodes[point] ?? []);
    const text = sourceRanges(nodes.map(({ source }) => source));
    if (text === '') return [];
    const open = () =>
      this.#host.run(
        'goToSource',
        nodes.flatMap(({ id, source }) => (source === undefined ? [] : [id])),
      );
    return [element('p', {}, `${words.source} `, button(text, open, { class: 'link mono wrap' }))];
  }

  /** '' without a line. */
  line(line: number | null | undefined): Node | string {
    if (line === null || line === undefined) return '';
    return button(words.logLine(line), () => this.#host.openLine('log', line), { class: 'link' });
  }
}
