import { basename } from 'node:path';
import * as vscode from 'vscode';
import { type BuildProgress, progressLine, type ProgressState, stageWords } from '../../build/buildManifest.ts';
import { durationText, quoteCommand, timeText } from '../../base/text.ts';
import type { BuildEvents } from '../../node/run/runBuild.ts';
import { NotConfirmed } from '../../node/tools/ensurePackages.ts';
import { UserError } from '../../node/files/userError.ts';
import type { Build } from '../../node/store/buildFolder.ts';
import { showProgress } from '../platform/withProgress.ts';
import type { TaskOptions } from './taskProperties.ts';
import type { LineKind } from './terminalText.ts';
import { severityOf } from './internal/severityOf.ts';
import { toolsOf } from './toolsOf.ts';
import { mayRun, untrustedMessage } from '../platform/trust.ts';
import { errorText } from '../../base/problem.ts';
import { shell } from '../../node/tools/shell.ts';
import { showError } from '../platform/messages.ts';
import { fileUri } from '../platform/fileUri.ts';

/** Where a build's log goes while it runs. */
export type LineSink = (text: string, severity: LineKind) => void;

/** A build that runs, at one moment. */
export interface RunningBuild {
  uri: vscode.Uri;
  /** What it is doing, in a line. */
  text: string;
  /** null: TensorRT has not begun. */
  state: ProgressState | null;
  /** null: it waits for another build of this model, or something is set up. */
  folder: string | null;
}

interface Running extends RunningBuild {
  cancel: AbortController;
  progress: BuildProgress | null;
  began: number;
  ended: Promise<unknown>;
}

/**
 * Between two looks at a running build. Its log may come at thousands of lines a second; no one reads faster than this.
 */
const lookMs = 250;

/** A build has ended, well or not. */
export interface Ended {
  uri: vscode.Uri;
  build: Build;
}

/** The builds that run now, one per model. Each shows its progress with a way to cancel it, however it was started. */
export class Builds implements vscode.Disposable {
  readonly #running = new Map<string, Running>();
  readonly #context: vscode.ExtensionContext;
  readonly #log: vscode.LogOutputChannel;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #ended = new vscode.EventEmitter<Ended>();

  /** A build began, went on or ended. */
  readonly onDidChange = this.#changed.event;
  readonly onDidEnd = this.#ended.event;

  constructor(context: vscode.ExtensionContext, log: vscode.LogOutputChannel) {
    this.#context = context;
    this.#log = log;
  }

  /** The build of a model that runs; undefined if none does. */
  runningOf(uri: vscode.Uri): RunningBuild | undefined {
    return this.#running.get(uri.toString());
  }

