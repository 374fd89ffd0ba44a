import * as vscode from 'vscode';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';

/** Pages about files, each drawn again when its file changes. */
export class FilePages {
  readonly #html: (uri: vscode.Uri) => Promise<string>;
  readonly #shown = new Map<string, Set<() => Promise<void>>>();

  constructor(html: (uri: vscode.Uri) => Promise<string>) {
    this.#html = html;
  }

  /** @param commands what the links of the page may run */
  async show(uri: vscode.Uri, panel: vscode.WebviewPanel, commands: readonly string[]): Promise<void> {
    panel.webview.options = { enableCommandUris: commands, localResourceRoots: [] };
    const draw = async () => {
      panel.webview.html = await this.#html(uri);
    };
    const all = this.#shown.get(uri.toString()) ?? new Set();
    this.#shown.set(uri.toString(), all.add(draw));
    const glob = nameOf(uri).replaceAll(/[[\]{}*?]/g, (c) => `[${c}]`);
    const pattern = new vscode.RelativePattern(vscode.Uri.joinPath(uri, '..'), glob);
    const watcher = vscode.workspace.createFileSystemWatcher(pattern);
    watcher.onDidChange(() => void draw());
    panel.onDidDispose(() => {
      watcher.dispose();
      all.delete(draw);
    });
    await draw();
  }

  /** Draws the pages of one file again; without one, all. */
  async draw(uri?: vscode.Uri): Promise<void> {
    const pages = uri === undefined ? [...this.#shown.values()] : [this.#shown.get(uri.toString()) ?? []];
    await Promise.all(pages.flatMap((draws) => [...draws]).map((draw) => draw()));
  }
}
