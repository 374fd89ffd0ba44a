import * as vscode from 'vscode';
import {
  BrowserMessageReader,
  BrowserMessageWriter,
  LanguageClient,
  type LanguageClientOptions,
} from 'vscode-languageclient/browser';

export {
  DidOpenTextDocumentNotification,
  ErrorAction,
  RevealOutputChannelOn,
  State,
} from 'vscode-languageclient/browser';

/** Of the browser; the host is compiled for Node. */
declare const Worker: new (script: string) => ConstructorParameters<typeof BrowserMessageReader>[0];

/** The client of the language server, which runs in a worker. */
export function createClient(
  id: string,
  name: string,
  extensionUri: vscode.Uri,
  options: LanguageClientOptions,
): LanguageClient {
  const start = async () => {
    const worker = new Worker(await scriptUrl(vscode.Uri.joinPath(extensionUri, 'dist', 'web.js')));
    return { reader: new BrowserMessageReader(worker), writer: new BrowserMessageWriter(worker) };
  };
  return new LanguageClient(id, name, start, options);
}

/** What a worker can start from: an extension that is not on the web is read through the editor. */
async function scriptUrl(uri: vscode.Uri): Promise<string> {
  if (/^https?$/.test(uri.scheme)) return uri.toString(true);
  const script = new Uint8Array(await vscode.workspace.fs.readFile(uri));
  return URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
}
