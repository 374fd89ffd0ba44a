import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import type { Build } from '../../builder/buildFolder.ts';
import { commands } from '../ids.ts';
import { openTextAt } from '../workspace/openLogLine.ts';

/** Tells a person how a build ended; whoever cancelled it knows. */
export async function tellOutcome(uri: vscode.Uri, { folder, manifest }: Build): Promise<void> {
  const name = basename(uri.fsPath);
  if (manifest.result === 'cancelled') return;
  if (manifest.result === 'passed') {
    const show = vscode.l10n.t('Open Fusion Page');
    const answer = await vscode.window.showInformationMessage(vscode.l10n.t('{0} was built.', name), show);
    if (answer === show) await vscode.commands.executeCommand(commands.openFusionPage, uri);
    return;
  }
  const openLog = vscode.l10n.t('Open Log');
  const random = vscode.l10n.t('Build with Random Weights');
  const reason = manifest.error ?? vscode.l10n.t('the log says why');
  // What TensorRT fuses hangs on structure, shapes and types: a model without its weights can still be studied.
  const weightless = /weights file .* cannot be opened|Failed to open file: /.test(reason);
  const text = vscode.l10n.t('{0} could not be built: {1}', name, reason);
  const answer = await vscode.window.showErrorMessage(text, openLog, ...(weightless ? [random] : []));
  if (answer === random) await vscode.commands.executeCommand(commands.build, uri, { randomWeights: true });
  if (answer === openLog && manifest.files.log !== null)
    await openTextAt(vscode.Uri.file(join(folder, manifest.files.log)), Number.MAX_SAFE_INTEGER);
}
