import * as vscode from 'vscode';
import type { Builds } from '../../../kernel/vscode/builds/builds.ts';
import { commands, gateLanguage } from '../../../kernel/vscode/ids.ts';
import { registerCommands } from '../../../kernel/vscode/platform/registerCommands.ts';
import type { GateParts } from './internal/gatePages.ts';

/** Loaded with the first gate file. */
const loadFeatures = () => import('./internal/gateFeatures.ts');

/** Gate files: diagnostics, completion, hover, and a code lens with the verdict of the newest build. */
export function registerGate(builds: Builds, parts: GateParts): vscode.Disposable {
  const { files } = parts;
  const problems = vscode.languages.createDiagnosticCollection('trtlens-gate');
  const failures = vscode.languages.createDiagnosticCollection('trtlens-gate-result');
  const changed = new vscode.EventEmitter<void>();
  const check = async (document: vscode.TextDocument) => {
    if (document.languageId !== gateLanguage) return;
    const { problemsOf } = await loadFeatures();
    if (!document.isClosed) problems.set(document.uri, problemsOf(document));
  };
  for (const document of vscode.workspace.textDocuments) void check(document);
  const selector = { language: gateLanguage };
  return vscode.Disposable.from(
    problems,
    failures,
    changed,
    vscode.workspace.onDidOpenTextDocument((document) => void check(document)),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      void check(document);
      failures.delete(document.uri);
    }),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      problems.delete(uri);
      failures.delete(uri);
    }),
    builds.onDidEnd(() => changed.fire()),
    vscode.languages.registerCompletionItemProvider(
      selector,
      {
        provideCompletionItems: async (document, position) => (await loadFeatures()).completions(document, position),
      },
      '\n',
      ' ',
      '{',
      ',',
    ),
    vscode.languages.registerHoverProvider(selector, {
      provideHover: async (document, position) => (await loadFeatures()).hover(document, position),
    }),
    vscode.languages.registerCodeLensProvider(selector, {
      onDidChangeCodeLenses: changed.event,
      provideCodeLenses: async (document) => [await (await loadFeatures()).lens(document, files, failures)],
    }),
    registerCommands({
      // A link on the page of a result carries the URI as text.
      [commands.evaluateGate]: async (argument, runModel) => {
        const named = typeof argument === 'string' ? vscode.Uri.parse(argument, true) : argument;
        const uri = named instanceof vscode.Uri ? named : vscode.window.activeTextEditor?.document.uri;
        if (uri === undefined) return;
        const { showVerdict } = await import('./internal/gatePages.ts');
        await showVerdict(await vscode.workspace.openTextDocument(uri), parts, runModel === true);
      },
    }),
  );
}
