import * as vscode from 'vscode';

// These stay open without the focus: VS Code gives a webview the focus back some time after its list of commands has
// closed, and a question that came up meanwhile would close unanswered.

/** One line of a list; undefined when the user closes it. Texts are shown as they are. */
export const pickItem = <T extends vscode.QuickPickItem>(
  items: readonly T[],
  options: vscode.QuickPickOptions,
): Thenable<T | undefined> => vscode.window.showQuickPick(items, { ...options, ignoreFocusOut: true });

/** A line of text; undefined when the user closes the box. */
export const enterText = (options: vscode.InputBoxOptions): Thenable<string | undefined> =>
  vscode.window.showInputBox({ ...options, ignoreFocusOut: true });

/** One of some words. */
export async function pickWord<W extends string>(words: readonly W[], placeHolder: string): Promise<W | undefined> {
  const items = words.map((label) => ({ label }));
  return (await pickItem(items, { placeHolder }))?.label;
}
