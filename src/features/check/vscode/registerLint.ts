import * as vscode from 'vscode';
import { languageOf } from '../lint/lintSource.ts';
import { settingsSection } from '../../../kernel/vscode/ids.ts';
import { readSettings } from '../../../kernel/vscode/platform/settings.ts';

/** Loaded with the first text that mentions TensorRT. */
const loadFeatures = () => import('./internal/lintFeatures.ts');

/** Only then is a text looked at more closely. */
const mentionsTensorrt = /tensorrt|nvinfer|nvonnxparser|trtexec|polygraphy/i;
/** A longer text was made by a program. */
const mostCharacters = 1 << 20;
/** After so many ms without typing. */
const pauseMs = 300;

/** Programs and scripts that use TensorRT: what the version in the settings does not have, with quick fixes. */
export function registerLint(): vscode.Disposable {
  const problems = vscode.languages.createDiagnosticCollection('trtlens-lint');
  const waiting = new Map<vscode.TextDocument, ReturnType<typeof setTimeout>>();
  const check = async (document: vscode.TextDocument) => {
    const { lintTarget } = readSettings(document.uri);
    const language = document.isUntitled ? null : languageOf(document.uri.path);
    if (language === null || document.uri.scheme === 'git') return;
    const text = document.getText();
    if (lintTarget === null || text.length > mostCharacters || !mentionsTensorrt.test(text))
      problems.delete(document.uri);
    else {
      const { lintDiagnostics } = await loadFeatures();
      if (!document.isClosed) problems.set(document.uri, lintDiagnostics(document, language, lintTarget));
    }
  };
  const later = (document: vscode.TextDocument) => {
    clearTimeout(waiting.get(document));
    const run = () => {
      waiting.delete(document);
      void check(document);
    };
    waiting.set(document, setTimeout(run, pauseMs));
  };
  const forget = (document: vscode.TextDocument) => {
    clearTimeout(waiting.get(document));
    waiting.delete(document);
    problems.delete(document.uri);
  };
  const checkAll = () => {
    for (const document of vscode.workspace.textDocuments) void check(document);
  };
  checkAll();
  return vscode.Disposable.from(
    problems,
    vscode.workspace.onDidOpenTextDocument((document) => void check(document)),
    vscode.workspace.onDidChangeTextDocument(({ document }) => later(document)),
    vscode.workspace.onDidCloseTextDocument(forget),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(`${settingsSection}.lint`)) checkAll();
    }),
    vscode.languages.registerCodeActionsProvider(
      [{ pattern: '**/*' }],
      {
        provideCodeActions: async (document, range) => {
          const { lintTarget } = readSettings(document.uri);
          const language = languageOf(document.uri.path);
          if (lintTarget === null || language === null || (problems.get(document.uri) ?? []).length === 0) return [];
          return (await loadFeatures()).fixesOf(document, language, lintTarget, range);
        },
      },
      { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
    ),
    new vscode.Disposable(() => {
      for (const timer of waiting.values()) clearTimeout(timer);
    }),
  );
}
