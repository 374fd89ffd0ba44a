import {
  CodeActionKind,
  DocumentFormattingRequest,
  DocumentRangeFormattingRequest,
  TextDocuments,
  TextDocumentSyncKind,
} from 'vscode-languageserver';
import type { Connection, InitializeResult } from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { languageMessages, overrideLanguageId } from '../../kernel/protocol/language.ts';
import type {
  DocumentParams,
  FactsParams,
  KeepParams,
  ModelPathParams,
  PlaceParams,
} from '../../kernel/protocol/language.ts';
import { Documents } from './documents.ts';
import type { Analysis } from './documents.ts';
import { overrideActions } from '../../features/precision/server/codeActions.ts';
import { overrideLenses, resolveOverrideLens } from '../../features/precision/server/codeLens.ts';
import { overrideCompletion } from '../../features/precision/server/completion.ts';
import { overrideDefinition } from '../../features/precision/server/definition.ts';
import { overrideDiagnostics } from '../../features/precision/server/diagnostics.ts';
import { formatEdits } from '../../features/precision/server/formatting.ts';
import { overrideHover } from '../../features/precision/server/hover.ts';
import { overrideInlayHints } from '../../features/precision/server/inlayHints.ts';
import { overrideHighlights, overrideRename, prepareOverrideRename } from '../../features/precision/server/rename.ts';
import { overrideFolding, overrideSymbols } from '../../features/precision/server/symbols.ts';
import { replayActions } from '../../features/replay/server/codeActions.ts';
import { replayLenses } from '../../features/replay/server/codeLens.ts';
import { replayCompletion } from '../../features/replay/server/completion.ts';
import { replayDiagnostics } from '../../features/replay/server/diagnostics.ts';
import { replayHover } from '../../features/replay/server/hover.ts';
import { replayInlayHints } from '../../features/replay/server/inlayHints.ts';
import { keepInfo, overrideNodesAt, replayEntryInfos, replayNodesAt, verdictInfos } from './requests.ts';

type Overrides = Extract<Analysis, { kind: 'overrides' }>;
type Replay = Extract<Analysis, { kind: 'replay' }>;

