import { sankey, type SankeyGraph, type SankeyLink, type SankeyNode } from 'd3-sankey';
import { select, type Selection as D3Selection } from 'd3-selection';
import type { FlowColumn, FlowItem, FlowLink, FusionFlow } from '../../src/kernel/picture/page/fusionFlow.ts';
import { type FusionUnit, type Weight, weightOf } from '../../src/kernel/picture/page/layerRows.ts';
import type { Selection } from '../../src/kernel/protocol/views.ts';
import { arrowKeys } from '../shared/arrowKeys.ts';
import { fitText, textWidth } from '../shared/fitText.ts';
import { strings } from '../shared/strings.ts';
import { definePatterns, lineOf, paintOf } from '../shared/paint.ts';
import { sameSelection } from '../shared/sameSelection.ts';
import type { SelectionSet } from './selectionSet.ts';
import { counted, percentText, thousands, timeText } from '../../src/kernel/base/text.ts';

type Node = SankeyNode<FlowItem, FlowLink>;
type Link = SankeyLink<FlowItem, FlowLink>;

export interface ChartEvents {
  select(selection: Selection): void;
  open(id: string): void;
}

const columnOrder: FlowColumn[] = ['modules', 'groups', 'kernels'];
const padding = 18;
const heading = 26;
const barWidth = 12;
const lowestBlock = 17;

/** The ribbons: modules on the left, fusion groups as blocks in the middle, kernels on the right. */
export function flowChart(parent: HTMLElement, events: ChartEvents) {
  const svg = select(parent).append('svg').attr('class', 'flow').attr('role', 'group');
  svg.attr('aria-label', strings.fusion.flow.title).attr('aria-description', strings.fusion.flow.help);
  const element = svg.node();
  if (element === null) throw new Error('An SVG element could not be made.');
  definePatterns(element);
  const headings = svg.append('g').attr('class', 'headings').attr('aria-hidden', 'true');
  const ribbons = svg.append('g').attr('class', 'ribbons').attr('aria-hidden', 'true');
  const marked = svg.append('g').attr('class', 'marked').attr('aria-hidden', 'true');
  const blocks = svg.append('g').attr('class', 'blocks');
  // Texts are a layer of their own: they are cut to fit, while a block's name for screen readers is whole.
  const labels = svg.append('g').attr('class', 'labels').attr('aria-hidden', 'true');
  const keepFocus = arrowKeys(parent, '.block');
  let shown: { flow: FusionFlow; links: Link[]; weight: Weight } | null = null;

  svg.on('keydown', (event: KeyboardEvent) => {
    if (event.key !== '+' || !(event.target instanceof SVGElement)) return;
    const item = select<SVGElement, Node | undefined>(event.target).datum();
    if (item?.opens !== null && item?.opens !== undefined) events.open(item.opens);
  });

  const mark = (set: SelectionSet) => {
    if (shown === null) return;
    const { flow, links, weight } = shown;
    svg.classed('selecting', !set.none);
    const fraction = (units: readonly FusionUnit[], whole: number) =>
      whole > 0 ? units.reduce((sum, unit) => sum + (set.unit(unit) ? weightOf(unit, weight) : 0), 0) / whole : 0;
    const parts = new Map(links.map((link) => [link, set.none ? 0 : fraction(link.units, link.value)]));
    marked
      .selectAll<SVGPathElement, Link>('path')
      .data(links.filter((link) => (parts.get(link) ?? 0) > 0))
      .join('path')
      .attr('d', (link) => ribbonPath(link, Math.max(1.5, (link.width ?? 0) * (parts.get(link) ?? 0))))
      .style('fill', (link) => ribbonColor(link));
    const isOn = (item: Node) => !set.none && (flow.units.get(item.id) ?? []).some(set.unit);
    blocks
      .selectAll<SVGGElement, Node>('.block')
      .classed('on', isOn)
      .attr('aria-pressed', (item) => String(!set.none && sameSelection(item.selection, set.selection)));
    labels.selectAll<SVGGElement, Node>('.texts').classed('on', isOn);
  };

  const draw = (flow: FusionFlow, weight: Weight, width: number) => {
    const frame = frameOf(flow, weight, width);
    const rows = Math.max(...columnOrder.map((column) => flow.columns[column].length));
    const height = heading + Math.max(260, rows * (padding + 9));
    svg.attr('viewBox', `0 0 ${width} ${height}`).attr('width', width).attr('height', height);
    const { nodes, links } = layOut(flow, frame, height);
    shown = { flow, links, weight };
    drawHeadings(headings, frame, flow);
    ribbons
      .selectAll<SVGPathElement, Link>('path')
      .data(links, (link) => `${idOf(link.source)}>${idOf(link.target)}`)
      .join((enter) => enter.append('path').call((path) => path.append('title')))
      .attr('d', (link) => ribbonPath(link, Math.max(1, link.width ?? 0)))
      .attr('class', (link) => (isDerived(link) ? 'derived' : null))
      .style('fill', (link) => ribbonColor(link))
      .style('stroke', (link) => (isDerived(link) ? ribbonColor(link) : null))
      .on('click', (_, link) => events.select(nodesOf(link, flow)))
      .select('title')
      .text((link) => ribbonTitle(link, weight));
    const groups = blocks
      .selectAll<SVGGElement, Node>('.block')
      .data(nodes, (item) => item.id)
      .join((enter) => enter.append('g').attr('class', 'block').attr('role', 'button').call(addParts))
      .order()
      .attr('data-id', (item) => item.id)
      .attr('aria-label', (item) => spoken(item, flow.total, weight))
      .attr('aria-expanded', (item) => (item.opens === null ? null : 'false'))
      .on('click', (_, item) => {
        if (item.selection.kind === 'none' && item.opens !== null) events.open(item.opens);
        else events.select(item.selection);
      });
    const texts = labels
      .selectAll<SVGGElement, Node>('.texts')
      .data(nodes, (item) => item.id)
      .join((enter) => enter.append('g').call(addTexts));
    texts.select<SVGTextElement>('.handle').on('click', (_, item) => {
      if (item.opens !== null) events.open(item.opens);
    });
    drawTexts(texts, frame, flow.total, weight);
    drawBlocks(groups, frame, flow.total, weight);
    keepFocus();
  };

  return { draw, mark };
}

