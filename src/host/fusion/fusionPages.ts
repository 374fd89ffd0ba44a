import * as vscode from 'vscode';
import { fusionPageViewType } from '../ids.ts';
import { setPage, viewFolder } from '../platform/setPage.ts';
import type { Sessions } from '../workspace/sessions.ts';
import type { ViewConnections } from '../workspace/viewConnections.ts';

/** The fusion pages: one panel a model, brought up again rather than opened twice. */
export class FusionPages {
  readonly #extensionUri: vscode.Uri;
  readonly #sessions: Sessions;
  readonly #connections: ViewConnections;
  readonly #panels = new Map<string, vscode.WebviewPanel>();

  constructor(extensionUri: vscode.Uri, sessions: Sessions, connections: ViewConnections) {
    this.#extensionUri = extensionUri;
    this.#sessions = sessions;
    this.#connections = connections;
  }

  open(uri: vscode.Uri): void {
    const key = uri.toString();
    const known = this.#panels.get(key);
    if (known !== undefined) {
      known.reveal();
      return;
    }
    const { session, dispose } = this.#sessions.acquire(uri);
    const title = `Fusion of ${session.title}`;
    const panel = vscode.window.createWebviewPanel(fusionPageViewType, title, vscode.ViewColumn.Active, {
      enableScripts: true,
      localResourceRoots: [viewFolder(this.#extensionUri)],
    });
    panel.iconPath = vscode.Uri.joinPath(this.#extensionUri, 'media', 'fusion.svg');
    this.#panels.set(key, panel);
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
