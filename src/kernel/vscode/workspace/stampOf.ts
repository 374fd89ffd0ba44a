import * as vscode from 'vscode';

/** Changes with a model's file. */
export async function stampOf(model: vscode.Uri): Promise<string> {
  const { mtime, size } = await vscode.workspace.fs.stat(model);
  return `${mtime} ${size}`;
}
