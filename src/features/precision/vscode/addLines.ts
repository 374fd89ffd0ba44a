import * as vscode from 'vscode';
import { retryEdit } from '../../../kernel/vscode/platform/retryEdit.ts';

/**
 * Adds lines at the end of a document, from a line of their own on, as one step to undo.
 * @param lines gives them for the text as it is, each with its end
 * @returns where they begin
 */
export async function addLines(document: vscode.TextDocument, lines: () => string): Promise<vscode.Position> {
  let start = new vscode.Position(0, 0);
  await retryEdit(document, () => {
    const { range, text, lineNumber } = document.lineAt(document.lineCount - 1);
    start = new vscode.Position(lineNumber + (text === '' ? 0 : 1), 0);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, range.end, `${text === '' ? '' : '\n'}${lines()}`);
    return edit;
  });
  return start;
}
