import * as vscode from 'vscode';
import type { SpanEdit } from '../../core/replay/replayFile.ts';

/** Applies edits that core gives by offsets, as one step to undo. */
export async function applySpans(document: vscode.TextDocument, edits: readonly SpanEdit[]): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  for (const { start, end, text } of edits)
    edit.replace(document.uri, new vscode.Range(document.positionAt(start), document.positionAt(end)), text);
  await vscode.workspace.applyEdit(edit);
  await vscode.window.showTextDocument(document);
}