interface Frame {
  width: number;
  font: string;
  /** Of what is told in small. */
  small: string;
  /** Room for the widest value next to a bar. */
  valueWidth: number;
  /** Left and right edge of each column's blocks. */
  x: Record<FlowColumn, [number, number]>;
}

function frameOf(flow: FusionFlow, weight: Weight, width: number): Frame {
  const left = Math.min(360, Math.max(110, width * 0.25));
  const right = Math.min(420, Math.max(150, width * 0.33));
  const block = Math.min(230, Math.max(120, width * 0.22));
  const middle = left + (width - left - right) * 0.5;
  const style = getComputedStyle(document.body);
  const font = `${style.fontSize} ${style.fontFamily}`;
  const sides = [...flow.columns.modules, ...flow.columns.kernels];
  return {
    width,
    font,
    small: `${Number.parseFloat(style.fontSize) * 0.92}px ${style.fontFamily}`,
    valueWidth: 14 + Math.max(30, ...sides.map((item) => textWidth(valueOf(item, flow.total, weight), font))),
    x: {
      modules: [left, left + barWidth],
      groups: [middle - block / 2, middle + block / 2],
      kernels: [width - right - barWidth, width - right],
    },
  };
}

function layOut(flow: FusionFlow, { x }: Frame, height: number): { nodes: Node[]; links: Link[] } {
  const nodes = columnOrder.flatMap((column) => flow.columns[column].map((item): Node => ({ ...item })));
  if (nodes.length === 0 || flow.links.length === 0) return { nodes: [], links: [] };
  const links = flow.links.map((link) => ({ ...link, source: link.from, target: link.to, value: link.weight }));
  const layout = sankey<FlowItem, FlowLink>()
    .nodeId(({ id }) => id)
    .nodeAlign(({ column }) => columnOrder.indexOf(column))
    .nodeWidth(barWidth)
    .nodePadding(padding)
    // The order is the model's and the engine's: it means something, fewer crossings do not.
    .nodeSort(null as unknown as (a: Node, b: Node) => number)
    .extent([
      [0, heading + 6],
      [1, height - 10],
    ]);
  const graph = layout({ nodes, links });
  balance(graph, heading + 6, height - 10);
  for (const node of graph.nodes) [node.x0, node.x1] = x[node.column];
  layout.update(graph);
  return graph;
}

