import * as vscode from 'vscode';
import type { Build } from '../../../../kernel/node/store/buildFolder.ts';
import { engineTime } from '../../../../kernel/node/store/engineTime.ts';
import type { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { whyStale } from '../../../../kernel/node/store/buildOfEngine.ts';
import { listBuilds } from '../../../../kernel/node/store/buildHistory.ts';
import type { Builds } from '../../../../kernel/vscode/builds/builds.ts';
import { diagnoseBuild, type NamedDiagnosis } from '../../../../kernel/vscode/builds/diagnoseBuild.ts';
import { engineMs } from '../../../../kernel/report/words.ts';
import { contextKeys, historyTreeId } from '../../../../kernel/vscode/ids.ts';
import { latestTask } from '../../../../kernel/vscode/platform/latestTask.ts';
import type { Sessions } from '../../../../kernel/vscode/workspace/sessions.ts';
import { droppedTypes, takeDropped } from './internal/droppedFiles.ts';
import { buildItem, type HistoryItem, runningItem, toTreeItem } from '../../../../kernel/vscode/builds/historyItem.ts';
import { showWarning } from '../../../../kernel/vscode/platform/messages.ts';
import { isFileUri } from '../../../../kernel/vscode/platform/fileUri.ts';

/** Opens what a build elsewhere left as a build of a model. */
type Attach = (model: vscode.Uri, pieces: vscode.Uri[] | string) => Promise<void>;

/** The side bar's history: the builds of the current model, newest first, with the one that runs on top. */
export class HistoryTree
  implements vscode.TreeDataProvider<HistoryItem>, vscode.TreeDragAndDropController<HistoryItem>, vscode.Disposable
{
  readonly dropMimeTypes = droppedTypes;
  readonly dragMimeTypes = [];
  readonly #sessions: Sessions;
  readonly #builds: Builds;
  readonly #files: ParsedFiles;
  readonly #attach: Attach;
  readonly #view: vscode.TreeView<HistoryItem>;
  readonly #changed = new vscode.EventEmitter<HistoryItem | undefined>();
  readonly #subscriptions: vscode.Disposable;
  /** By build folder: a log is read once, when someone wants to know. */
  readonly #diagnoses = new Map<string, Promise<NamedDiagnosis[]>>();
  /** By build folder and the name of its profile: each is read once. */
  readonly #times = new Map<string, Promise<number | null>>();
  #items: HistoryItem[] = [];
  #wasRunning = false;
  /** The look at the history that was begun last. */
  #look: Promise<void> | undefined;
  #looks = 0;

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(sessions: Sessions, builds: Builds, files: ParsedFiles, attach: Attach) {
    this.#files = files;
    this.#sessions = sessions;
    this.#builds = builds;
    this.#attach = attach;
    this.#view = vscode.window.createTreeView(historyTreeId, {
      treeDataProvider: this,
      canSelectMany: true,
      dragAndDropController: this,
    });
    this.#subscriptions = vscode.Disposable.from(
      sessions.onDidChangeCurrent(() => void this.refresh()),
      sessions.onDidChange((session) => {
        if (session === sessions.current) void this.refresh();
      }),
      builds.onDidChange((uri) => {
        if (uri.toString() === sessions.current?.key) this.#follow();
      }),
      this.#view.onDidChangeVisibility(() => void this.refresh()),
    );
  }

  getTreeItem(item: HistoryItem): vscode.TreeItem {
    return toTreeItem(item);
  }

  getChildren(item?: HistoryItem): HistoryItem[] | Promise<HistoryItem[]> {
    return item === undefined ? this.#items : (item.children?.() ?? []);
  }

  getParent(item: HistoryItem): HistoryItem | null {
    return item.parent;
  }

  /** Builds that are selected in the tree, in its order. */
  get selected(): Build[] {
    return this.#items.filter((item) => this.#view.selection.includes(item)).flatMap(({ build }) => build ?? []);
  }

  /** The builds that are shown. */
  get builds(): Build[] {
    return this.#items.flatMap(({ build, context }) => (build === null || context !== 'build' ? [] : [build]));
  }

  /** Reads the history again. Resolves when it is shown, also where a later look has overtaken this one. */
  async refresh(): Promise<void> {
    this.#look = this.#readAndShow();
    await latestTask(() => this.#look);
  }

  async #readAndShow(): Promise<void> {
    this.#looks += 1;
    const look = this.#looks;
    const session = this.#sessions.current;
    const builds = session && isFileUri(session.uri) ? await listBuilds(session.uri.fsPath) : [];
    // A later look has overtaken this one.
    if (look !== this.#looks) return;
    const newest = session?.state.newest ?? null;
    const shown = newest?.build.id;
    const pictured = builds.find(({ manifest }) => manifest.id === shown);
    // Its report also knows the times that only a log has.
    if (pictured !== undefined && newest?.report)
      this.#times.set(timeKey(pictured), Promise.resolve(engineMs(newest.report)));
    const passed = builds.filter(({ manifest }) => manifest.result === 'passed');
    const [times, stale] = await Promise.all([
      Promise.all(passed.map(async (build) => [build, await this.#timeOf(build)] as const)),
      Promise.all(builds.map(async (build) => [build, await whyStale(build, this.#files)] as const)),
    ]);
    if (look !== this.#looks) return;
    const [ms, why] = [new Map(times), new Map(stale)];
    const running = session === undefined ? undefined : this.#builds.runningOf(session.uri);
    const now = builds.find(({ folder }) => folder === running?.folder) ?? null;
    this.#wasRunning = running !== undefined;
    this.#items = [
      ...(running === undefined ? [] : [runningItem(running, now)]),
      ...builds
        .filter((build) => build !== now)
        .map((build) => {
          const state = {
            shown: build.manifest.id === shown,
            ms: ms.get(build) ?? null,
            stale: why.get(build) ?? null,
          };
          return buildItem(build, state, () => this.#diagnose(build));
        }),
    ];
    this.#view.description = session === undefined ? '' : session.title;
    void vscode.commands.executeCommand('setContext', contextKeys.hasBuilds, this.#items.length > 0);
    this.#changed.fire(undefined);
  }

  async handleDrop(_: HistoryItem | undefined, data: vscode.DataTransfer): Promise<void> {
    const model = this.#sessions.current?.uri;
    if (model === undefined) {
      await showWarning('Open the model first, then drop its log here.');
      return;
    }
    await takeDropped(data, (pieces) => this.#attach(model, pieces));
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#changed.dispose();
    this.#view.dispose();
  }

  /** Only the line of the running build changes while it runs: what is selected below stays so. */
  #follow(): void {
    const session = this.#sessions.current;
    const running = session === undefined ? undefined : this.#builds.runningOf(session.uri);
    const [first] = this.#items;
    if (running === undefined || !this.#wasRunning || first?.context !== 'runningBuild') {
      void this.refresh();
      return;
    }
    Object.assign(first, { ...runningItem(running, first.build), parent: null });
    this.#changed.fire(first);
  }

  #timeOf(build: Build): Promise<number | null> {
    const key = timeKey(build);
    let time = this.#times.get(key);
    if (time === undefined) {
      time = engineTime(build);
      this.#times.set(key, time);
    }
    return time;
  }

  #diagnose(build: Build): Promise<NamedDiagnosis[]> {
    let found = this.#diagnoses.get(build.folder);
    if (found === undefined) {
      found = diagnoseBuild(build);
      // Another program's build goes on: its log will say more.
      if (build.manifest.result === 'running') return found;
      this.#diagnoses.set(build.folder, found);
    }
    return found;
  }
}

const timeKey = ({ folder, manifest }: Build): string => `${folder}\n${manifest.files.profile}`;
