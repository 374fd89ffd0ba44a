import * as vscode from 'vscode';
import type { Build } from '../../builder/store/buildFolder.ts';
import type { ParsedFiles } from '../../builder/files/parsedFiles.ts';
import type { ViewData } from '../../core/picture/graph/viewData.ts';
import { errorText } from '../../core/base/problem.ts';
import { isViewMessage } from '../../protocol/isViewMessage.ts';
import { type Message, receive, sender } from '../../protocol/rpc.ts';
import type { PostedView, ViewHost } from '../../protocol/views.ts';
import { commands, comparisonViewType } from '../ids.ts';
import { setPage, viewFolder } from '../platform/setPage.ts';
import { showError, showInformation } from '../platform/messages.ts';
import { exportPicture } from '../workspace/exportPicture.ts';
import { postedData } from '../workspace/postedData.ts';
import { openTextAt } from '../workspace/openLogLine.ts';
import { buildLabel, pairLabels } from './historyItem.ts';

interface ShownComparison {
  title: string;
  column: vscode.ViewColumn;
  /** The model that was built. */
  model: vscode.Uri;
  data: Promise<ViewData>;
  openLine: ViewHost['openLine'];
}

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
    const panel = this.#show({
      title: pairLabels(older.manifest, newer.manifest).join(' ↔ '),
      column: vscode.ViewColumn.Active,
      model: vscode.Uri.file(newer.manifest.model.file),
      data: this.#read(older, newer),
      openLine: (file, line) => {
        const { folder, manifest } = file === 'logBefore' ? older : newer;
        if (manifest.files.log !== null)
          void openTextAt(vscode.Uri.joinPath(vscode.Uri.file(folder), manifest.files.log), line);
      },
    });
    this.#panels.set(key, panel);
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

  #show({ title, column, model, data, openLine }: ShownComparison): vscode.WebviewPanel {
    const panel = vscode.window.createWebviewPanel(comparisonViewType, title, column, {
      enableScripts: true,
      localResourceRoots: [viewFolder(this.#extensionUri)],
    });
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
    const [{ readBuildSide }, { toComparison }, { withWeights }, { engineTime }] = await Promise.all([
      import('../../builder/store/buildSide.ts'),
      import('../../builder/store/toComparison.ts'),
      import('../../builder/store/weightDigests.ts'),
      import('../../builder/store/engineTime.ts'),
    ]);
    const [a, b] = await Promise.all([older, newer].map(({ folder }) => readBuildSide(folder, undefined, this.#files)));
    const times = await Promise.all([older, newer].map(engineTime));
    return toComparison(...(await withWeights(a!, b!)), {
      a: buildLabel(older.manifest, times[0]),
      b: buildLabel(newer.manifest, times[1]),
    });
  }
}
