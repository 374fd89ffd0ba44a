import * as vscode from 'vscode';
import { pickFiles, pickItem } from '../platform/askUser.ts';

/** Which files of the workspace are offered, and what any other file is requested with. */
export interface FileQuestion {
  glob: string;
  placeHolder: string;
  dialog: vscode.OpenDialogOptions;
  /** Omitted of the list. */
  except?: vscode.Uri;
}

/** Files of the workspace as a list, with the way to any other; undefined: the user picked none. */
export async function pickFile({ glob, placeHolder, dialog, except }: FileQuestion): Promise<vscode.Uri | undefined> {
  const found = await vscode.workspace.findFiles(glob, '**/{node_modules,.git}/**', 500);
  const files = found
    .filter((uri) => uri.toString() !== except?.toString())
    .map((uri) => ({ label: vscode.workspace.asRelativePath(uri), uri }))
    .toSorted((a, b) => a.label.localeCompare(b.label));
  if (files.length > 0) {
    const other = { label: 'Other File…', iconPath: new vscode.ThemeIcon('folder-opened') };
    const picked = await pickItem<vscode.QuickPickItem & { uri?: vscode.Uri }>([...files, other], {
      placeHolder,
    });
    if (picked === undefined || picked.uri !== undefined) return picked?.uri;
  }
  const [file] = (await pickFiles(dialog)) ?? [];
  return file;
}
