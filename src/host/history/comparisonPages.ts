import * as vscode from 'vscode';
import type { Build } from '../../builder/store/buildFolder.ts';
import { readBuildSide } from '../../builder/store/buildSide.ts';
import { toComparison } from '../../builder/store/comparison.ts';
import type { ParsedFiles } from '../../builder/files/parsedFiles.ts';
import type { ViewData } from '../../core/scene/panel/viewData.ts';
import { errorText } from '../../core/text/errorText.ts';
import { isViewMessage } from '../../protocol/isViewMessage.ts';
import { receive, sender } from '../../protocol/rpc.ts';
import type { Message } from '../../protocol/rpc.ts';
import type { View, ViewHost } from '../../protocol/views.ts';
import { commands, comparisonViewType } from '../ids.ts';
import { setPage, viewFolder } from '../platform/setPage.ts';
import { plainText } from '../platform/plainText.ts';
import { exportPicture } from '../workspace/exportPicture.ts';
import { openTextAt } from '../workspace/openLogLine.ts';
import { buildLabel } from './historyItem.ts';

/** The pages on which two builds are compared node by node: one panel a pair, brought up again rather than opened twice. */
export class ComparisonPages {
  readonly #extensionUri: vscode.Uri;
  readonly #files: ParsedFiles;
  readonly #panels = new Map<string, vscode.WebviewPanel>();

  constructor(extensionUri: vscode.Uri, files: ParsedFiles) {
    this.#extensionUri = extensionUri;
    this.#files = files;
  }

  /** Shows what changed from an older build to a newer one. */
  open(older: Build, newer: Build): void {
    const key = JSON.stringify([older.folder, newer.folder]);
    const known = this.#panels.get(key);
    if (known !== undefined) {
      known.reveal();
      return;
    }
    const title = `Builds ${older.manifest.name ?? older.manifest.id} ↔ ${newer.manifest.name ?? newer.manifest.id}`;
    const panel = vscode.window.createWebviewPanel(comparisonViewType, title, vscode.ViewColumn.Active, {
      enableScripts: true,
      localResourceRoots: [viewFolder(this.#extensionUri)],
    });
    panel.iconPath = vscode.Uri.joinPath(this.#extensionUri, 'media', 'fusion.svg');
    this.#panels.set(key, panel);
    const view = sender<Pick<View, 'show'> & Record<string, (...args: unknown[]) => void>>((message: Message) => {
      void panel.webview.postMessage(message);
    });
    const data = this.#read(older, newer);
    const model = vscode.Uri.file(newer.manifest.model.file);
    const openLine = (file: Parameters<ViewHost['openLine']>[0], line: number) => {
      const { folder, manifest } = file === 'logBefore' ? older : newer;
      if (manifest.files.log !== null)
        void openTextAt(vscode.Uri.joinPath(vscode.Uri.file(folder), manifest.files.log), line);
    };
    const handlers: ViewHost = {
      ready: () =>
        void data.then(
          (shown) => view.show(shown, ''),
          (error: unknown) => view.show(null, `The builds cannot be compared: ${errorText(error)}`),
        ),
      selected: () => {},
      openLine,
      exportPicture: (kind, content, name) => void exportPicture(model, kind, content, name),
      run: (command) => {
        if (command === 'openFusion') void vscode.commands.executeCommand(commands.openFusionPage, model);
        if (command === 'openGraph') void vscode.commands.executeCommand(commands.openGraph, model);
      },
      failed: (message) =>
        void vscode.window.showErrorMessage(plainText(`The comparison failed: ${message.slice(0, 300)}`)),
    };
    const listening = panel.webview.onDidReceiveMessage((message: unknown) => {
      if (isViewMessage(message)) receive({ ...handlers }, message, () => {});
    });
    const page = setPage(panel, this.#extensionUri, 'compare');
    panel.onDidDispose(() => {
      this.#panels.delete(key);
      listening.dispose();
      page.dispose();
    });
  }

  async #read(older: Build, newer: Build): Promise<ViewData> {
    const [a, b] = await Promise.all([older, newer].map(({ folder }) => readBuildSide(folder, undefined, this.#files)));
    return toComparison(a!, b!, { a: buildLabel(older.manifest), b: buildLabel(newer.manifest) });
  }
}
