import * as vscode from 'vscode';
import { type LintFinding, lintSource, type SourceLanguage } from '../../../core/lint/lintSource.ts';

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

/** Replacements that do the same, for what is found in a range. */
export function fixesOf(
  document: vscode.TextDocument,
  language: SourceLanguage,
  target: string,
  range: vscode.Range,
): vscode.CodeAction[] {
  return lintSource(document.getText(), language, target).flatMap((finding) => {
    const { fix } = finding;
    if (fix === null || rangeOf(document, finding).intersection(range) === undefined) return [];
    const title = fix.text === '' ? `Remove ${finding.name}` : `Replace by ${fix.text}`;
    const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
    action.edit = new vscode.WorkspaceEdit();
    action.edit.replace(document.uri, rangeOf(document, fix), fix.text);
    action.diagnostics = [diagnosticOf(document, finding)];
    return [action];
  });
}

const rangeOf = (document: vscode.TextDocument, { start, end }: { start: number; end: number }): vscode.Range =>
  new vscode.Range(document.positionAt(start), document.positionAt(end));
