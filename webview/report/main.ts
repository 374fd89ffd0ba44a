import type { ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import type { Selection, View, ViewHost } from '../../src/kernel/protocol/views.ts';
import { mountFusion } from '../fusion/mountFusion.ts';
import { mountGraph } from '../graph/view/mountGraph.ts';
import { mountComparison } from '../compare/mountComparison.ts';
import { viewState } from '../shared/connect.ts';
import { strings } from '../shared/strings.ts';
import '../shared/base.css';
import { groupTree } from './groupTree.ts';
import { pageHeader, type Tab, type ThemeChoice } from './pageHeader.ts';
import './report.css';
import { splitter } from './splitter.ts';
import { errorText } from '../../src/kernel/base/problem.ts';

interface ViewState {
  tab: Tab;
  theme: ThemeChoice;
}

/** Both views and the tree of groups on one page; what is selected in one is selected in all. */
function start(root: HTMLElement): void {
  const kept = viewState<ViewState>('page');
  const now: ViewState = { tab: 'fusion', theme: 'system', ...kept.get() };
  const views: { name: 'tree' | 'fusion' | 'graph'; select(selection: Selection): void }[] = [];

  const box = (parent: HTMLElement, tag: 'div' | 'main' | 'nav' | 'section', name: string): HTMLElement => {
    const element = document.createElement(tag);
    element.className = name;
    parent.append(element);
    return element;
  };
  const page = box(root, 'div', 'page');
  const headBox = box(page, 'div', 'page-top');
  const body = box(page, 'div', 'page-body');
  const side = box(body, 'nav', 'side');
  const main = box(body, 'main', 'center');
  const sideBar = box(main, 'div', 'splitter');
  const both = box(main, 'div', 'views');
  const graphBox = box(both, 'section', 'view graph-view');
  const middleBar = box(both, 'div', 'splitter');
  const fusionBox = box(both, 'section', 'view fusion-view');
  const said = box(page, 'div', 'toast');
  side.setAttribute('aria-label', strings.reportPage.groups);
  graphBox.setAttribute('aria-label', strings.reportPage.graph);
  fusionBox.setAttribute('aria-label', strings.reportPage.fusion);
  said.setAttribute('role', 'status');

  let timer = 0;
  const say = (text: string) => {
    said.textContent = text;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => (said.textContent = ''), 8000);
  };
  let selection: Selection = { kind: 'none' };
  const selected = (from: string, next: Selection) => {
    selection = next;
    for (const view of views) if (view.name !== from) view.select(next);
  };
  /** What the graph is to show once it can be seen: laying out what no one looks at would only hold up the rest. */
  let forGraph: (() => void) | null = null;
  const showGraph = () => {
    if (graphBox.hidden) return;
    forGraph?.();
    forGraph = null;
  };
  const showTab = (tab: Tab) => {
    now.tab = tab;
    kept.set(now);
    graphBox.hidden = tab === 'fusion';
    fusionBox.hidden = tab === 'graph';
    middleBar.hidden = tab !== 'both';
    both.dataset['tab'] = tab;
    showGraph();
  };
  const header = pageHeader(headBox, now, {
    tab: showTab,
    theme: (theme) => {
      now.theme = theme;
      kept.set(now);
    },
  });

  const host = (name: 'fusion' | 'graph'): ViewHost => ({
    ready: () => {},
    selected: (next) => selected(name, next),
    openLine: (file, line) => say(strings.reportPage.lineAt(strings.reportPage.texts[file], line)),
    exportPicture: download,
    run: (command, nodeIds) => {
      if (command === 'openGraph' || command === 'openFusion') {
        header.choose(now.tab === 'both' ? 'both' : command === 'openGraph' ? 'graph' : 'fusion');
        if (nodeIds.length > 0) selected('', { kind: 'nodes', ids: nodeIds });
      } else say(strings.reportPage.commands[command] ?? strings.reportPage.inEditor);
    },
    failed: (message) => say(strings.reportPage.failed(message)),
  });
  window.addEventListener('error', ({ message }) => say(strings.reportPage.failed(message)));

  const graph: View = mountGraph(graphBox, host('graph'), { ownKeys: true });
  const fusion: View = mountFusion(fusionBox, host('fusion'));
  const tree = groupTree(side, (next) => {
    tree.select(next);
    selected('tree', next);
  });
  views.push(
    { name: 'tree', select: (next) => tree.select(next) },
    { name: 'graph', select: (next) => forGraph === null && graph.select(next) },
    { name: 'fusion', select: (next) => fusion.select(next) },
  );
  splitter(sideBar, body, strings.reportPage.splitter, 22, (percent) =>
    side.style.setProperty('flex-basis', `${percent}%`),
  );
  splitter(middleBar, both, strings.reportPage.middle, 50, (percent) => {
    graphBox.style.setProperty('flex-basis', `${percent}%`);
  });

  const show = (data: ViewData | null, message: string) => {
    selection = { kind: 'none' };
    header.show(data);
    tree.show(data?.report ?? null);
    side.hidden = sideBar.hidden = (data?.report ?? null) === null;
    forGraph = () => {
      graph.show(data, message);
      graph.select(selection);
    };
    showGraph();
    fusion.select(selection);
    fusion.show(data, message);
    document.documentElement.dataset['shown'] = data === null ? 'nothing' : 'data';
  };
  const { data, message } = embeddedData();
  if (data?.comparison === undefined) show(data, message);
  else {
    page.replaceChildren(said);
    mountComparison(box(page, 'main', 'view'), host('graph')).show(data, message);
    document.documentElement.dataset['shown'] = 'data';
  }
}

/** Offers a picture as a file to save. */
function download(kind: 'svg' | 'png', content: string, name: string): void {
  const type = kind === 'svg' ? 'image/svg+xml' : 'image/png';
  const bytes = kind === 'svg' ? content : Uint8Array.from(atob(content), (letter) => letter.codePointAt(0) ?? 0);
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The data that the page carries; where it cannot be read, `message` says why. */
function embeddedData(): { data: ViewData | null; message: string } {
  try {
    const value: unknown = JSON.parse(document.getElementById('view-data')?.textContent ?? '');
    if (typeof value === 'object' && value !== null && 'title' in value && 'graph' in value && 'report' in value)
      return { data: value as ViewData, message: '' };
    return { data: null, message: strings.reportPage.badData('it contains no view data') };
  } catch (error) {
    return { data: null, message: strings.reportPage.badData(errorText(error)) };
  }
}

const root = document.getElementById('root');
if (root !== null) start(root);
