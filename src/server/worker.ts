import { BrowserMessageReader, BrowserMessageWriter, createConnection } from 'vscode-languageserver/browser';
import { serve } from './serve.ts';

// In a browser the server is a worker of the extension's.
const self = globalThis as never;
serve(createConnection(new BrowserMessageReader(self), new BrowserMessageWriter(self)));
