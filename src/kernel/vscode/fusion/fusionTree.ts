import * as vscode from 'vscode';
import type { FusionReport } from '../../fusion/fusionReport.ts';
import {
  type FusionPanel,
  groupColors,
  locate,
  type PanelItem,
  type PanelSort,
  type Swatch,
  toFusionPanel,
} from '../../picture/page/fusionPanel.ts';
import type { GraphData } from '../../picture/graph/viewData.ts';
import type { Builds } from '../builds/builds.ts';
import { openGraph } from '../graph/graphEditorProvider.ts';
import { contextKeys, fusionTreeId, type PanelState } from '../ids.ts';
import type { Session } from '../workspace/session.ts';
import type { Sessions } from '../workspace/sessions.ts';
import { messageOf } from '../workspace/viewConnections.ts';
import { fusionTreeItem } from './internal/fusionTreeItem.ts';
import { releaseName } from '../../base/text.ts';

/** Of more nodes than this a search result would be longer than anyone scrolls. */
const mostExpanded = 500;
const lastModel = 'tensorrtLens.lastModel';

/** The side bar's tree: the fusion groups of the current model's newest build, and in each group its nodes. */
export class FusionTree implements vscode.TreeDataProvider<PanelItem>, vscode.Disposable {
  readonly #sessions: Sessions;
  readonly #builds: Builds;
  readonly #memory: vscode.Memento;
  readonly #view: vscode.TreeView<PanelItem>;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #revealed = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable;
  #panel: FusionPanel | undefined;
  /** What the panel was made from: the same report with the same search and sorting gives the same items. */
  #made: { report: FusionReport; sort: PanelSort; search: string } | undefined;
  /** Lines that are being brought into view: the tree then reports them as selected, which the user did not do. */
  readonly #revealing = new Set<PanelItem>();
  #colors: { graph: GraphData; report: FusionReport; of: (item: PanelItem) => Swatch | null } | undefined;
  #sort: PanelSort = 'time';
  #search = '';

  readonly onDidChangeTreeData = this.#changed.event;
  /** What is selected elsewhere was brought into view, if there is a line for it. */
  readonly onDidReveal = this.#revealed.event;

