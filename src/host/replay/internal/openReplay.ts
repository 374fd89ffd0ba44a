import * as vscode from 'vscode';
import { readReplay } from '../../../core/tactics/readReplay.ts';
import type { ReplayFile } from '../../../core/tactics/replayFile.ts';

/** A replay as it is at this moment: after a question to the user, open it again, for its entries may have moved. */
export interface OpenReplay {
  document: vscode.TextDocument;
  text: string;
  file: ReplayFile;
}

/** Opens a file as a tactic replay; undefined otherwise. */
export async function openReplay(uri: vscode.Uri): Promise<OpenReplay | undefined> {
  return replayIn(await vscode.workspace.openTextDocument(uri));
}

/** The replay in a document as it is at this moment; undefined otherwise. */
export function replayIn(document: vscode.TextDocument): OpenReplay | undefined {
  const text = document.getText();
  const { value: file } = readReplay(text);
  return file && { document, text, file };
}
