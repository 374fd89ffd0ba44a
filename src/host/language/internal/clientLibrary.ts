/**
 * What the host uses of the language client's library: loaded with the first override file or replay, because most
 * sessions open none and reading it takes long.
 */
export {
  DidOpenTextDocumentNotification,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  State,
  TransportKind,
} from 'vscode-languageclient/node';
