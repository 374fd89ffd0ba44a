import * as vscode from 'vscode';
import { columnOf } from '../platform/columnOf.ts';
import { plainText } from '../platform/plainText.ts';

/** What may not come before or after a name: then it is part of a longer one. */
const inName = /[\w.:/-]/;

/** Where a text mentions one of some names first, as a whole; null: nowhere. */
export function firstMention(document: vscode.TextDocument, names: readonly string[]): vscode.Range | null {
  const text = document.getText();
  for (const name of names) {
    if (name === '') continue;
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
      const end = at + name.length;
      if (inName.test(text[at - 1] ?? '') || inName.test(text[end] ?? '')) continue;
      return new vscode.Range(document.positionAt(at), document.positionAt(end));
    }
  }
  return null;
}

/** Selects the first mention of some names in a text that is open: in one that is in sight, if that has any. */
export async function revealMention(names: readonly string[]): Promise<void> {
  const shown = vscode.window.visibleTextEditors.map(({ document }) => document);
  const open = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === 'file' || uri.scheme === 'untitled');
  for (const document of new Set([...shown, ...open])) {
    const selection = firstMention(document, names);
    if (selection === null) continue;
    await vscode.window.showTextDocument(document, { selection, viewColumn: columnOf(document.uri) });
    return;
  }
  await vscode.window.showInformationMessage(plainText(`No open text mentions ${names[0] ?? 'the selection'}.`));
}
