import type { AccuracyReport } from '../../simulation/simulated.ts';
import * as vscode from 'vscode';
import type { Quantization } from '../../quantization/quantization.ts';
import type { FusionReport } from '../../fusion/fusionReport.ts';
import type { GraphData } from '../../picture/graph/viewData.ts';
import type { BuildNotice } from '../../build/diagnosis.ts';
import type { Selection } from '../../protocol/views.ts';
import { type ChosenProfile, type LoadedModel, type Origin, Session, type ShownBuild } from './session.ts';
import { nameOf } from '../platform/nameOf.ts';

/** Where sessions get their data from. None of the functions rejects: a failure is a `problem` in the result. */
export interface SessionSource {
  /** @param profile of an engine */
  readModel(uri: vscode.Uri, profile: ChosenProfile | null): Promise<LoadedModel>;
  /** @param id the build to show, where the user chose one; else, or when it is gone, the newest that passed */
  readNewestBuild(uri: vscode.Uri, id: string | null, profile: ChosenProfile | null): Promise<ShownBuild | null>;
  /** Paths of files next to a model that a build of it left; absent: nothing is looked for. */
  readNear?(uri: vscode.Uri): Promise<readonly string[]>;
  /** @param cache path of a calibration cache */
  readQuantization(
    uri: vscode.Uri,
    known: { graph: GraphData | null; report: FusionReport | null; cache: string | null },
  ): Promise<Quantization | null>;
}

/** Writes come in bursts; one reload after the last of them is enough. */
const settleMs = 300;

/** Runs something later, unless it is stopped before. */
export interface Timers {
  start(run: () => void, ms: number): unknown;
  stop(timer: unknown): void;
}

const clock: Timers = { start: setTimeout, stop: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>) };

interface OpenModel {
  session: Session;
  holders: number;
  watcher: vscode.Disposable;
  /** The timer of a reload that is due. */
  settle: unknown;
  /** The model was not read since it was last known to have changed. */
  stale: boolean;
  /** The load that was begun last. */
  load: Promise<void> | undefined;
}

/**
 * The models that are open in some view, each once: a model is read when the first view requests it, again when its
 * file or its newest build changes, and forgotten when the last view has gone. One of them is the current one, which
 * the side bar shows.
 */
export class Sessions implements vscode.Disposable {
  readonly #held = new Map<string, OpenModel>();
  readonly #source: SessionSource;
  readonly #timers: Timers;
  readonly #changed = new vscode.EventEmitter<Session>();
  readonly #currentChanged = new vscode.EventEmitter<Session | undefined>();
  readonly #selected = new vscode.EventEmitter<{ session: Session; origin: Origin }>();
  #current: { session: Session; release: vscode.Disposable } | undefined;

  /** A session's state was replaced. */
  readonly onDidChange = this.#changed.event;
  readonly onDidChangeCurrent = this.#currentChanged.event;
  /** A session's selection changed; `origin` is the view where it happened, which needs no notification. */
  readonly onDidSelect = this.#selected.event;

  constructor(source: SessionSource, timers: Timers = clock) {
    this.#source = source;
    this.#timers = timers;
  }

  get current(): Session | undefined {
    return this.#current?.session;
  }

  /** The session of a model that some view holds. */
  find(uri: vscode.Uri): Session | undefined {
    return this.#held.get(uri.toString())?.session;
  }

  /** Holds a model's session, reading the model if no one held it before. Dispose the result to let it go. */
  acquire(uri: vscode.Uri): { session: Session; dispose: () => void } {
    const key = uri.toString();
    let held = this.#held.get(key);
    if (held === undefined) {
      held = {
        session: new Session(uri),
        holders: 0,
        watcher: this.#watch(uri),
        settle: undefined,
        stale: true,
        load: undefined,
      };
      this.#held.set(key, held);
      void this.reload(uri);
    }
    held.holders += 1;
    let released = false;
    return {
      session: held.session,
      dispose: () => {
        if (released) return;
        released = true;
        this.#release(key);
      },
    };
  }

