import * as vscode from 'vscode';
import { fusionPageViewType } from '../ids.ts';
import { RestoredPages } from '../platform/restoredPages.ts';
import { setPage, viewFolder } from '../platform/setPage.ts';
import type { Sessions } from '../workspace/sessions.ts';
import type { ViewConnections } from '../workspace/viewConnections.ts';

/** The fusion pages: one panel a model, brought up again rather than opened twice. They come back in the next window. */
export class FusionPages implements vscode.Disposable {
  readonly #extensionUri: vscode.Uri;
  readonly #sessions: Sessions;
  readonly #connections: ViewConnections;
  readonly #panels = new Map<string, vscode.WebviewPanel>();

  readonly #restored: RestoredPages<string>;

  constructor(extensionUri: vscode.Uri, sessions: Sessions, connections: ViewConnections, memory: vscode.Memento) {
    this.#restored = new RestoredPages(fusionPageViewType, memory, (key, panel) => {
      if (this.#panels.has(key)) panel.dispose();
      else this.#show(vscode.Uri.parse(key, true), panel);
    });
    this.#extensionUri = extensionUri;
    this.#sessions = sessions;
    this.#connections = connections;
  }

  open(uri: vscode.Uri): void {
    const known = this.#panels.get(uri.toString());
    if (known === undefined) this.#show(uri);
    else known.reveal();
  }

  dispose(): void {
    this.#restored.dispose();
  }

  #show(uri: vscode.Uri, restored?: vscode.WebviewPanel): void {
    const key = uri.toString();
    const { session, dispose } = this.#sessions.acquire(uri);
    const title = `Fusion of ${session.title}`;
    const panel = restored ?? vscode.window.createWebviewPanel(fusionPageViewType, title, vscode.ViewColumn.Active, {});
    panel.webview.options = { enableScripts: true, localResourceRoots: [viewFolder(this.#extensionUri)] };
    panel.title = title;
    panel.iconPath = vscode.Uri.joinPath(this.#extensionUri, 'media', 'fusion.svg');
    this.#panels.set(key, panel);
    this.#restored.keep(panel, key);
    const connection = this.#connections.connect('page', panel, session);
    const page = setPage(panel, this.#extensionUri, 'fusion');
    panel.onDidDispose(() => {
      this.#panels.delete(key);
      page.dispose();
      connection.dispose();
      dispose();
    });
  }
}
