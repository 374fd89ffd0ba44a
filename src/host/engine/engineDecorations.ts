import * as vscode from 'vscode';
import type { ParsedFiles } from '../../builder/files/parsedFiles.ts';
import type { Builds } from '../builds/builds.ts';

/** Marks engines in the explorer whose model or rules were changed after they were built. */
export class EngineDecorations implements vscode.FileDecorationProvider, vscode.Disposable {
  readonly #files: ParsedFiles;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly #subscriptions: vscode.Disposable;
  readonly onDidChangeFileDecorations = this.#changed.event;

  constructor(builds: Builds, files: ParsedFiles) {
    this.#files = files;
    const models = vscode.workspace.createFileSystemWatcher('**/*.{onnx,trtprec}');
    const again = () => this.#changed.fire(undefined);
    this.#subscriptions = vscode.Disposable.from(
      models,
      models.onDidChange(again),
      builds.onDidEnd(again),
      vscode.window.registerFileDecorationProvider(this),
    );
  }

  async provideFileDecoration(uri: vscode.Uri): Promise<vscode.FileDecoration | undefined> {
    if (uri.scheme !== 'file' || !/\.(?:engine|plan|trt)$/i.test(uri.path)) return undefined;
    const { buildOfEngine, whyStale } = await import('../../builder/store/buildOfEngine.ts');
    const build = await buildOfEngine(uri.fsPath).catch(() => null);
    const why = build === null ? null : await whyStale(build, this.#files);
    return why === null
      ? undefined
      : { badge: '!', tooltip: why, color: new vscode.ThemeColor('list.warningForeground') };
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#changed.dispose();
  }
}
