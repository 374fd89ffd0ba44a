import * as vscode from 'vscode';
import { commands } from '../../../../kernel/vscode/ids.ts';
import { type LintFinding, lintSource, type SourceLanguage } from '../../lint/lintSource.ts';

const severities: Readonly<Record<LintFinding['code'], vscode.DiagnosticSeverity>> = {
  gone: vscode.DiagnosticSeverity.Warning,
  'too-new': vscode.DiagnosticSeverity.Warning,
  'perhaps-gone': vscode.DiagnosticSeverity.Information,
  deprecated: vscode.DiagnosticSeverity.Hint,
};

/** What a version of TensorRT does not have in a text. */
export const lintDiagnostics = (
  document: vscode.TextDocument,
  language: SourceLanguage,
  target: string,
): vscode.Diagnostic[] =>
  lintSource(document.getText(), language, target).map((finding) => diagnosticOf(document, finding));

function diagnosticOf(document: vscode.TextDocument, finding: LintFinding): vscode.Diagnostic {
  const { code, message, advice } = finding;
  const text = advice === '' ? message : `${message}\n${advice}`;
  const diagnostic = new vscode.Diagnostic(rangeOf(document, finding), text, severities[code]);
  diagnostic.source = 'TensorRT Lens';
  diagnostic.code = code;
  if (code === 'deprecated') diagnostic.tags = [vscode.DiagnosticTag.Deprecated];
  return diagnostic;
}

/** For what is found in a range: replacements that do the same, and the typed model that flags ask for. */
export function fixesOf(
  document: vscode.TextDocument,
  language: SourceLanguage,
  target: string,
  range: vscode.Range,
): vscode.CodeAction[] {
  return lintSource(document.getText(), language, target).flatMap((finding) => {
    const { fix } = finding;
    if (rangeOf(document, finding).intersection(range) === undefined) return [];
    const actions: vscode.CodeAction[] = [];
    const offer = (title: string) => {
      const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
      action.diagnostics = [diagnosticOf(document, finding)];
      actions.push(action);
      return action;
    };
    if (fix !== null) {
      const edit = new vscode.WorkspaceEdit();
      edit.replace(document.uri, rangeOf(document, fix), fix.text);
      offer(fix.text === '' ? `Remove ${finding.name}` : `Replace by ${fix.text}`).edit = edit;
    }
    const step = finding.step?.();
    if (step?.trtlens[0] === 'precision')
      offer(writeTyped).command = {
        title: writeTyped,
        command: commands.writeTypedModel,
        arguments: [document.uri, step.command],
      };
    return actions;
  });
}

const writeTyped = 'Write the Typed Model and Its Command…';

const rangeOf = (document: vscode.TextDocument, { start, end }: { start: number; end: number }): vscode.Range =>
  new vscode.Range(document.positionAt(start), document.positionAt(end));
