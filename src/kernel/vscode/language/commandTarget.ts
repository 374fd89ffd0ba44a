import * as vscode from 'vscode';
import type { CommandArguments } from '../../protocol/language.ts';
import { showError } from '../platform/messages.ts';
import { mayRun, tellUntrusted } from '../platform/trust.ts';

/**
 * The document that a command is about, and what a code lens gave along: a code lens gives `CommandArguments`, a menu a
 * URI, the palette nothing, which means the active editor. undefined: there is none.
 */
export function commandTarget(
  argument: unknown,
): { uri: vscode.Uri; arguments: Partial<CommandArguments> } | undefined {
  if (argument instanceof vscode.Uri) return { uri: argument, arguments: {} };
  if (typeof argument === 'object' && argument !== null && 'uri' in argument && typeof argument.uri === 'string') {
    return { uri: vscode.Uri.parse(argument.uri, true), arguments: { ...argument, uri: argument.uri } };
  }
  const active = vscode.window.activeTextEditor?.document.uri;
  return active === undefined ? undefined : { uri: active, arguments: {} };
}

/** The editor of a document whose cursor a command is about: the active one, where several show the document. */
export function editorOf(uri: vscode.Uri): vscode.TextEditor | undefined {
  const { activeTextEditor, visibleTextEditors } = vscode.window;
  return [activeTextEditor, ...visibleTextEditors].find((one) => one?.document.uri.toString() === uri.toString());
}

/** The saved document of a command that builds with it. undefined, after the user was told why: there is none. */
export async function documentToBuildWith(argument: unknown): Promise<vscode.TextDocument | undefined> {
  if (!mayRun()) {
    await tellUntrusted();
    return undefined;
  }
  const target = commandTarget(argument);
  return target && savedDocument(target.uri);
}

/** Opens a document and waits until it is saved, since programs read the file. undefined: it cannot be opened or saved. */
export async function savedDocument(uri: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  const document = await vscode.workspace.openTextDocument(uri);
  for (let tries = 0; tries < 3; tries += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one try after the other
    if (!document.isDirty || (await document.save())) return document;
    // Where the editor saves on its own at the same time, this one is told at once that it failed.
    // oxlint-disable-next-line no-await-in-loop -- as above
    await otherSave(document);
  }
  await showError(`${uri.path} cannot be saved.`);
  return undefined;
}

/** Resolves when a document has been saved, or after a second: no one else does. */
function otherSave(document: vscode.TextDocument): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      listener.dispose();
      resolve();
    };
    const timer = setTimeout(end, 1000);
    const listener = vscode.workspace.onDidSaveTextDocument((saved) => {
      if (saved === document) end();
    });
  });
}
