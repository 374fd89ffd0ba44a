import type * as vscode from 'vscode';
import {
  BrowserMessageReader,
  BrowserMessageWriter,
  LanguageClient,
  type LanguageClientOptions,
} from 'vscode-languageclient/browser';
import { serverScript } from './serverScript.ts';

export {
  DidOpenTextDocumentNotification,
  ErrorAction,
  RevealOutputChannelOn,
  State,
} from 'vscode-languageclient/browser';

/** Of the browser; the host is compiled for Node. */
declare const Worker: new (script: string) => ConstructorParameters<typeof BrowserMessageReader>[0];

/** The server's script, made once: each URL keeps its text until the editor's worker ends. */
let script: string | undefined;

/** The client of the language server, which runs in a worker. */
export function createClient(id: string, name: string, _: vscode.Uri, options: LanguageClientOptions): LanguageClient {
  const start = () => {
    const worker = new Worker(
      (script ??= URL.createObjectURL(new Blob([serverScript.text], { type: 'text/javascript' }))),
    );
    return Promise.resolve({ reader: new BrowserMessageReader(worker), writer: new BrowserMessageWriter(worker) });
  };
  return new LanguageClient(id, name, start, options);
}
