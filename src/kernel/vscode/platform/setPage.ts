import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { Retry } from './internal/retry.ts';
import { showError } from './messages.ts';

/** The folder that a view's page may load from, and nothing else. */
export const viewFolder = (extensionUri: vscode.Uri): vscode.Uri =>
  vscode.Uri.joinPath(extensionUri, 'dist', 'webview');

/**
 * Shows the page of a view in a panel, until the result is disposed. If the page sends no message, it is set again: while
 * VS Code replaces the service worker that its webviews load from, as it does when two of them are opened soon after
 * each other, what the new page asked for can get lost, and the page would stay blank. After about a minute, says so.
 */
export function setPage(
  panel: vscode.WebviewPanel,
  extensionUri: vscode.Uri,
  view: 'graph' | 'fusion' | 'compare',
): vscode.Disposable {
  const set = () => {
    panel.webview.html = webviewPage(panel.webview, extensionUri, view);
  };
  const giveUp = () =>
    void showError('This view did not load. Close it and open it again. If it stays empty, reload the window.');
  const retry = new Retry(set, giveUp);
  let shown = panel.visible;
  const follow = () => {
    if (panel.visible === shown) return;
    shown = panel.visible;
    // A page that is hidden is thrown away, and loads again when it is shown.
    if (shown) retry.begin();
    else retry.end();
  };
  set();
  if (shown) retry.begin();
  return vscode.Disposable.from(
    panel.webview.onDidReceiveMessage(() => retry.end()),
    panel.onDidChangeViewState(follow),
    new vscode.Disposable(() => retry.end()),
  );
}

/**
 * The page of a view: one script, one style sheet, and a policy under which nothing else runs. Text reaches the
 * page by messages only, so nothing from a model is ever part of this HTML.
 */
function webviewPage(webview: vscode.Webview, extensionUri: vscode.Uri, view: 'graph' | 'fusion' | 'compare'): string {
  const nonce = randomBytes(16).toString('base64');
  const file = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(viewFolder(extensionUri), name)).toString();
  const source = webview.cspSource;
  const policy = [
    `default-src 'none'`,
    `img-src ${source} data: blob:`,
    `style-src ${source}`,
    `font-src ${source}`,
    `script-src 'nonce-${nonce}'`,
    `worker-src blob:`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${escape(vscode.env.language)}">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <link rel="stylesheet" href="${escape(file('editor.css'))}">
  <title>TensorRT Lens</title>
</head>
<body data-view="${view}">
  <div id="root"></div>
  <script nonce="${nonce}" src="${escape(file('editor.js'))}"></script>
</body>
</html>`;
}

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