  constructor(sessions: Sessions, builds: Builds, memory: vscode.Memento) {
    this.#sessions = sessions;
    this.#builds = builds;
    this.#memory = memory;
    this.#view = vscode.window.createTreeView(fusionTreeId, { treeDataProvider: this, showCollapseAll: true });
    this.#subscriptions = vscode.Disposable.from(
      sessions.onDidChange((session) => this.#ifCurrent(session, () => this.refresh())),
      sessions.onDidChangeCurrent((session) => {
        this.refresh();
        void memory.update(lastModel, session?.key);
      }),
      sessions.onDidSelect(({ session, origin }) => {
        if (origin !== 'tree') this.#ifCurrent(session, () => void this.#reveal(session));
      }),
      builds.onDidChange(() => this.#describe()),
      this.#view.onDidChangeVisibility(({ visible }) => {
        if (visible) this.#catchUp();
      }),
      this.#view.onDidChangeSelection(({ selection: [item] }) => {
        if (item !== undefined && !this.#revealing.has(item)) this.#select(item);
      }),
    );
    this.#describe();
    if (this.#view.visible) this.#catchUp();
  }

  /** The graph's colors, made when the first line of a report is drawn. */
  #colorOf(item: PanelItem): Swatch | null {
    const { graph = null, newest = null } = this.#sessions.current?.state ?? {};
    const report = newest?.report ?? null;
    if (graph === null || report === null) return null;
    if (this.#colors?.graph !== graph || this.#colors.report !== report)
      this.#colors = { graph, report, of: groupColors(graph, report) };
    return this.#colors.of(item);
  }

  get sort(): PanelSort {
    return this.#sort;
  }

  get search(): string {
    return this.#search;
  }

  getTreeItem(item: PanelItem): vscode.TreeItem {
    const few = (this.#panel?.hits?.nodes ?? 0) <= mostExpanded;
    return fusionTreeItem(item, {
      session: this.#sessions.current?.key ?? '',
      search: few ? this.#search : '',
      swatch: this.#colorOf(item),
    });
  }

  getChildren(item?: PanelItem): PanelItem[] {
    return item === undefined ? (this.#panel?.items ?? []) : item.children();
  }

  getParent(item: PanelItem): PanelItem | null {
    return item.parent;
  }

  setSort(sort: PanelSort): void {
    this.#sort = sort;
    this.refresh();
  }

  setSearch(search: string): void {
    this.#search = search;
    void vscode.commands.executeCommand('setContext', contextKeys.searching, search !== '');
    this.refresh();
  }

  refresh(): void {
    const report = this.#sessions.current?.report ?? null;
    const wanted = { sort: this.#sort, search: this.#search };
    const made = this.#made;
    if (report === null) {
      this.#panel = undefined;
      this.#made = undefined;
    } else if (made?.report !== report || made.sort !== wanted.sort || made.search !== wanted.search) {
      this.#panel = toFusionPanel(report, wanted);
      this.#made = { report, ...wanted };
    }
    this.#describe();
    this.#changed.fire();
  }

  /** A click or Enter on an item: selects it everywhere and brings up the graph. */
  async show(item: PanelItem): Promise<void> {
    const session = this.#sessions.current;
    if (session === undefined) return;
    this.#select(item);
    await openGraph(session.uri, { preserveFocus: true });
  }

  /** Brings the side bar up without taking the focus from where the user is. */
  async bringUp(): Promise<void> {
    const [first] = this.#panel?.items ?? [];
    if (first === undefined) await vscode.commands.executeCommand('workbench.view.extension.tensorrtLens');
    else
      await this.#view.reveal(first, { select: false, focus: false }).then(undefined, () => {
        // The tree was replaced meanwhile: what replaced it is on view.
      });
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#changed.dispose();
    this.#revealed.dispose();
    this.#view.dispose();
  }

  /** The view was hidden: shows what was selected meanwhile, or after a restart the model of the last time. */
  #catchUp(): void {
    const { current } = this.#sessions;
    const last = this.#memory.get<string>(lastModel);
    if (current !== undefined) void this.#reveal(current);
    else if (last !== undefined) this.#sessions.setCurrent(vscode.Uri.parse(last));
  }

  #ifCurrent(session: Session, act: () => void): void {
    if (session === this.#sessions.current) act();
  }

  #select(item: PanelItem): void {
    const session = this.#sessions.current;
    if (session !== undefined) this.#sessions.select(session, item.selection, 'tree');
  }

  async #reveal({ selection }: Session): Promise<void> {
    // A hidden view would be brought up by reveal(); it catches up when it is shown.
    if (this.#panel === undefined || !this.#view.visible || selection.kind === 'none') return;
    const item = innermost(locate(this.#panel, selection).at(-1));
    if (item === undefined || this.#view.selection[0] === item) return;
    this.#revealing.add(item);
    try {
      await this.#view.reveal(item, { select: true, focus: false });
    } catch {
      // The tree was replaced meanwhile: the next refresh shows the new one.
    } finally {
      this.#revealing.delete(item);
      this.#revealed.fire();
    }
  }

  #describe(): void {
    const session = this.#sessions.current;
    const progress = session === undefined ? undefined : this.#builds.runningOf(session.uri)?.text;
    this.#view.message = session === undefined ? '' : this.#message(session, progress);
    void vscode.commands.executeCommand('setContext', contextKeys.panel, panelState(session));
    const quantized = session !== undefined && (session.state.quantization ?? session.calibrationCache) !== null;
    void vscode.commands.executeCommand('setContext', contextKeys.quantized, quantized);
    void vscode.commands.executeCommand('setContext', contextKeys.building, progress !== undefined);
    void vscode.commands.executeCommand(
      'setContext',
      contextKeys.hasLog,
      (session?.state.newest?.log ?? null) !== null,
    );
  }

  #message(session: Session, progress: string | undefined): string {
    // A message would hide the view's welcome, which says what to do next.
    if (progress === undefined && panelState(session) === 'noBuild') return '';
    const lines: string[] = [`${describeBuild(session)}.`];
    if (progress !== undefined) lines.push(`Building: ${progress} …`);
    if (session.state.model !== 'ready') lines.push(messageOf(session));
    const panel = this.#panel;
    if (panel !== undefined) {
      lines.push(panel.figures);
      const { hits } = panel;
      if (hits !== null) {
        lines.push(`“${this.#search}”: ${hits.nodes} nodes, ${hits.layers} layers.`);
      }
    }
    const problem = session.state.newest?.problem ?? '';
    if (problem !== '') lines.push(problem);
    // Shown as one paragraph: line breaks would be lost.
    return lines.join(' ');
  }
}

/** A module of a single node stands for the same as the node: the node says more. */
function innermost(item: PanelItem | undefined): PanelItem | undefined {
  const [only, ...others] = item?.kind === 'module' ? item.children() : [];
  const same =
    only !== undefined && others.length === 0 && JSON.stringify(only.selection) === JSON.stringify(item?.selection);
  return same ? innermost(only) : item;
}

function panelState(session: Session | undefined): PanelState {
  if (session === undefined) return 'empty';
  if (session.report !== null) return 'report';
  if (session.state.model === 'loading') return 'loading';
  if (session.state.model === 'unreadable') return 'unreadable';
  return session.state.newest === null ? 'noBuild' : 'failed';
}

/** `vit_tiny.onnx · TensorRT-RTX 1.7.1 · imported` */
function describeBuild({ title, state: { newest } }: Session): string {
  if (newest === null) return title;
  const { product, version } = newest.build.tensorrt;
  const { origin } = newest.build;
  const label = { built: '', recorded: 'recorded', imported: 'imported' }[origin];
  const called = newest.build.name === undefined ? '' : `“${newest.build.name}”`;
  return [title, called, product === null && version === null ? '' : releaseName({ product, version }), label]
    .filter((part) => part !== '')
    .join(' · ');
}