/** Gaps that are larger would tear a column of few blocks apart. */
const largestGap = 4 * padding;

/** Gives each column the same middle, and what its blocks leave of the height to the gaps between them. */
function balance({ nodes }: SankeyGraph<FlowItem, FlowLink>, top: number, bottom: number): void {
  for (const column of columnOrder) {
    const own = nodes.filter((node) => node.column === column).sort((a, b) => (a.y0 ?? 0) - (b.y0 ?? 0));
    const heights = own.map(({ y0 = 0, y1 = 0 }) => y1 - y0);
    const free = bottom - top - heights.reduce((sum, height) => sum + height, 0);
    const gap = own.length < 2 ? 0 : Math.min(largestGap, free / (own.length - 1));
    let at = top + (free - gap * (own.length - 1)) / 2;
    for (const [i, node] of own.entries()) {
      node.y0 = at;
      node.y1 = at + heights[i]!;
      at = node.y1 + gap;
    }
  }
  // Ribbons leave and arrive in the order of the blocks at their other ends.
  const edge = (end: Link['source']): number => itemOf(end)?.y0 ?? 0;
  for (const { sourceLinks, targetLinks } of nodes) {
    sourceLinks?.sort((a, b) => edge(a.target) - edge(b.target));
    targetLinks?.sort((a, b) => edge(a.source) - edge(b.source));
  }
}

/** A ribbon as a shape: a thick line would bulge where it is steep, and stick out at its ends. */
function ribbonPath({ source, target, y0 = 0, y1 = 0 }: Link, width: number): string {
  const [from, to] = [itemOf(source)?.x1 ?? 0, itemOf(target)?.x0 ?? 0];
  const middle = (from + to) / 2;
  const half = width / 2;
  const side = (a: number, end: number, b: number) => `C${middle},${a} ${middle},${b} ${end},${b}`;
  return [
    `M${from},${y0 - half}`,
    side(y0 - half, to, y1 - half),
    `V${y1 + half}`,
    side(y1 + half, from, y0 + half),
    'Z',
  ].join('');
}

const idOf = (end: Link['source']): string => (typeof end === 'object' ? end.id : String(end));
const itemOf = (end: Link['source']): Node | undefined => (typeof end === 'object' ? end : undefined);

/** A ribbon has its group's color, on both sides of the group. */
function groupOf(link: Link): Node | undefined {
  const source = itemOf(link.source);
  return source?.column === 'groups' ? source : itemOf(link.target);
}
function ribbonColor(link: Link): string {
  const group = groupOf(link);
  return group === undefined ? 'var(--lens-gray)' : lineOf(group);
}
/** Drawn as derived where most of it is; how much, its title says. */
const isDerived = (link: Link): boolean => link.derived > link.value / 2;

function nodesOf(link: Link, flow: FusionFlow): Selection {
  const target = itemOf(link.target);
  const source = itemOf(link.source);
  if (source === undefined || target === undefined) return { kind: 'none' };
  // Between a group and its kernels the kernels say all; between a module and a group it is the nodes of both.
  if (target.column === 'kernels') return target.selection;
  const inGroup = new Set(flow.units.get(target.id) ?? []);
  if (source.selection.kind !== 'nodes') return source.selection;
  return { kind: 'nodes', ids: nodeIds(flow, source, inGroup) };
}

function nodeIds(flow: FusionFlow, source: FlowItem, inGroup: ReadonlySet<FusionUnit>): string[] {
  const ids = new Set<string>();
  for (const unit of flow.units.get(source.id) ?? []) {
    const id = unit.node === null ? undefined : flow.nodeIds[unit.node];
    if (id !== undefined && inGroup.has(unit)) ids.add(id);
  }
  return [...ids];
}

const amount = (value: number, weight: Weight, noun: FlowItem['noun']): string =>
  weight === 'time' ? timeText(value) : counted(Math.round(value), noun);

