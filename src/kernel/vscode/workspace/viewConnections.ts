import * as vscode from 'vscode';
import { isViewMessage } from '../../protocol/isViewMessage.ts';
import type { GraphAction } from '../../protocol/graphActions.ts';
import { receive, sender } from '../../protocol/rpc.ts';
import type { Message } from '../../protocol/rpc.ts';
import type { Building, FusionPart, PostedView, ViewHost } from '../../protocol/views.ts';
import type { Builds } from '../builds/builds.ts';
import { namedNodes } from '../builds/namedNodes.ts';
import { commands } from '../ids.ts';
import { exportPicture } from './exportPicture.ts';
import { takeStep } from '../builds/takeStep.ts';
import { openFailedLog, openLogLine, openRuleLine } from './openLogLine.ts';
import { postedData } from './postedData.ts';
import type { Origin, Session } from './session.ts';
import type { Sessions } from './sessions.ts';

/** Ties webviews to sessions: pushes data and selections to them, and takes what people do in them. */
export class ViewConnections {
  readonly #builds: Builds;
  readonly #sessions: Sessions;
  readonly #log: vscode.LogOutputChannel;

  /** The graphs that are open, the one that was in front last at the end. */
  readonly #graphs = new Map<vscode.WebviewPanel, { session: Session; perform: (action: GraphAction) => void }>();

  constructor(sessions: Sessions, log: vscode.LogOutputChannel, builds: Builds) {
    this.#builds = builds;
    this.#sessions = sessions;
    this.#log = log;
  }

  /** Of each model the Fusion page that is open. */
  readonly #pages = new Map<Session, (part: FusionPart) => void>();

  hasGraph(session: Session): boolean {
    return [...this.#graphs.values()].some((graph) => graph.session === session);
  }

  /** Lets the graph of a model do something, of several the one that was in front last. */
  perform(session: Session, action: GraphAction): void {
    [...this.#graphs.values()].findLast((graph) => graph.session === session)?.perform(action);
  }

  /** Brings up a part of the Fusion page of a model. */
  showPart(session: Session, part: FusionPart): void {
    this.#pages.get(session)?.(part);
  }

  /** Serves one webview until the result is disposed. Call it before the page is set. */
  connect(origin: Origin & ('graph' | 'page'), panel: vscode.WebviewPanel, session: Session): vscode.Disposable {
    const sessions = this.#sessions;
    const view = sender<PostedView & Record<string, (...args: unknown[]) => void>>((message: Message) => {
      // Resolves to false when the page has gone meanwhile; the next page says `ready` and gets everything.
      void panel.webview.postMessage(message);
    });
    let ready = false;
    // Also while the page still loads: the editor keeps it until then.
    const show = () => view.show(postedData(session.viewData), messageOf(session));
    const select = () => {
      if (ready) view.select(session.selection);
    };
    let lit = '';
    const follow = () => {
      const building = buildingOf(this.#builds, session);
      const now = JSON.stringify(building);
      if (!ready || now === lit) return;
      lit = now;
      view.building(building);
    };
    /** Requested before the page was there. */
    let due: GraphAction | null = null;
    const perform = (action: GraphAction) => {
      if (ready) view.perform(action);
      else due = action;
    };
    let duePart: FusionPart | null = null;
    const showPart = (part: FusionPart) => {
      if (ready) view.showPart(part);
      else duePart = part;
    };
    if (origin === 'page') this.#pages.set(session, showPart);
    const becomeCurrent = () => {
      if (origin === 'graph' && (panel.active || !this.#graphs.has(panel))) {
        this.#graphs.delete(panel);
        this.#graphs.set(panel, { session, perform });
      }
      if (panel.active) sessions.setCurrent(session.uri);
    };
    const handlers: ViewHost = {
      ready: (shown) => {
        ready = true;
        if (!shown) show();
        select();
        lit = 'null';
        follow();
        if (due !== null) view.perform(due);
        due = null;
        if (duePart !== null) view.showPart(duePart);
        duePart = null;
      },
      selected: (selection) => sessions.select(session, selection, origin),
      openLine: (file, line) => {
        if (file !== 'logBefore') void openers[file](session, line);
      },
      exportPicture: (kind, content, name) => void exportPicture(session.uri, kind, content, name),
      run: (command, nodeIds) => void this.#run(command, nodeIds, session),
      failed: (message) => this.#log.error(`${origin} view of ${session.title}: ${message}`),
    };
    becomeCurrent();
    if (session.state.model !== 'loading') show();
    return vscode.Disposable.from(
      new vscode.Disposable(() => {
        this.#graphs.delete(panel);
        if (this.#pages.get(session) === showPart) this.#pages.delete(session);
      }),
      panel.webview.onDidReceiveMessage((message: unknown) => {
        const unknown = (other: unknown) =>
          this.#log.warn(`${origin} view: unknown message ${JSON.stringify(other)?.slice(0, 200)}`);
        if (isViewMessage(message)) receive({ ...handlers }, message, unknown);
        else unknown(message);
      }),
      panel.onDidChangeViewState(becomeCurrent),
      sessions.onDidChange((changed) => {
        if (changed === session) show();
      }),
      this.#builds.onDidChange((uri) => {
        if (uri.toString() === session.key) follow();
      }),
      sessions.onDidSelect((event) => {
        if (event.session === session && event.origin !== origin) select();
      }),
    );
  }

  async #run(command: Parameters<ViewHost['run']>[0], nodeIds: string[], session: Session): Promise<void> {
    switch (command) {
      case 'openFusion':
        await vscode.commands.executeCommand(commands.openFusionPage, session.uri);
        return;
      case 'openGraph':
        await vscode.commands.executeCommand(commands.openGraph, session.uri);
        return;
      case 'keepFp32':
      case 'keepFp16':
      case 'keepBf16':
        await vscode.commands.executeCommand(commands[command], session.uri, nodeIds);
        return;
      case 'showInTimeline':
      case 'showInTable':
        await vscode.commands.executeCommand(commands[command]);
        return;
      case 'goToSource':
        await vscode.commands.executeCommand(commands.goToSource, { selection: { kind: 'nodes', ids: nodeIds } });
        return;
      default:
        await takeStep(command, {
          uri: session.uri,
          manifest: session.state.newest?.unsuccessful?.manifest ?? session.state.newest?.build ?? null,
          openLog: () => openFailedLog(session, session.state.newest?.state.line ?? 1),
          nodes: session.state.newest?.state.faults.find(({ severity }) => severity === 'error')?.nodes ?? [],
          near: session.near,
        });
    }
  }
}

const openers = { log: openLogLine, failedLog: openFailedLog, overrides: openRuleLine } as const;

/** What a running build does now, with the nodes of the layer whose tactics are being timed; null: none runs. */
function buildingOf(builds: Builds, { uri, state }: Session): Building | null {
  const running = builds.runningOf(uri);
  if (running === undefined) return null;
  const layer = running.state?.layer ?? null;
  const nodes = layer === null || state.graph === null ? [] : namedNodes(state.graph, layer, state.newest?.report);
  return { text: `Building: ${running.text} …`, nodes };
}

/** What a view says while it has nothing to show, or about what it shows. */
export function messageOf({ state, title }: Session): string {
  switch (state.model) {
    case 'loading':
      return `Reading ${title} …`;
    case 'unreadable':
      return `${title} cannot be shown: ${state.problem}`;
    case 'missing':
      return `${title} was deleted or moved. The view shows its last known content.`;
    case 'ready':
      return state.newest?.problem ?? '';
  }
}
