import * as vscode from 'vscode';
import type { Sessions } from '../workspace/sessions.ts';

/**
 * The model that a command is about: the argument of a menu, else the one in the active editor, else the one in the
 * side bar, else the one that the person picks. undefined: they picked none.
 */
export async function pickModel(argument: unknown, sessions: Sessions): Promise<vscode.Uri | undefined> {
  if (argument instanceof vscode.Uri) return argument;
  return activeModel() ?? sessions.current?.uri ?? (await askForModel());
}

function activeModel(): vscode.Uri | undefined {
  const input: unknown = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const uri = input instanceof vscode.TabInputCustom || input instanceof vscode.TabInputText ? input.uri : undefined;
  return uri?.path.toLowerCase().endsWith('.onnx') === true ? uri : undefined;
}

/** The models of the workspace as a list, with the way to any other. */
export async function askForModel(): Promise<vscode.Uri | undefined> {
  const found = await vscode.workspace.findFiles('**/*.onnx', '**/{node_modules,.git}/**', 500);
  if (found.length > 0) {
    const other = { label: vscode.l10n.t('Other file…'), iconPath: new vscode.ThemeIcon('folder-opened') };
    const models = found
      .map((uri) => ({ label: vscode.workspace.asRelativePath(uri), uri }))
      .toSorted((a, b) => a.label.localeCompare(b.label));
    const placeHolder = vscode.l10n.t('Which model?');
    const picked = await vscode.window.showQuickPick<vscode.QuickPickItem & { uri?: vscode.Uri }>([...models, other], {
      placeHolder,
    });
    if (picked === undefined || picked.uri !== undefined) return picked?.uri;
  }
  const [file] =
    (await vscode.window.showOpenDialog({
      filters: { ONNX: ['onnx'] },
      openLabel: vscode.l10n.t('Open Model'),
    })) ?? [];
  return file;
}
