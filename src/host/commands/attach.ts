import * as vscode from 'vscode';
import { attachFiles } from '../builds/attachFiles.ts';
import type { Sessions } from '../workspace/sessions.ts';
import { openGraph } from '../graph/graphEditorProvider.ts';
import { pickModel } from './pickModel.ts';

/** Opens what a build elsewhere left as a build of a model. `files` are given by tests and other callers. */
export async function attach(sessions: Sessions, argument: unknown, files?: unknown): Promise<void> {
  const uri = await pickModel(argument, sessions);
  if (uri === undefined) return;
  if (uri.scheme !== 'file') {
    await vscode.window.showWarningMessage(vscode.l10n.t('Builds are kept for models on this computer’s disk only.'));
    return;
  }
  const chosen = isUris(files) ? files : await askForFiles(uri);
  if (chosen === undefined || chosen.length === 0) return;
  try {
    await attachFiles(uri, chosen);
  } catch (error) {
    await vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
    return;
  }
  const before = sessions.find(uri);
  sessions.setCurrent(uri);
  if (before !== undefined) await sessions.reloadBuild(uri);
  await openGraph(uri);
  await vscode.commands.executeCommand('workbench.view.extension.tensorrtLens');
}

const isUris = (value: unknown): value is vscode.Uri[] =>
  Array.isArray(value) && value.every((uri) => uri instanceof vscode.Uri);

function askForFiles(model: vscode.Uri): Thenable<vscode.Uri[] | undefined> {
  return vscode.window.showOpenDialog({
    title: vscode.l10n.t(
      'Build log, layer info and profile of one build of {0}',
      model.path.slice(model.path.lastIndexOf('/') + 1),
    ),
    canSelectMany: true,
    defaultUri: vscode.Uri.joinPath(model, '..'),
    openLabel: vscode.l10n.t('Open'),
  });
}