  /** Makes a model the one that the side bar shows. */
  setCurrent(uri: vscode.Uri): Session {
    if (this.#current?.session.key === uri.toString()) return this.#current.session;
    const { session, dispose } = this.acquire(uri);
    const before = this.#current;
    this.#current = { session, release: new vscode.Disposable(dispose) };
    before?.release.dispose();
    this.#currentChanged.fire(session);
    return session;
  }

  /** Shows what a search for culprits found, in all views of a model, which becomes the current one. */
  setAccuracy(uri: vscode.Uri, report: AccuracyReport): void {
    const session = this.setCurrent(uri);
    session.accuracy = report;
    this.#changed.fire(session);
  }

  /** Shows what an earlier window found, in the views of a model that are open. */
  recallAccuracy(uri: vscode.Uri, report: AccuracyReport): void {
    const session = this.find(uri);
    if (session === undefined || session.accuracy !== null) return;
    session.accuracy = report;
    this.#changed.fire(session);
  }

  /** Shows the scales of a calibration cache in all views of a model, which becomes the current one; null: of none. */
  async useCalibrationCache(uri: vscode.Uri, path: string | null): Promise<void> {
    const session = this.setCurrent(uri);
    session.calibrationCache = path;
    await this.reloadBuild(uri);
  }

  /** Reads the model and its newest build again. Resolves when the views have been told. */
  async reload(uri: vscode.Uri): Promise<void> {
    await this.#load(uri, true);
  }

  /** Reads the newest build again: one has ended, or was added. Resolves when the views have been told. */
  async reloadBuild(uri: vscode.Uri): Promise<void> {
    await this.#load(uri, false);
  }

  /** Reads the newest builds of all models again: some were deleted. Resolves when the views have been told. */
  async reloadBuilds(): Promise<void> {
    await Promise.all([...this.#held.values()].map(({ session }) => this.reloadBuild(session.uri)));
  }

  /** Shows one build of a model in all views, until another is chosen or a newer one ends; null: the newest. */
  async showBuild(uri: vscode.Uri, id: string | null): Promise<void> {
    const session = this.setCurrent(uri);
    session.chosenBuild = id;
    session.chosenProfile = null;
    await this.reloadBuild(uri);
  }

  /** Shows an optimization profile of the build or engine on view in all views, until another is chosen or a newer one ends. */
  async showProfile(uri: vscode.Uri, number: number): Promise<void> {
    const session = this.setCurrent(uri);
    const { newest, engine } = session.state;
    session.chosenProfile = { build: newest?.build.id ?? null, number };
    await (engine === null ? this.reloadBuild(uri) : this.reload(uri));
  }

  select(session: Session, selection: Selection, origin: Origin): void {
    if (JSON.stringify(selection) === JSON.stringify(session.selection)) return;
    session.selection = selection;
    this.#selected.fire({ session, origin });
  }

  dispose(): void {
    for (const { watcher, settle } of this.#held.values()) {
      this.#timers.stop(settle);
      watcher.dispose();
    }
    this.#held.clear();
    for (const emitter of [this.#changed, this.#currentChanged, this.#selected]) emitter.dispose();
  }

  async #load(uri: vscode.Uri, withModel: boolean): Promise<void> {
    const held = this.#held.get(uri.toString());
    if (held === undefined) return;
    held.stale ||= withModel;
    let load: Promise<void> | undefined;
    held.load = this.#read(held);
    // A later load drops the result of an earlier one: who asked for that waits for what is shown in its place.
    while (load !== held.load) {
      load = held.load;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await load;
    }
  }

  async #read(held: OpenModel): Promise<void> {
    const { session } = held;
    session.generation += 1;
    const { generation } = session;
    const [model, newest] = await Promise.all([
      held.stale ? this.#source.readModel(session.uri, session.chosenProfile) : undefined,
      this.#source.readNewestBuild(session.uri, session.chosenBuild, session.chosenProfile),
    ]);
    const graph = model === undefined ? session.state.graph : model.graph;
    const quantization = await this.#source.readQuantization(session.uri, {
      graph,
      report: newest?.report ?? null,
      cache: session.calibrationCache,
    });
    // Read before the editor has told that the file is gone.
    const gone = model?.graph === null && session.state.graph !== null && !(await isThere(session.uri));
    if (generation !== session.generation || this.find(session.uri) !== session) return;
    if (gone) {
      this.#lose(held);
      return;
    }
    if (model !== undefined) held.stale = false;
    session.state =
      model === undefined
        ? { ...session.state, newest, quantization }
        : {
            model: model.problem === '' ? 'ready' : 'unreadable',
            graph: model.graph,
            typed: model.typed,
            problem: model.problem,
            hints: model.hints,
            engine: model.engine ?? null,
            newest,
            quantization,
          };
    this.#changed.fire(session);
    if (newest === null && graph !== null && session.state.engine === null) void this.#lookNear(session);
  }

  /** Shows what a check of a model said, until the model or its builds change. */
  showChecked(session: Session, notice: BuildNotice): void {
    session.checked = { of: session.state, notice };
    this.#changed.fire(session);
  }

  /** After the model is on view: its files come later. */
  async #lookNear(session: Session): Promise<void> {
    const { generation } = session;
    const found = (await this.#source.readNear?.(session.uri)) ?? [];
    if (generation !== session.generation || found.join('\n') === session.near.join('\n')) return;
    session.near = found;
    this.#changed.fire(session);
  }

  #watch(uri: vscode.Uri): vscode.Disposable {
    const folder = vscode.Uri.joinPath(uri, '..');
    const name = nameOf(uri);
    // A name may hold characters that a glob gives a meaning to.
    const glob = name.replaceAll(/[[\]{}*?]/g, (c) => `[${c}]`);
    const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folder, glob));
    const soon = () => {
      const held = this.#held.get(uri.toString());
      if (held === undefined) return;
      // It was found out about another file.
      held.session.accuracy = null;
      // Another engine may have fewer.
      if (held.session.chosenProfile?.build === null) held.session.chosenProfile = null;
      this.#timers.stop(held.settle);
      held.settle = this.#timers.start(() => void this.reload(uri), settleMs);
    };
    watcher.onDidChange(soon);
    watcher.onDidCreate(soon);
    watcher.onDidDelete(() => {
      const held = this.#held.get(uri.toString());
      if (held !== undefined) this.#lose(held);
    });
    return watcher;
  }

  /** A model's file is gone, and with it what was about to be read: what was read before stays on view. */
  #lose(held: OpenModel): void {
    const { session } = held;
    this.#timers.stop(held.settle);
    held.stale = false;
    session.generation += 1;
    session.state = { ...session.state, model: 'missing', problem: 'The file was deleted.' };
    this.#changed.fire(session);
  }

  #release(key: string): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    held.holders -= 1;
    if (held.holders > 0) return;
    this.#timers.stop(held.settle);
    held.watcher.dispose();
    this.#held.delete(key);
  }
}

async function isThere(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch (error) {
    return !(error instanceof vscode.FileSystemError && error.code === 'FileNotFound');
  }
}