const ribbonTitle = (link: Link, weight: Weight): string =>
  strings.fusion.flow.ribbon(
    itemOf(link.source)?.label ?? '',
    itemOf(link.target)?.label ?? '',
    amount(link.value, weight, itemOf(link.source)?.noun ?? 'node'),
  ) + (link.derived > 0 ? ` (${strings.fusion.flow.derived(amount(link.derived, weight, 'node'))})` : '');

/** What the user asks first, then the rest: each entry may become a line of its own. */
const factLines = (item: FlowItem, total: number, weight: Weight): string[] => {
  const all = facts(item, total, weight).split(' · ');
  return all.length < 3 ? [all.join(' · ')] : [all.slice(0, 2).join(' · '), all.slice(2).join(' · ')];
};

const facts = (item: FlowItem, total: number, weight: Weight): string =>
  [
    // Without a model, the layers below say the same.
    item.nodes > 0 && item.column !== 'modules' && item.noun === 'node' ? counted(item.nodes, 'node') : '',
    item.column === 'groups' && item.layers > 1
      ? counted(item.layers, item.foreignNode === null ? 'layer' : 'kernel')
      : '',
    weight === 'time' ? percentText((item.weight / total) * 100) : '',
    derivedText(item),
  ]
    .filter((part) => part !== '')
    .join(' · ');

const derivedText = ({ exact, derived, nodes }: FlowItem): string =>
  exact && derived === 0
    ? ''
    : derived === 0 || derived === nodes
      ? strings.common.derived
      : strings.fusion.flow.someDerived(derived);

const spoken = (item: FlowItem, total: number, weight: Weight): string =>
  [
    item.label,
    item.detail,
    item.column === 'modules' ? counted(item.nodes, item.noun) : '',
    facts(item, total, weight),
    item.ms > 0 ? timeText(item.ms) : '',
  ]
    .filter((part) => part !== '')
    .join(', ');

function drawHeadings(
  parent: D3Selection<SVGGElement, unknown, null, undefined>,
  { x, font, width }: Frame,
  flow: FusionFlow,
): void {
  const room = (column: FlowColumn): number =>
    column === 'modules' ? x[column][1] : column === 'groups' ? x.kernels[0] - x.modules[1] - 8 : width - x[column][0];
  parent
    .selectAll<SVGTextElement, FlowColumn>('text')
    .data(columnOrder.filter((column) => flow.columns[column].length > 0))
    .join('text')
    .attr('y', 14)
    .attr('x', (column) =>
      column === 'modules' ? x[column][1] : column === 'groups' ? (x[column][0] + x[column][1]) / 2 : x[column][0],
    )
    .attr('text-anchor', (column) => (column === 'modules' ? 'end' : column === 'groups' ? 'middle' : 'start'))
    .text((column) => fitText(strings.fusion.flow.columns[column], room(column), `600 ${font}`));
}

function addParts(block: D3Selection<SVGGElement, Node, SVGGElement, unknown>): void {
  block.append('title');
  block.append('rect').attr('class', 'reach');
  block.append('rect').attr('class', 'body');
}

function addTexts(texts: D3Selection<SVGGElement, Node, SVGGElement, unknown>): void {
  texts.append('text').attr('class', 'value');
  texts.append('text').attr('class', 'label');
  texts.append('text').attr('class', 'detail');
  texts.append('text').attr('class', 'second detail');
  texts.append('text').attr('class', 'handle');
}

function drawBlocks(
  blocks: D3Selection<SVGGElement, Node, SVGGElement, unknown>,
  frame: Frame,
  total: number,
  weight: Weight,
): void {
  blocks.each(function (item) {
    const block = select<SVGGElement, Node>(this).attr(
      'class',
      `block in-${item.column}${item.exact ? '' : ' derived'}`,
    );
    const { x0 = 0, x1 = 0, y0 = 0, y1 = 0 } = item;
    // A group's name is in its block, however little goes through it; the padding keeps neighbors apart.
    const tall = Math.max(item.column === 'groups' ? lowestBlock : 2, y1 - y0);
    block.select('title').text(`${spoken(item, total, weight)}`);
    const reach = Math.max(lowestBlock, y1 - y0);
    const [from, to] = item.column === 'modules' ? [0, x1] : item.column === 'kernels' ? [x0, frame.width] : [x0, x1];
    block
      .select('.reach')
      .attr('x', from)
      .attr('y', (y0 + y1 - reach) / 2)
      .attr('width', to - from)
      .attr('height', reach);
    block
      .select('.body')
      .attr('x', x0)
      .attr('y', (y0 + y1 - tall) / 2)
      .attr('width', x1 - x0)
      .attr('height', tall)
      .attr('rx', item.column === 'groups' ? 4 : 2)
      .style('fill', paintOf(item))
      .style('stroke', lineOf(item));
  });
}

