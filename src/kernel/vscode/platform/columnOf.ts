import * as vscode from 'vscode';

/**
 * Where a text is open, in front if it is in several groups; otherwise next to the active editor. By tabs: an editor
 * that was just shown may not know its column yet.
 */
export function columnOf(uri: vscode.Uri): vscode.ViewColumn {
  const shows = ({ input }: vscode.Tab) =>
    input instanceof vscode.TabInputText && input.uri.toString() === uri.toString();
  const { activeTabGroup, all } = vscode.window.tabGroups;
  const groups = [activeTabGroup, ...all];
  const inFront = groups.find(({ activeTab }) => activeTab !== undefined && shows(activeTab));
  return (inFront ?? groups.find(({ tabs }) => tabs.some(shows)))?.viewColumn ?? vscode.ViewColumn.Beside;
}
