import { basename } from 'node:path';
import * as vscode from 'vscode';
import { runBuild } from '../../builder/runBuild.ts';
import type { BuildEvents } from '../../builder/runBuild.ts';
import { NotConfirmed } from '../../builder/setUpRtx.ts';
import { Unusable } from '../../builder/unusable.ts';
import type { Build } from '../../builder/buildFolder.ts';
import type { TaskOptions } from '../tasks/taskDefinition.ts';
import { severityOf } from './severityOf.ts';
import { progressText } from './progressText.ts';
import { mayDownload } from './consent.ts';
import { readSettings } from '../platform/settings.ts';
import { mayRun, untrustedMessage } from '../platform/trust.ts';

/** Where a build's log goes while it runs. */
export type LineSink = (text: string, severity: 'error' | 'warning' | 'info' | 'verbose') => void;

interface Running {
  uri: vscode.Uri;
  cancel: AbortController;
  progress: string;
}

/** A build has ended, well or not. */
export interface Ended {
  uri: vscode.Uri;
  build: Build;
}

/** The builds that run now, one a model. Whoever starts one, it shows its progress with a way to cancel it. */
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

  /** What the build of a model is doing, in words; undefined when none runs. */
  progressOf(uri: vscode.Uri): string | undefined {
    return this.#running.get(uri.toString())?.progress;
  }

  cancel(uri: vscode.Uri): void {
    this.#running.get(uri.toString())?.cancel.abort();
  }

  /** Cancels every build and does not wait: the editor gives little time when it ends. */
  dispose(): void {
    for (const { cancel } of this.#running.values()) cancel.abort();
    this.#changed.dispose();
    this.#ended.dispose();
  }

  /** Runs one build to its end, with its log to `line`. Resolves to an exit code: 0 when there is an engine. Never rejects. */
  async run(options: TaskOptions, line: LineSink, cancel: AbortController): Promise<number> {
    // The last of three looks at trust: nothing is started before this one.
    if (!mayRun()) {
      line(untrustedMessage(), 'error');
      return 1;
    }
    const uri = vscode.Uri.file(options.model);
    const key = uri.toString();
    if (this.#running.has(key)) {
      line(vscode.l10n.t('A build of {0} is running already. Wait for it, or cancel it.', options.model), 'error');
      return 1;
    }
    this.#running.set(key, { uri, cancel, progress: vscode.l10n.t('starting') });
    this.#changed.fire(uri);
    let build: Build | undefined;
    try {
      build = await this.#runShown(uri, options, line, cancel);
    } finally {
      this.#running.delete(key);
      this.#changed.fire(uri);
    }
    if (build === undefined) return 1;
    this.#ended.fire({ uri, build });
    return build.manifest.result === 'passed' ? 0 : 1;
  }

  async #runShown(
    uri: vscode.Uri,
    options: TaskOptions,
    line: LineSink,
    cancel: AbortController,
  ): Promise<Build | undefined> {
    const title = vscode.l10n.t('Building {0}', basename(options.model));
    const shown = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    return vscode.window.withProgress(shown, (progress, token) => {
      token.onCancellationRequested(() => cancel.abort());
      const say = (text: string) => {
        progress.report({ message: text });
        this.#progress(uri, text);
      };
      return this.#build(uri, options, line, say, cancel.signal);
    });
  }

  /** undefined: the build could not begin, and the person has been told why. */
  async #build(
    uri: vscode.Uri,
    options: TaskOptions,
    line: LineSink,
    say: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Build | undefined> {
    const settings = readSettings(uri);
    const events: BuildEvents = {
      started: ({ folder, manifest }, notes) => {
        line(vscode.l10n.t('Command: {0}', JSON.stringify(manifest.command)), 'info');
        line(vscode.l10n.t('Build folder: {0}', folder), 'info');
        for (const { message } of notes) line(message, 'warning');
        say(vscode.l10n.t('running'));
      },
      log: (text) => line(text, severityOf(text)),
      progress: (step) => say(progressText(step)),
    };
    const backend = options.backend === undefined || options.backend === 'auto' ? settings.backend : options.backend;
    try {
      const build = await runBuild(
        {
          ...options,
          backend,
          driver: this.#context.asAbsolutePath('dist/driver/build_engine.py'),
          python: settings.pythonPath || undefined,
          trtexec: settings.trtexecPath || undefined,
          polygraphy: settings.polygraphyPath || undefined,
          confirm: (text) => mayDownload(text, this.#context.globalState),
          setUpProgress: (text) => {
            line(text, 'info');
            say(text);
          },
          signal,
        },
        events,
        signal,
      );
      this.#sumUp(build, line);
      return build;
    } catch (error) {
      if (!signal.aborted) this.#tellFailure(error, line);
      else line(vscode.l10n.t('Cancelled.'), 'warning');
      return undefined;
    }
  }

  #sumUp({ folder, manifest }: Build, line: LineSink): void {
    const seconds = (manifest.seconds ?? 0).toFixed(1);
    if (manifest.result === 'passed') line(vscode.l10n.t('Built in {0} s: {1}', seconds, folder), 'info');
    else if (manifest.result === 'cancelled') line(vscode.l10n.t('Cancelled after {0} s.', seconds), 'warning');
    else line(vscode.l10n.t('Failed after {0} s: {1}', seconds, manifest.error ?? ''), 'error');
  }

  #tellFailure(error: unknown, line: LineSink): void {
    const message = error instanceof Error ? error.message : String(error);
    line(message, 'error');
    // Whoever said no needs no message that says so again.
    if (error instanceof NotConfirmed) return;
    if (!(error instanceof Unusable)) this.#log.error(error instanceof Error ? error : message);
    void vscode.window.showErrorMessage(message);
  }

  #progress(uri: vscode.Uri, text: string): void {
    const running = this.#running.get(uri.toString());
    if (running === undefined) return;
    running.progress = text;
    this.#changed.fire(uri);
  }
}
