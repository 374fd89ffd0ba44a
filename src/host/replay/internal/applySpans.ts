import * as vscode from 'vscode';
import type { SpanEdit } from '../../../core/tactics/replayFile.ts';
import { retryEdit } from '../../platform/retryEdit.ts';
import { type OpenReplay, replayIn } from './openReplay.ts';

/**
 * Applies edits that core gives by offsets, as one step to undo.
 * @param find gives the edits for the replay as it is; undefined: none is to be made
 */
export async function applySpans(
  document: vscode.TextDocument,
  find: (replay: OpenReplay) => readonly SpanEdit[] | undefined,
): Promise<void> {
  await retryEdit(document, () => {
    const replay = replayIn(document);
    const edits = replay && find(replay);
    if (edits === undefined) return undefined;
    const edit = new vscode.WorkspaceEdit();
    for (const { start, end, text } of edits)
      edit.replace(document.uri, new vscode.Range(document.positionAt(start), document.positionAt(end)), text);
    return edit;
  });
  await vscode.window.showTextDocument(document);
}
