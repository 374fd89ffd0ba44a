/**
 * What the host uses of the language client's library: loaded with the first override file or replay, because most
 * sessions open none and reading it takes long.
 */
import * as vscode from 'vscode';
import { LanguageClient, type LanguageClientOptions, TransportKind } from 'vscode-languageclient/node';

export { DidOpenTextDocumentNotification, ErrorAction, RevealOutputChannelOn, State } from 'vscode-languageclient/node';

/** The client of the language server, which runs in a process. */
export function createClient(
  id: string,
  name: string,
  extensionUri: vscode.Uri,
  options: LanguageClientOptions,
): LanguageClient {
  const module = vscode.Uri.joinPath(extensionUri, 'dist', 'server.cjs').fsPath;
  return new LanguageClient(id, name, { module, transport: TransportKind.ipc }, options);
}