  /** All that run, in the order in which they began. */
  get running(): RunningBuild[] {
    return [...this.#running.values()];
  }

  cancel(uri: vscode.Uri): void {
    this.#running.get(uri.toString())?.cancel.abort();
  }

  /** Cancels every build; resolves when their processes are gone. */
  async stopAll(): Promise<void> {
    const all = [...this.#running.values()];
    for (const { cancel } of all) cancel.abort();
    await Promise.all(all.map(({ ended }) => ended));
  }

  dispose(): void {
    for (const { cancel } of this.#running.values()) cancel.abort();
    this.#changed.dispose();
    this.#ended.dispose();
  }

  /** Runs one build to its end, with its log to `line`. Resolves to an exit code: 0 when there is an engine; none when the user cancelled it. Never rejects. */
  async run(options: TaskOptions, line: LineSink, cancel: AbortController): Promise<number | undefined> {
    // The last of three looks at trust: nothing is started before this one.
    if (!mayRun()) {
      line(untrustedMessage(), 'error');
      return 1;
    }
    const uri = fileUri(options.model);
    const key = uri.toString();
    if (this.#running.has(key)) {
      line(`A build of ${options.model} is already running. Wait for it to finish, or cancel it.`, 'error');
      return 1;
    }
    const running: Running = {
      uri,
      cancel,
      text: 'starting',
      state: null,
      folder: null,
      progress: null,
      began: Date.now(),
      ended: Promise.resolve(),
    };
    this.#running.set(key, running);
    this.#changed.fire(uri);
    let build: Build | undefined;
    try {
      const shown = this.#runShown(running, options, line);
      running.ended = shown;
      build = await shown;
    } finally {
      this.#running.delete(key);
      this.#changed.fire(uri);
    }
    if (build !== undefined) this.#ended.fire({ uri, build });
    if (build?.manifest.result === 'passed') return 0;
    // Neither an engine nor a failure: tasks that depend on it do not run, and its tab stays as it is.
    return cancel.signal.aborted ? undefined : 1;
  }

  async #runShown(running: Running, options: TaskOptions, line: LineSink): Promise<Build | undefined> {
    return showProgress(`Building ${basename(options.model)}`, async (show, token) => {
      token.onCancellationRequested(() => running.cancel.abort());
      const say = (text: string) => {
        if (text === running.text) return;
        running.text = text;
        show(text);
        this.#changed.fire(running.uri);
      };
      const looking = setInterval(() => this.#look(running, line, say), lookMs);
      try {
        return await this.#build(running, options, line, say);
      } finally {
        clearInterval(looking);
      }
    });
  }

  #look(running: Running, line: LineSink, say: (text: string) => void): void {
    if (running.progress === null) return;
    const before = running.state?.stage;
    const state = running.progress.state(Date.now() - running.began);
    running.state = state;
    if (state.stage !== before && state.stage !== 'start')
      line(`── ${state.phase} · ${durationText(state.elapsedMs)}`, 'step');
    say(progressLine(state));
  }

  /** undefined: the build could not begin, and the user has been told why. */
  async #build(
    running: Running,
    options: TaskOptions,
    line: LineSink,
    say: (text: string) => void,
  ): Promise<Build | undefined> {
    const { uri } = running;
    const { signal } = running.cancel;
    const events: BuildEvents = {
      waiting: () => {
        const text = 'Waiting for another program to finish its build of this model.';
        line(text, 'warning');
        say(text);
      },
      started: ({ folder, manifest }, notes) => {
        running.folder = folder;
        running.began = Date.now();
        line(quoteCommand(manifest.command, shell), 'step');
        line(`Build folder: ${folder}`, 'info');
        for (const { message } of notes) line(message, 'warning');
        say('running');
      },
      log: (text) => line(text, severityOf(text)),
      changed: (progress) => {
        running.progress = progress;
      },
    };
    const setUpProgress = (text: string) => {
      line(text, 'info');
      say(text);
    };
    try {
      const { tools, backend } = toolsOf(this.#context, uri, options);
      const { launcher: _, ...rest } = options;
      const { runBuild } = await import('../../node/run/runBuild.ts');
      const build = await runBuild({ ...rest, ...tools, backend, setUpProgress, signal }, events, signal);
      this.#sumUp(build, line);
      return build;
    } catch (error) {
      if (!signal.aborted) this.#tellFailure(error, line);
      else line('Cancelled.', 'warning');
      return undefined;
    }
  }

  #sumUp({ folder, manifest }: Build, line: LineSink): void {
    const stages = manifest.timeLine?.stages ?? [];
    if (stages.length > 1)
      line(stages.map(({ stage, ms }) => `${stageWords[stage]} ${timeText(ms)}`).join(' · '), 'step');
    const time = timeText((manifest.seconds ?? 0) * 1000);
    if (manifest.result === 'passed') line(`Built in ${time}: ${folder}`, 'info');
    else if (manifest.result === 'cancelled') line(`Cancelled after ${time}.`, 'warning');
    else line(`Failed after ${time}: ${manifest.error ?? ''}`, 'error');
  }

  #tellFailure(error: unknown, line: LineSink): void {
    const message = errorText(error);
    line(message, 'error');
    // No message after the user has declined.
    if (error instanceof NotConfirmed) return;
    if (!(error instanceof UserError)) this.#log.error(error instanceof Error ? error : message);
    void showError(message);
  }
}
