import { select } from 'd3-selection';
import type { FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import {
  type FusionPanel,
  locate,
  type PanelItem,
  type PanelSort,
  toFusionPanel,
} from '../../src/kernel/picture/page/fusionPanel.ts';
import type { Selection } from '../../src/kernel/protocol/views.ts';
import { sameSelection } from '../shared/sameSelection.ts';
import { strings } from '../shared/strings.ts';
import { foreignColor } from '../shared/theme.ts';

const texts = strings.reportPage;
/** Children that are listed at first, and that each `more` adds: thousands of kernels would only slow the page down. */
const page = 100;

interface Row {
  item: PanelItem;
  level: number;
  /** For a `more` line: how many are not listed yet. */
  more: number;
}

/** The side bar's tree on the plain page. In an editor its own tree view shows the same model. */
export function groupTree(parent: HTMLElement, onSelect: (selection: Selection) => void) {
  const box = select(parent).append('div').attr('class', 'groups');
  const search = box
    .append('input')
    .attr('type', 'search')
    .attr('placeholder', texts.search)
    .attr('aria-label', texts.search);
  const tools = box.append('div').attr('class', 'groups-tools');
  const label = tools.append('label');
  label.append('span').attr('class', 'muted').text(`${texts.sort} `);
  const sort = label.append('select');
  for (const [value, text] of Object.entries(texts.sorts)) sort.append('option').attr('value', value).text(text);
  const hits = tools.append('span').attr('class', 'muted').attr('role', 'status');
  const tree = box.append('div').attr('class', 'tree').attr('role', 'tree').attr('aria-label', texts.groups);

  let report: FusionReport | null = null;
  let panel: FusionPanel | null = null;
  let selection: Selection = { kind: 'none' };
  let current = '';
  /** The item that shows best what is selected, where it is not the very thing. */
  let near = '';
  const open = new Map<string, number>();

  const rows = (): Row[] => {
    const found: Row[] = [];
    const visit = (items: PanelItem[], level: number, shown: number, owner: PanelItem | null) => {
      for (const item of items.slice(0, shown)) {
        found.push({ item, level, more: 0 });
        const own = open.get(item.id);
        if (own !== undefined) visit(item.children(), level + 1, own, item);
      }
      if (owner !== null && items.length > shown) found.push({ item: owner, level, more: items.length - shown });
    };
    visit(panel?.items ?? [], 1, Infinity, null);
    return found;
  };

  const keyOf = ({ item, more }: Row): string => (more > 0 ? `${item.id}/…` : item.id);
  const isSelected = ({ item, more }: Row): boolean =>
    more === 0 && selection.kind !== 'none' && sameSelection(item.selection, selection);

  const draw = () => {
    const all = rows();
    if (!all.some((row) => keyOf(row) === current)) current = all[0] === undefined ? '' : keyOf(all[0]);
    const hadFocus = tree.node()?.contains(document.activeElement) === true;
    tree
      .selectAll<HTMLDivElement, Row>('.row')
      .data(all, keyOf)
      .join((enter) => {
        const row = enter.append('div').attr('class', 'row').attr('role', 'treeitem');
        row.append('i').attr('class', 'twist').attr('aria-hidden', 'true');
        row.append('i').attr('class', 'swatch').attr('aria-hidden', 'true');
        row.append('span').attr('class', 'label');
        row.append('span').attr('class', 'description');
        row.append('i').attr('class', 'share').attr('aria-hidden', 'true');
        return row;
      })
      .order()
      .attr('aria-level', ({ level }) => level)
      .attr('aria-expanded', ({ item, more }) => (more > 0 || !item.hasChildren ? null : String(open.has(item.id))))
      .attr('aria-selected', (row) => String(isSelected(row)))
      .attr('tabindex', (row) => (keyOf(row) === current ? 0 : -1))
      .attr('title', ({ item, more }) => (more > 0 ? null : item.tooltip))
      .classed('derived', ({ item }) => !item.exact)
      .classed('near', (row) => keyOf(row) === near && !isSelected(row))
      .style('padding-left', ({ level }) => `${(level - 1) * 14 + 4}px`)
      .on('click', (event: MouseEvent, row) => {
        current = keyOf(row);
        const onTwist = event.target instanceof Element && event.target.classList.contains('twist');
        if (row.more > 0 || onTwist) toggle(row);
        else onSelect(row.item.selection);
        draw();
      })
      .on('dblclick', (_, row) => toggle(row))
      .each(function (row) {
        const own = select(this);
        const { item, more } = row;
        own.select('.twist').text(more > 0 || !item.hasChildren ? '' : open.has(item.id) ? '▾' : '▸');
        own.select('.label').text(more > 0 ? texts.moreItems(more) : item.label);
        own.select('.description').text(more > 0 ? '' : item.description);
        own
          .select('.share')
          .style('width', more > 0 || item.share === null ? '0' : `${Math.min(1, item.share) * 100}%`);
        own
          .select('.swatch')
          .style('background', colorOf(item))
          .property('hidden', item.kind !== 'foreignNode');
      });
    if (hadFocus) focusCurrent();
  };

  const focusCurrent = () => {
    const row = tree
      .selectAll<HTMLDivElement, Row>('.row')
      .filter((data) => keyOf(data) === current)
      .node();
    row?.focus();
    row?.scrollIntoView({ block: 'nearest' });
  };

  const toggle = ({ item, more }: Row) => {
    if (more > 0) open.set(item.id, (open.get(item.id) ?? 0) + page);
    else if (open.has(item.id)) open.delete(item.id);
    else if (item.hasChildren) open.set(item.id, page);
    draw();
  };

  tree.on('keydown', (event: KeyboardEvent) => {
    const all = rows();
    const at = all.findIndex((row) => keyOf(row) === current);
    const row = all[at];
    if (row === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const go = (next: Row | undefined) => {
      if (next !== undefined) current = keyOf(next);
      draw();
      focusCurrent();
    };
    const isOpen = row.more === 0 && open.has(row.item.id);
    const keys: Record<string, () => void> = {
      ArrowDown: () => go(all[at + 1]),
      ArrowUp: () => go(all[at - 1]),
      Home: () => go(all[0]),
      End: () => go(all.at(-1)),
      ArrowRight: () => (isOpen ? go(all[at + 1]) : toggle(row)),
      ArrowLeft: () => {
        if (isOpen) toggle(row);
        else go(all.findLast((other, index) => index < at && other.level < row.level));
      },
      Enter: () => (row.more > 0 ? toggle(row) : onSelect(row.item.selection)),
      ' ': () => (row.more > 0 ? toggle(row) : onSelect(row.item.selection)),
    };
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });

  const make = () => {
    if (report === null) return;
    const text = search.property('value') as string;
    panel = toFusionPanel(report, { sort: sort.property('value') as PanelSort, search: text });
    hits.text(panel.hits === null ? '' : texts.hits(panel.hits.nodes, panel.hits.layers));
    draw();
  };
  search.on('input', make);
  sort.on('change', make);

  return {
    show(next: FusionReport | null) {
      report = next;
      box.property('hidden', next === null);
      open.clear();
      make();
    },
    /** Opens the way to what is selected and shows it, without taking the focus. */
    select(next: Selection) {
      selection = next;
      if (panel === null) return;
      const path = locate(panel, next);
      for (const [depth, item] of path.slice(0, -1).entries()) {
        const child = path[depth + 1];
        const position = child === undefined ? 0 : item.children().indexOf(child);
        open.set(item.id, Math.max(open.get(item.id) ?? page, position + 1));
      }
      const found = path.at(-1);
      near = found?.id ?? '';
      if (found !== undefined) current = found.id;
      draw();
      if (found !== undefined) {
        tree
          .selectAll<HTMLDivElement, Row>('.row')
          .filter((row) => keyOf(row) === found.id)
          .node()
          ?.scrollIntoView({ block: 'nearest' });
      }
    },
  };
}

const colorOf = ({ selection }: PanelItem): string =>
  selection.kind === 'foreignNode' ? `var(--lens-c${foreignColor(selection.id)})` : 'transparent';
