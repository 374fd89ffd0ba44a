import * as vscode from 'vscode';
import { writeName } from '../../../kernel/rules/overrideFile.ts';
import { nameOf } from '../../../kernel/vscode/platform/nameOf.ts';
import { overridesOf } from '../../../kernel/vscode/platform/modelFile.ts';

/** By file: two who ask at once get one file with one beginning. */
const opening = new Map<string, Promise<vscode.TextDocument>>();

/** Opens the override file of a model; if there is none, one that names the model is made, which the user can undo. */
export function openOverrides(model: vscode.Uri): Promise<vscode.TextDocument> {
  const uri = overridesOf(model);
  const key = uri.toString();
  const opened = opening.get(key) ?? openOrMake(uri, model).finally(() => opening.delete(key));
  opening.set(key, opened);
  return opened;
}

async function openOrMake(uri: vscode.Uri, model: vscode.Uri): Promise<vscode.TextDocument> {
  try {
    return await vscode.workspace.openTextDocument(uri);
  } catch {
    const edit = new vscode.WorkspaceEdit();
    edit.createFile(uri, { ignoreIfExists: true });
    await vscode.workspace.applyEdit(edit);
    const document = await vscode.workspace.openTextDocument(uri);
    const head = new vscode.WorkspaceEdit();
    const file = nameOf(model);
    head.insert(uri, new vscode.Position(0, 0), `model  ${writeName(`./${file}`)}\nbase   fp16\n\n`);
    await vscode.workspace.applyEdit(head);
    return document;
  }
}
