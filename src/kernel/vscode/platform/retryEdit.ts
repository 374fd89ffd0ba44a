import * as vscode from 'vscode';

/**
 * Applies an edit of one document. The editor rejects an edit that was made for an older text: where a keystroke came
 * before it, it is made again, for the text as it is then.
 * @param make gives the edit for the text as it is; undefined: there is nothing to do any more
 * @returns whether an edit was applied
 */
export async function retryEdit(
  document: vscode.TextDocument,
  make: () => vscode.WorkspaceEdit | undefined,
): Promise<boolean> {
  for (;;) {
    const { version } = document;
    const edit = make();
    if (edit === undefined) return false;
    // oxlint-disable-next-line no-await-in-loop -- one try after the other
    if (await vscode.workspace.applyEdit(edit)) return true;
    // No one typed: the file cannot be changed.
    if (document.version === version) return false;
  }
}
