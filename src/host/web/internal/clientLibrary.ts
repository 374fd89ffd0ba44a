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

/** The client of the language server, which runs in a worker. */
export function createClient(id: string, name: string, _: vscode.Uri, options: LanguageClientOptions): LanguageClient {
  const start = () => {
    const script = URL.createObjectURL(new Blob([serverScript.text], { type: 'text/javascript' }));
    const worker = new Worker(script);
    return Promise.resolve({ reader: new BrowserMessageReader(worker), writer: new BrowserMessageWriter(worker) });
  };
  return new LanguageClient(id, name, start, options);
}