function drawTexts(
  texts: D3Selection<SVGGElement, Node, SVGGElement, unknown>,
  frame: Frame,
  total: number,
  weight: Weight,
): void {
  texts.each(function (item) {
    const own = select<SVGGElement, Node>(this).attr('class', `texts in-${item.column}`);
    const place = item.column === 'groups' ? insideText : besideText;
    place(own, item, frame, total, weight);
  });
}

const put = (
  block: D3Selection<SVGGElement, Node, null, undefined>,
  part: string,
  text: string,
  x: number,
  y: number,
  anchor: 'start' | 'middle' | 'end',
) => block.select(part).attr('x', x).attr('y', y).attr('text-anchor', anchor).text(text);

/** A group's texts are in its block: two lines where they fit, otherwise one. */
function insideText(
  block: D3Selection<SVGGElement, Node, null, undefined>,
  item: Node,
  { font, small }: Frame,
  total: number,
  weight: Weight,
): void {
  const { x0 = 0, x1 = 0, y0 = 0, y1 = 0 } = item;
  const handle = item.opens === null ? 0 : 16;
  const middle = (x0 + x1 - handle) / 2;
  const room = x1 - x0 - 12 - handle;
  const center = (y0 + y1) / 2;
  const lines = y1 - y0 < 38 ? [] : factLines(item, total, weight).slice(0, y1 - y0 < 54 ? 1 : 2);
  const both = `${item.label} · ${valueOf(item, total, weight)}`;
  const label = lines.length > 0 || textWidth(both, `600 ${font}`) > room ? item.label : both;
  const first = center + 4 - lines.length * 8;
  put(block, '.label', fitText(label, room, `600 ${font}`), middle, first, 'middle');
  put(block, '.detail', fitText(lines[0] ?? '', room, small), middle, first + 16, 'middle');
  put(block, '.second', fitText(lines[1] ?? '', room, small), middle, first + 32, 'middle');
  put(block, '.value', '', middle, center, 'middle');
  put(block, '.handle', item.opens === null ? '' : '⊕', x1 - 8, center + 4, 'end');
}

const valueOf = (item: FlowItem, total: number, weight: Weight): string =>
  weight === 'time' ? percentText((item.weight / total) * 100) : thousands(Math.round(item.weight * 10) / 10);

/** Less of a detail than fits here, in pixels, says nothing. */
const leastDetail = 80;

/** Left of the modules' bars, right of the kernels': value next to the bar, then the label, then what is told in small. */
function besideText(
  block: D3Selection<SVGGElement, Node, null, undefined>,
  item: Node,
  { font, small, width, valueWidth }: Frame,
  total: number,
  weight: Weight,
): void {
  const { x0 = 0, x1 = 0, y0 = 0, y1 = 0 } = item;
  const left = item.column === 'modules';
  const y = (y0 + y1) / 2 + 4;
  const value = valueOf(item, total, weight);
  const handleWidth = item.opens === null ? 0 : 18;
  const edge = left ? x0 - 6 : x1 + 6;
  const sign = left ? -1 : 1;
  const anchor = left ? 'end' : 'start';
  const start = edge + sign * valueWidth;
  const room = (left ? start : width - start) - handleWidth - 4;
  const label = fitText(item.label, room, font, left && !item.label.includes('…') ? 'end' : 'start');
  const used = textWidth(label, font) + handleWidth;
  const rest = room - used - 8;
  const detail = rest > Math.min(leastDetail, textWidth(item.detail, small)) ? fitText(item.detail, rest, small) : '';
  put(block, '.value', value, left ? edge : edge + valueWidth - 10, y, 'end');
  put(block, '.handle', item.opens === null ? '' : '⊕', start, y, anchor);
  put(block, '.label', label, start + sign * handleWidth, y, anchor);
  put(block, '.detail', detail, start + sign * (used + 8), y, anchor);
}
