import type { OverlayKind } from '../../../src/kernel/picture/graph/overlay.ts';
import { graphKeys, keyText } from '../../../src/kernel/protocol/graphActions.ts';
import type { Selection, ViewHost } from '../../../src/kernel/protocol/views.ts';
import { GraphTree } from '../view/graphTree.ts';
import { button, element } from '../../shared/element.ts';
import { FigureBar } from '../../shared/figureBar.ts';
import { graphStrings } from './graphStrings.ts';
import { HoverCard } from './hoverCard.ts';
import { Inspector, type InspectorActions } from './inspector.ts';
import { iconButton } from './internal/icons.ts';
import { StateBanner } from './internal/stateBanner.ts';
import { Legend } from './legend.ts';
import { Minimap } from './minimap.ts';
import { type PlaceActions, PlaceBar } from './placeBar.ts';
import { SearchBox, type SearchEntry } from './searchBox.ts';

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

/** What the parts of the page ask the view to do. */
export interface GraphCommands {
  readonly selecting: InspectorActions & {
    goToHit(at: number): void;
    hitEntry(at: number): SearchEntry;
    /** Selects, brings it into sight, and tells the host. */
    pick(selection: Selection): void;
  };
  readonly part: PlaceActions;
  readonly stage: { center(x: number, y: number): void };
  setOverlay(kind: OverlayKind): void;
  filter(): void;
  find(text: string): { hits: number; problem: string };
  /** Expands or collapses a module. */
  toggle(module: number): void;
  fit(): void;
  zoomBy(factor: number): void;
  collapseAll(): void;
  setFlat(flat: boolean): void;
  exportPicture(kind: 'svg' | 'png'): void;
}

/** The page's elements and parts, put together but empty. */
export interface GraphParts {
  canvas: HTMLCanvasElement;
  stage: HTMLElement;
  main: HTMLElement;
  empty: HTMLElement;
  header: HTMLElement;
  figures: FigureBar;
  state: StateBanner;
  flat: HTMLButtonElement;
  tree: GraphTree;
  legend: Legend;
  search: SearchBox;
  minimap: Minimap;
  inspector: Inspector;
  card: HoverCard;
  place: PlaceBar;
  help: HelpDialog;
}

/** Builds the page in `root`. */
export function buildParts(root: HTMLElement, host: ViewHost, commands: GraphCommands): GraphParts {
  const canvas = element('canvas', { 'aria-hidden': 'true' });
  const tree = new GraphTree();
  const help = new HelpDialog();
  const legend = new Legend(
    (kind) => commands.setOverlay(kind),
    () => commands.filter(),
    (group) => commands.selecting.selectGroup(group),
  );
  const search = new SearchBox({
    find: (text) => commands.find(text),
    entry: (at) => commands.selecting.hitEntry(at),
    go: (at) => commands.selecting.goToHit(at),
    leave: () => tree.focus(),
  });
  const minimap = new Minimap((x, y) => commands.stage.center(x, y));
  const state = new StateBanner({
    run: (step) => host.run(step, []),
    showNodes: (ids) => commands.selecting.pick({ kind: 'nodes', ids }),
  });
  const figures = new FigureBar({
    select: (selection) => commands.selecting.pick(selection),
    run: (command, nodes) => host.run(command, nodes),
  });
  const inspector = new Inspector(host, commands.selecting, (module) => commands.toggle(module));
  const flat = iconButton(
    'flat',
    graphStrings.flat,
    () => commands.setFlat(flat.getAttribute('aria-pressed') !== 'true'),
    { title: graphStrings.flatHint, 'aria-pressed': 'false' },
  );
  const picture = (kind: 'svg' | 'png') =>
    iconButton(kind, graphStrings[kind], () => commands.exportPicture(kind), {
      title: graphStrings.exportHint(graphStrings[kind]),
    });
  const tools = element(
    'div',
    { class: 'graph-tools', role: 'toolbar', 'aria-label': graphStrings.tools },
    search.root,
    iconButton('fit', graphStrings.fit, () => commands.fit(), { title: graphStrings.fitHint }),
    iconButton('zoomIn', graphStrings.zoomIn, () => commands.zoomBy(1.4)),
    iconButton('zoomOut', graphStrings.zoomOut, () => commands.zoomBy(1 / 1.4)),
    iconButton('collapse', graphStrings.collapse, () => commands.collapseAll()),
    flat,
    picture('svg'),
    picture('png'),
    iconButton('help', graphStrings.help, () => help.open()),
  );
  const header = element('header', { class: 'graph-header' }, figures.root, tools);
  const stage = element('div', { class: 'graph-stage' }, canvas, tree.root);
  const card = new HoverCard();
  const floor = element('div', { class: 'graph-floor' }, stage, minimap.root, card.root);
  const place = new PlaceBar({ showAll: () => commands.part.showAll(), step: (by) => commands.part.step(by) });
  const column = element('div', { class: 'graph-column' }, place.root, floor, legend.root);
  const main = element('div', { class: 'graph-main' }, column, inspector.root);
  const empty = element('div', { class: 'graph-empty' });
  root.classList.add('graph-root');
  root.append(header, state.root, main, empty, help.root);
  return {
    canvas,
    stage,
    main,
    empty,
    header,
    figures,
    state,
    flat,
    tree,
    legend,
    search,
    minimap,
    inspector,
    card,
    place,
    help,
  };
}
