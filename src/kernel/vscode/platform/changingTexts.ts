import * as vscode from 'vscode';

/**
 * Returns the texts of a scheme, which can change while they are open. What changes while a text is on its way to the
 * editor would be lost, because a text that is not open yet is told nothing: so each is requested once more when it is.
 */
export function registerChangingTexts(
  scheme: string,
  changed: vscode.EventEmitter<vscode.Uri>,
  provideTextDocumentContent: (uri: vscode.Uri) => Promise<string>,
): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(scheme, {
      onDidChange: changed.event,
      provideTextDocumentContent,
    }),
    vscode.workspace.onDidOpenTextDocument(({ uri }) => {
      if (uri.scheme === scheme) changed.fire(uri);
    }),
  );
}
