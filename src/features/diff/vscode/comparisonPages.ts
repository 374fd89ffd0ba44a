import * as vscode from 'vscode';
import { type Build, readBuildFolder } from '../../../kernel/node/store/buildFolder.ts';
import type { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import type { ViewData } from '../../../kernel/picture/graph/viewData.ts';
import { engineMs } from '../../../kernel/report/words.ts';
import { errorText } from '../../../kernel/base/problem.ts';
import { isViewMessage } from '../../../kernel/protocol/isViewMessage.ts';
import { type Message, receive, sender } from '../../../kernel/protocol/rpc.ts';
import type { PostedView, ViewHost } from '../../../kernel/protocol/views.ts';
import { commands, comparisonViewType } from '../../../kernel/vscode/ids.ts';
import { RestoredPages } from '../../../kernel/vscode/platform/restoredPages.ts';
import { setPage, viewFolder } from '../../../kernel/vscode/platform/setPage.ts';
import { showError, showInformation } from '../../../kernel/vscode/platform/messages.ts';
import { exportPicture } from '../../../kernel/vscode/workspace/exportPicture.ts';
import { postedData } from '../../../kernel/vscode/workspace/postedData.ts';
import { openTextAt } from '../../../kernel/vscode/workspace/openLogLine.ts';
import { buildLabel, pairTitle } from '../../../kernel/vscode/builds/historyItem.ts';
import { fileUri } from '../../../kernel/vscode/platform/fileUri.ts';

interface ShownComparison {
  title: string;
  column: vscode.ViewColumn;
  /** The model that was built. */
  model: vscode.Uri;
  data: Promise<ViewData>;
  openLine: ViewHost['openLine'];
  /** The panel of the window before, which it takes. */
  restored?: vscode.WebviewPanel | undefined;
}

/**
 * The pages on which two builds are compared node by node: one panel a pair, brought up again rather than opened twice.
 * Those of builds that are kept come back in the next window.
 */
export class ComparisonPages implements vscode.Disposable {
  readonly #extensionUri: vscode.Uri;
  readonly #files: ParsedFiles;
  readonly #panels = new Map<string, vscode.WebviewPanel>();
  readonly #restored: RestoredPages<[older: string, newer: string]>;

  constructor(extensionUri: vscode.Uri, files: ParsedFiles, memory: vscode.Memento) {
    this.#extensionUri = extensionUri;
    this.#files = files;
    this.#restored = new RestoredPages(comparisonViewType, memory, async (folders, panel) => {
      const [older, newer] = await Promise.all(folders.map(readBuildFolder));
      if (older === undefined || newer === undefined || this.#panels.has(JSON.stringify(folders))) panel.dispose();
      else this.#compare(older, newer, panel);
    });
  }

  /** Shows what changed from an older build to a newer one. */
  open(older: Build, newer: Build): void {
    const known = this.#panels.get(JSON.stringify([older.folder, newer.folder]));
    if (known === undefined) this.#compare(older, newer);
    else known.reveal();
  }

  dispose(): void {
    this.#restored.dispose();
  }

  #compare(older: Build, newer: Build, restored?: vscode.WebviewPanel): void {
    const panel = this.#show({
      restored,
      title: pairTitle(older.manifest, newer.manifest),
      column: vscode.ViewColumn.Active,
      model: fileUri(newer.manifest.model.file),
      data: this.#read(older, newer),
      openLine: (file, line) => {
        const { folder, manifest } = file === 'logBefore' ? older : newer;
        if (manifest.files.log !== null)
          void openTextAt(vscode.Uri.joinPath(fileUri(folder), manifest.files.log), line);
      },
    });
    const key = JSON.stringify([older.folder, newer.folder]);
    this.#panels.set(key, panel);
    this.#restored.keep(panel, [older.folder, newer.folder]);
    panel.onDidDispose(() => this.#panels.delete(key));
  }

  /** Shows what a change does to a model, next to it. Its builds are gone, and with them their logs. */
  openTried(title: string, model: vscode.Uri, data: ViewData): void {
    this.#show({
      title,
      column: vscode.ViewColumn.Beside,
      model,
      data: Promise.resolve(data),
      openLine: () =>
        void showInformation(
          'The builds of a tried change are temporary, and so are their logs. Build the model with the change to keep them.',
        ),
    });
  }

  #show({ title, column, model, data, openLine, restored }: ShownComparison): vscode.WebviewPanel {
    const panel = restored ?? vscode.window.createWebviewPanel(comparisonViewType, title, column, {});
    panel.webview.options = { enableScripts: true, localResourceRoots: [viewFolder(this.#extensionUri)] };
    panel.title = title;
    panel.iconPath = vscode.Uri.joinPath(this.#extensionUri, 'media', 'fusion.svg');
    const view = sender<Pick<PostedView, 'show'> & Record<string, (...args: unknown[]) => void>>((message: Message) => {
      void panel.webview.postMessage(message);
    });
    const handlers: ViewHost = {
      ready: () =>
        void data.then(
          (shown) => view.show(postedData(shown), ''),
          (error: unknown) => view.show(null, `The builds cannot be compared: ${errorText(error)}`),
        ),
      selected: () => {},
      openLine,
      exportPicture: (kind, content, name) => void exportPicture(model, kind, content, name),
      run: (command) => {
        if (command === 'openFusion') void vscode.commands.executeCommand(commands.openFusionPage, model);
        if (command === 'openGraph') void vscode.commands.executeCommand(commands.openGraph, model);
      },
      failed: (message) => void showError(`The comparison failed: ${message.slice(0, 300)}`),
    };
    const listening = panel.webview.onDidReceiveMessage((message: unknown) => {
      if (isViewMessage(message)) receive({ ...handlers }, message, () => {});
    });
    const page = setPage(panel, this.#extensionUri, 'compare');
    panel.onDidDispose(() => {
      listening.dispose();
      page.dispose();
    });
    return panel;
  }

  async #read(older: Build, newer: Build): Promise<ViewData> {
    const [{ readBuildSide }, { toComparison }, { withWeights }] = await Promise.all([
      import('../../../kernel/node/store/buildSide.ts'),
      import('../node/toComparison.ts'),
      import('../node/weightDigests.ts'),
    ]);
    const [a, b] = await Promise.all([older, newer].map(({ folder }) => readBuildSide(folder, undefined, this.#files)));
    return toComparison(...(await withWeights(a!, b!)), {
      a: buildLabel(older.manifest, engineMs(a!.report)),
      b: buildLabel(newer.manifest, engineMs(b!.report)),
    });
  }
}
