/**
 * What the host uses of the language client's library: a bundle of its own (see esbuild.mjs), loaded with the first
 * override file or replay, because most sessions open none and reading it takes a third of the extension's start.
 */
export {
  DidOpenTextDocumentNotification,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  State,
  TransportKind,
} from 'vscode-languageclient/node';