/** Serves one editor over a connection: LSP's own features and the messages of `protocol/language.ts`. */
export function serve(connection: Connection): void {
  const texts = new TextDocuments(TextDocument);
  const documents = new Documents();
  const paths = new Map<string, string | null>();
  const waiting = new Set<string>();

  const analysisOf = (uri: string): Analysis | null => {
    const document = texts.get(uri);
    return document ? documents.analyze(document) : null;
  };
  /**
   * Answers with one feature for override files and one for replays; `otherwise` for any other document. Before it answers
   * anything, it says which model the text names now: a request may come before the changes are diagnosed.
   */
  const by = <T, U>(
    uri: string,
    otherwise: U,
    overrides: (analysis: Overrides) => T,
    replay: (analysis: Replay) => T,
  ): T | U => {
    const analysis = analysisOf(uri);
    if (!analysis) return otherwise;
    tellPath(uri);
    return analysis.kind === 'overrides' ? overrides(analysis) : replay(analysis);
  };

  /** Diagnoses once for all changes that have arrived: fast typing must not queue up work. */
  const diagnose = (uri: string): void => {
    if (waiting.has(uri)) return;
    waiting.add(uri);
    setTimeout(() => {
      waiting.delete(uri);
      const document = texts.get(uri);
      if (!document) return;
      const diagnostics = by(uri, [], overrideDiagnostics, replayDiagnostics);
      void connection.sendDiagnostics({ uri, version: document.version, diagnostics });
    }, 0);
  };

  const tellPath = (uri: string): void => {
    const analysis = analysisOf(uri);
    if (analysis?.kind !== 'overrides') return;
    const { model, scales } = analysis.file;
    const params: ModelPathParams = {
      uri,
      path: model?.usable ? model.value : null,
      scales: scales?.usable ? scales.value : null,
    };
    const told = JSON.stringify(params);
    if (paths.get(uri) === told) return;
    paths.set(uri, told);
    void connection.sendNotification(languageMessages.modelPath, params);
  };

  texts.onDidChangeContent(({ document }) => diagnose(document.uri));
  texts.onDidClose(({ document }) => {
    documents.close(document.uri);
    paths.delete(document.uri);
    void connection.sendDiagnostics({ uri: document.uri, diagnostics: [] });
  });

  let formatsLater = false;
  connection.onInitialize(({ capabilities: { textDocument } }) => {
    formatsLater =
      (textDocument?.formatting?.dynamicRegistration && textDocument.rangeFormatting?.dynamicRegistration) ?? false;
    if (!formatsLater) return initializeResult;
    const {
      documentFormattingProvider: _,
      documentRangeFormattingProvider: __,
      ...capabilities
    } = initializeResult.capabilities;
    return { ...initializeResult, capabilities };
  });
  connection.onInitialized(() => {
    if (!formatsLater) return;
    // For override files alone: as a second formatter of JSON the server would make the editor ask which one to use.
    const options = { documentSelector: [{ language: overrideLanguageId }] };
    void connection.client.register(DocumentFormattingRequest.type, options);
    void connection.client.register(DocumentRangeFormattingRequest.type, options);
  });
  connection.onNotification(languageMessages.facts, (params: FactsParams) => {
    documents.learn(params);
    diagnose(params.uri);
    void connection.languages.inlayHint.refresh().catch(() => undefined);
    void connection.sendRequest('workspace/codeLens/refresh').catch(() => undefined);
  });

  connection.onHover(({ textDocument: { uri }, position }) =>
    by(
      uri,
      null,
      (analysis) => overrideHover(analysis, position),
      (analysis) => replayHover(analysis, position),
    ),
  );
  connection.onCompletion(({ textDocument: { uri }, position }) =>
    by(
      uri,
      null,
      (analysis) => overrideCompletion(analysis, position),
      (analysis) => replayCompletion(analysis, position),
    ),
  );
  connection.languages.inlayHint.on(({ textDocument: { uri }, range }) =>
    by(
      uri,
      null,
      (analysis) => overrideInlayHints(analysis, range),
      (analysis) => replayInlayHints(analysis, range),
    ),
  );
  connection.onCodeLens(({ textDocument: { uri } }) => by(uri, null, overrideLenses, replayLenses));
  connection.onCodeLensResolve((lens) => {
    const analysis = analysisOf(uriOf(lens.data));
    return analysis?.kind === 'overrides' ? resolveOverrideLens(analysis, lens) : lens;
  });
  connection.onCodeAction(({ textDocument: { uri }, range, context }) =>
    by(
      uri,
      null,
      (analysis) => overrideActions(analysis, range, context.diagnostics),
      (analysis) => replayActions(analysis, range, context.diagnostics),
    ),
  );

  /** Features of override files only. */
  const overridesAt = <T>(uri: string, otherwise: T, feature: (analysis: Overrides) => T): T => {
    const analysis = analysisOf(uri);
    return analysis?.kind === 'overrides' ? feature(analysis) : otherwise;
  };
  connection.onPrepareRename(({ textDocument: { uri }, position }) =>
    overridesAt(uri, null, (analysis) => prepareOverrideRename(analysis, position)),
  );
  connection.onRenameRequest(({ textDocument: { uri }, position, newName }) =>
    overridesAt(uri, null, (analysis) => overrideRename(analysis, position, newName)),
  );
  connection.onDocumentHighlight(({ textDocument: { uri }, position }) =>
    overridesAt(uri, [], (analysis) => overrideHighlights(analysis, position)).map((range) => ({ range })),
  );
  connection.onDefinition(({ textDocument: { uri }, position }) =>
    overridesAt(uri, [], (analysis) => overrideDefinition(analysis, position)),
  );
  connection.onDocumentFormatting(({ textDocument: { uri } }) =>
    overridesAt(uri, null, ({ document }) => formatEdits(document)),
  );
  connection.onDocumentRangeFormatting(({ textDocument: { uri }, range }) =>
    overridesAt(uri, null, ({ document }) => formatEdits(document, range)),
  );
  connection.onDocumentSymbol(({ textDocument: { uri } }) => overridesAt(uri, null, overrideSymbols));
  connection.onFoldingRanges(({ textDocument: { uri } }) => overridesAt(uri, null, overrideFolding));

  connection.onRequest(languageMessages.verify, ({ uri }: DocumentParams) => overridesAt(uri, [], verdictInfos));
  connection.onRequest(languageMessages.keep, (params: KeepParams) =>
    overridesAt(params.uri, { text: '', selectors: [] }, (analysis) => keepInfo(analysis, params)),
  );
  connection.onRequest(languageMessages.nodesAt, (params: PlaceParams) =>
    by(
      params.uri,
      [],
      (analysis) => overrideNodesAt(analysis, params),
      (analysis) => replayNodesAt(analysis, params),
    ),
  );
  connection.onRequest(languageMessages.replayEntries, ({ uri }: DocumentParams) => {
    const analysis = analysisOf(uri);
    return analysis?.kind === 'replay' ? replayEntryInfos(analysis) : [];
  });

  texts.listen(connection);
  connection.listen();
}

const initializeResult: InitializeResult = {
  capabilities: {
    textDocumentSync: TextDocumentSyncKind.Incremental,
    hoverProvider: true,
    completionProvider: { triggerCharacters: ['/', ':', ' ', '"', '>'] },
    inlayHintProvider: true,
    codeLensProvider: { resolveProvider: true },
    codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, CodeActionKind.RefactorRewrite] },
    renameProvider: { prepareProvider: true },
    documentHighlightProvider: true,
    definitionProvider: true,
    documentFormattingProvider: true,
    documentRangeFormattingProvider: true,
    documentSymbolProvider: true,
    foldingRangeProvider: true,
  },
  serverInfo: { name: 'TensorRT Lens' },
};

function uriOf(data: unknown): string {
  return typeof data === 'object' && data !== null && 'uri' in data && typeof data.uri === 'string' ? data.uri : '';
}
