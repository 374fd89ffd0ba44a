import type { Change } from '../../src/kernel/report/buildDiff.ts';
import { changeColumns, type ChangeRow, toChangeRows } from '../../src/features/diff/changeRows.ts';
import { matcher, wordsOf } from '../../src/kernel/picture/graph/graphIndex.ts';
import type { ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import type { Selection, View, ViewHost } from '../../src/kernel/protocol/views.ts';
import { mountGraph } from '../graph/view/mountGraph.ts';
import { viewState } from '../shared/connect.ts';
import { strings } from '../shared/strings.ts';
import '../shared/base.css';
import { tabPanels } from '../shared/tabPanels.ts';
import { initialTable, type TableState, virtualTable } from '../table/virtualTable.ts';
import { changeList } from './changeList.ts';
import { compareTimeline } from './compareTimeline.ts';
import './compare.css';
import { sidesHeader } from './sidesHeader.ts';
import { statePaint } from './statePaint.ts';
import { addTo } from '../../src/kernel/base/addTo.ts';

type CompareTab = 'graph' | 'table';

interface ViewState {
  tab: CompareTab;
  table: TableState;
}

/**
 * Two builds side by side: the changes ranked by what they cost, both timelines on one axis, the graph of the newer build
 * with the changes on it and the nodes that only the older one has, and a table with both columns. What is selected in one of them is selected in all.
 */
export function mountComparison(root: HTMLElement, host: ViewHost): View {
  const kept = viewState<ViewState>('compare');
  const now: ViewState = { tab: 'graph', table: initialTable, ...kept.get() };
  const box = (parent: HTMLElement, tag: 'div' | 'header' | 'aside' | 'section', name: string): HTMLElement => {
    const element = document.createElement(tag);
    element.className = name;
    parent.append(element);
    return element;
  };
  const page = box(root, 'div', 'compare');
  const blank = box(page, 'div', 'blank');
  const body = box(page, 'div', 'compare-body');
  body.hidden = true;
  let data: ViewData | null = null;
  /** The changes of each node of the graph. */
  let ofNode = new Map<string, Change[]>();
  /** The graph's ids of the nodes that only A has, by their ids in A. */
  let olderIds = new Map<string, string>();
  let selected: ReadonlySet<Change> = new Set();
  /** What the graph is to show once it can be seen. */
  let forGraph: (() => void) | null = null;

  const header = sidesHeader(box(body, 'header', 'compare-head'));
  const list = changeList(box(body, 'aside', 'compare-list'), {
    select: (changes) => choose(changes, 'list'),
    openLine: (side, line) => host.openLine(side === 'a' ? 'logBefore' : 'log', line),
  });
  const main = box(body, 'section', 'compare-main');
  const timeline = compareTimeline(box(main, 'div', 'compare-timeline'), (side, layers) => {
    const own = new Set(layers);
    const of = ({ layersA, layersB }: Change) => (side === 'a' ? layersA : layersB).some((id) => own.has(id));
    choose(data?.comparison?.diff.changes.filter(of) ?? [], 'timeline');
  });
  const tabs = tabPanels<CompareTab>(main, {
    label: strings.compare.tabs.label,
    names: ['graph', 'table'],
    title: (name) => strings.compare.tabs[name],
    first: now.tab,
    changed: () => {
      now.tab = tabs.current();
      kept.set(now);
      showGraph();
    },
  });
  const graph = mountGraph(tabs.panels.graph, {
    ...host,
    selected: (selection) => choose(changesOf(selection), 'graph'),
    ready: () => {},
  });
  const table = virtualTable<ChangeRow>(tabs.panels.table, {
    label: strings.compare.table.title,
    noun: ['change', 'changes'],
    columns: changeColumns,
    state: now.table,
    remember: (state) => {
      now.table = state;
      kept.set(now);
    },
    filter: filterChanges,
    filterHint: strings.compare.table.filterHint,
    select: (rows) =>
      choose(
        rows.flatMap(({ changes }) => changes),
        'table',
      ),
    paint: ({ state }) => statePaint(state === 'unknown' ? null : state),
  });

  function showGraph(): void {
    if (tabs.current() !== 'graph') return;
    forGraph?.();
    forGraph = null;
  }

  function changesOf(selection: Selection): Change[] {
    if (selection.kind === 'nodes') return [...new Set(selection.ids.flatMap((id) => ofNode.get(id) ?? []))];
    const ids = new Set(
      selection.kind === 'layers'
        ? selection.ids
        : selection.kind === 'foreignNode'
          ? (data?.report?.foreignNodes[selection.id]?.layers ?? [])
          : [],
    );
    return data?.comparison?.diff.changes.filter(({ layersB }) => layersB.some((id) => ids.has(id))) ?? [];
  }

  const idsInGraph = ({ nodesA, nodesB }: Change): string[] => [
    ...nodesB,
    ...nodesA.flatMap((id) => olderIds.get(id) ?? []),
  ];

  function choose(changes: readonly Change[], from: 'list' | 'timeline' | 'graph' | 'table'): void {
    selected = new Set(changes);
    list.mark(selected);
    timeline.mark({
      a: new Set(changes.flatMap(({ layersA }) => layersA)),
      b: new Set(changes.flatMap(({ layersB }) => layersB)),
    });
    table.mark(({ changes }) => changes.some((change) => selected.has(change)));
    if (from === 'graph') return;
    const ids = [...new Set(changes.flatMap(idsInGraph))];
    const show = () => graph.select(ids.length === 0 ? { kind: 'none' } : { kind: 'nodes', ids });
    if (tabs.current() === 'graph') show();
    else {
      const before = forGraph;
      forGraph = () => {
        before?.();
        show();
      };
    }
  }

  page.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && selected.size > 0) choose([], 'list');
  });

  return {
    show(next, message) {
      const comparison = next?.comparison;
      const report = next?.report ?? null;
      data = next;
      blank.hidden = comparison !== undefined && report !== null;
      body.hidden = !blank.hidden;
      if (next === null || comparison === undefined || report === null) {
        blank.textContent = message;
        return;
      }
      ofNode = new Map();
      olderIds = new Map((next.graph?.nodes ?? []).flatMap(({ id, older }) => (older ? [[older.id, id]] : [])));
      for (const change of comparison.diff.changes) for (const id of idsInGraph(change)) addTo(ofNode, id, change);
      selected = new Set();
      header.show(comparison);
      list.show(comparison, report);
      table.show(toChangeRows(report, comparison));
      forGraph = () => graph.show(next, message);
      showGraph();
      timeline.show(comparison, report);
    },
    select: (selection) => choose(changesOf(selection), 'list'),
  };
}

/** Changes with all words of a filter in their sentence, kind or sides; `/…/` is a regular expression. */
function filterChanges(rows: readonly ChangeRow[], text: string): { rows: ChangeRow[]; problem: string } {
  const tests = wordsOf(text).map((word) => ({ word, match: matcher(word, false) }));
  const bad = tests.find(({ match }) => match === null);
  if (bad !== undefined) return { rows: [...rows], problem: `${bad.word} is not a regular expression` };
  const fits = ({ changes }: ChangeRow) =>
    changes.some(({ message, kind, a, b }) =>
      tests.every(({ match }) => [message, kind, a, b].some((part) => match?.(part))),
    );
  return { rows: rows.filter(fits), problem: '' };
}
