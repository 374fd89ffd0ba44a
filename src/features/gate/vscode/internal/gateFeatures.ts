import * as vscode from 'vscode';
import type { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { completeGate, hoverGate, readGate } from '../../readGate.ts';
import { type CheckResult, gateSummary, type Place } from '../../gateFile.ts';
import { commands } from '../../../../kernel/vscode/ids.ts';
import { evaluatedGate } from './evaluatedGate.ts';

/** What is wrong in a gate file. */
export function problemsOf(document: vscode.TextDocument): vscode.Diagnostic[] {
  return readGate(document.getText()).problems.map(({ code, message, line = 1, column = 1, endColumn }) => {
    const place = { line, column, endColumn: endColumn ?? column + 1 };
    const diagnostic = new vscode.Diagnostic(rangeOf(place), message, vscode.DiagnosticSeverity.Error);
    diagnostic.code = code;
    diagnostic.source = 'TensorRT Lens';
    return diagnostic;
  });
}

const rangeOf = ({ line, column, endColumn }: Place): vscode.Range =>
  new vscode.Range(line - 1, column - 1, line - 1, endColumn - 1);

export function completions(document: vscode.TextDocument, position: vscode.Position): vscode.CompletionItem[] {
  const { Property, Value } = vscode.CompletionItemKind;
  return completeGate(document.getText(), document.offsetAt(position)).map(({ label, about, kind }) => {
    const item = new vscode.CompletionItem(label, kind === 'key' ? Property : Value);
    item.documentation = about;
    if (kind === 'key') item.insertText = `${label}: `;
    return item;
  });
}

export function hover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | undefined {
  const found = hoverGate(document.getText(), document.offsetAt(position));
  if (!found) return undefined;
  return new vscode.Hover(
    found.about,
    new vscode.Range(document.positionAt(found.from), document.positionAt(found.to)),
  );
}

/** The verdict of the newest build; the checks that it failed become diagnostics. */
export async function lens(
  document: vscode.TextDocument,
  files: ParsedFiles,
  failures: vscode.DiagnosticCollection,
): Promise<vscode.CodeLens> {
  const judged = await evaluatedGate(document, files);
  const place = new vscode.Range(0, 0, 0, 0);
  if ('reason' in judged) return new vscode.CodeLens(place, { title: judged.reason, command: '' });
  failures.set(document.uri, judged.result.checks.filter(({ verdict }) => verdict === 'failed').map(failureOf));
  const title = `${judged.result.passed ? '$(pass)' : '$(error)'} Build ${judged.build}: ${gateSummary(judged.result)}`;
  return new vscode.CodeLens(place, { title, command: commands.evaluateGate, arguments: [document.uri] });
}

function failureOf({ place, check, message }: CheckResult): vscode.Diagnostic {
  const diagnostic = new vscode.Diagnostic(rangeOf(place), message, vscode.DiagnosticSeverity.Warning);
  diagnostic.code = check;
  diagnostic.source = 'TensorRT Lens gate';
  return diagnostic;
}
