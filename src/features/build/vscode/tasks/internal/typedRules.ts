import * as vscode from 'vscode';

/** The types that a whole model can be given by a typed copy. */
export type TypedBase = 'fp16' | 'bf16';

/**
 * Rules that give every node a type, as a file of the extension's own storage: a build with them converts a copy of the
 * model where TensorRT takes types from the model only.
 * @returns its path, the same for every build
 */
export async function typedRules(storage: vscode.Uri, base: TypedBase): Promise<string> {
  const file = vscode.Uri.joinPath(storage, 'rules', `${base}.trtprec`);
  await vscode.workspace.fs.createDirectory(vscode.Uri.joinPath(file, '..'));
  await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(`base ${base}\n`));
  return file.fsPath;
}
