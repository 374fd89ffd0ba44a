import * as vscode from 'vscode';
import { writeName } from '../../core/precision/quoteName.ts';

/** The override file of a model: `model.trtprec` beside `model.onnx`. */
export const overridesOf = (model: vscode.Uri): vscode.Uri =>
  model.with({ path: `${model.path.replace(/\.onnx(?:\.gz)?$/i, '')}.trtprec` });

/** Opens the override file of a model; where there is none, one that names the model is made, which a person can undo. */
export async function openOverrides(model: vscode.Uri): Promise<vscode.TextDocument> {
  const uri = overridesOf(model);
  try {
    return await vscode.workspace.openTextDocument(uri);
  } catch {
    const edit = new vscode.WorkspaceEdit();
    edit.createFile(uri, { ignoreIfExists: true });
    await vscode.workspace.applyEdit(edit);
    const document = await vscode.workspace.openTextDocument(uri);
    const head = new vscode.WorkspaceEdit();
    const file = model.path.slice(model.path.lastIndexOf('/') + 1);
    head.insert(uri, new vscode.Position(0, 0), `model  ${writeName(`./${file}`)}\nbase   fp16\n\n`);
    await vscode.workspace.applyEdit(head);
    return document;
  }
}
