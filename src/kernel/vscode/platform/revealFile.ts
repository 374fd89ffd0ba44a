import * as vscode from 'vscode';
import { pickFiles } from './askUser.ts';
import { fileUri } from './fileUri.ts';

/**
 * Shows a file or a folder of this extension host in the file manager. A browser and a window on another machine have
 * none there: VS Code's file dialog shows it among its neighbors, and what is picked opens.
 */
export async function revealFile(path: string): Promise<void> {
  const uri = fileUri(path);
  if (vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined) {
    await vscode.commands.executeCommand('revealFileInOS', uri);
    return;
  }
  const [picked] = (await pickFiles({ defaultUri: uri })) ?? [];
  if (picked) await vscode.commands.executeCommand('vscode.open', picked);
}
