import * as vscode from 'vscode';
import { effectiveName } from '../../core/precision/modelFacts.ts';
import { writeName } from '../../core/precision/quoteName.ts';
import type { Session } from '../workspace/session.ts';

/**
 * Adds rules to the model's override file, `model.trtprec` beside `model.onnx`, that keep nodes in FP32, and shows it.
 * The file is made when there is none. Nothing is saved: a person looks at it first, and can undo it.
 */
export async function keepFp32(session: Session, nodeIds: readonly string[]): Promise<void> {
  const { graph } = session.state;
  const wanted = new Set(nodeIds);
  const names = (graph?.nodes ?? []).filter(({ id }) => wanted.has(id)).map((node) => writeName(effectiveName(node)));
  if (names.length === 0) return;
  const uri = session.uri.with({ path: `${session.uri.path.replace(/\.onnx$/i, '')}.trtprec` });
  try {
    const document = await openOrCreate(uri, session.title);
    const kept = new Set(
      document
        .getText()
        .split('\n')
        .map((line) => line.trim().split(/\s+/)[0]),
    );
    const width = Math.max(...names.map((name) => name.length));
    const lines = names.filter((name) => !kept.has(name)).map((name) => `${name.padEnd(width)}  fp32\n`);
    const end = document.lineAt(document.lineCount - 1).range.end;
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, end, (end.character === 0 ? '' : '\n') + lines.join(''));
    if (lines.length > 0) await vscode.workspace.applyEdit(edit);
    const last = new vscode.Position(document.lineCount - 1, 0);
    await vscode.window.showTextDocument(document, {
      viewColumn: vscode.ViewColumn.Beside,
      selection: new vscode.Range(last, last),
    });
  } catch (error) {
    await vscode.window.showErrorMessage(
      vscode.l10n.t('{0} cannot be changed: {1}', uri.path, error instanceof Error ? error.message : String(error)),
    );
  }
}

async function openOrCreate(uri: vscode.Uri, model: string): Promise<vscode.TextDocument> {
  try {
    return await vscode.workspace.openTextDocument(uri);
  } catch {
    const edit = new vscode.WorkspaceEdit();
    edit.createFile(uri, { ignoreIfExists: true });
    await vscode.workspace.applyEdit(edit);
    const document = await vscode.workspace.openTextDocument(uri);
    const head = new vscode.WorkspaceEdit();
    head.insert(uri, new vscode.Position(0, 0), `model  ${writeName(`./${model}`)}\nbase   fp16\n\n`);
    await vscode.workspace.applyEdit(head);
    return document;
  }
}
