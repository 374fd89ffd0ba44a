import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/** The folder that a view's page may load from, and nothing else. */
export const viewFolder = (extensionUri: vscode.Uri): vscode.Uri =>
  vscode.Uri.joinPath(extensionUri, 'dist', 'webview');

/**
 * The page of a built view: one script, one style sheet, and a policy under which nothing else runs. Text reaches the
 * page by messages only, so nothing from a model is ever part of this HTML.
 */
export function webviewPage(webview: vscode.Webview, extensionUri: vscode.Uri, view: 'graph' | 'fusion'): string {
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
  <link rel="stylesheet" href="${escape(file(`${view}.css`))}">
  <title>TensorRT Lens</title>
</head>
<body>
  <div id="root"></div>
  <script nonce="${nonce}" src="${escape(file(`${view}.js`))}"></script>
</body>
</html>`;
}

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
