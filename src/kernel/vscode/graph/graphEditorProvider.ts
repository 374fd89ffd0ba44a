import * as vscode from 'vscode';
import { graphViewType } from '../ids.ts';
import { setPage, viewFolder } from '../platform/setPage.ts';
import type { Sessions } from '../workspace/sessions.ts';
import type { ViewConnections } from '../workspace/viewConnections.ts';

/** Shows an ONNX file as a graph, read-only. The file is read by its session, so that all views share one reading. */
export class GraphEditorProvider implements vscode.CustomReadonlyEditorProvider {
  readonly #extensionUri: vscode.Uri;
  readonly #sessions: Sessions;
  readonly #connections: ViewConnections;

  constructor(extensionUri: vscode.Uri, sessions: Sessions, connections: ViewConnections) {
    this.#extensionUri = extensionUri;
    this.#sessions = sessions;
    this.#connections = connections;
  }

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    // Its views hold the session: to read the model before there is one would delay its page.
    return { uri, dispose: () => {} };
  }

  resolveCustomEditor(document: vscode.CustomDocument, panel: vscode.WebviewPanel): void {
    const { session, dispose } = this.#sessions.acquire(document.uri);
    panel.webview.options = { enableScripts: true, localResourceRoots: [viewFolder(this.#extensionUri)] };
    const connection = this.#connections.connect('graph', panel, session);
    // Last: the page's first message must find someone listening.
    const page = setPage(panel, this.#extensionUri, 'graph');
    panel.onDidDispose(() => {
      page.dispose();
      connection.dispose();
      dispose();
    });
  }
}

/** Brings up the graph of a model, in the editor group where it is open already, or else where that of `where` is. */
export async function openGraph(
  uri: vscode.Uri,
  options: { preserveFocus?: boolean; where?: vscode.Uri } = {},
): Promise<void> {
  const groupOf = (model: vscode.Uri) =>
    vscode.window.tabGroups.all.find(({ tabs }) => tabs.some((tab) => shows(tab, model)));
  const open = groupOf(uri) ?? (options.where && groupOf(options.where));
  await vscode.commands.executeCommand('vscode.openWith', uri, graphViewType, {
    viewColumn: open?.viewColumn ?? vscode.ViewColumn.Active,
    preserveFocus: options.preserveFocus ?? false,
  });
}

/** Brings up the graph of a model that was built, unless it is open; a text that is being edited stays on view. */
export async function showBuiltGraph(uri: vscode.Uri): Promise<void> {
  const { all, activeTabGroup } = vscode.window.tabGroups;
  if (all.some(({ tabs }) => tabs.some((tab) => shows(tab, uri)))) return;
  const isText = activeTabGroup.activeTab?.input instanceof vscode.TabInputText;
  await vscode.commands.executeCommand('vscode.openWith', uri, graphViewType, {
    viewColumn: isText ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active,
    preserveFocus: true,
  });
}

function shows({ input }: vscode.Tab, uri: vscode.Uri): boolean {
  return (
    input instanceof vscode.TabInputCustom &&
    input.viewType === graphViewType &&
    input.uri.toString() === uri.toString()
  );
}
