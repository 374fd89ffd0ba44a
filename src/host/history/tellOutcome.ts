import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import type { Build } from '../../builder/store/buildFolder.ts';
import { precisionSentence, type PrecisionShare } from '../../core/report/precisionShare.ts';
import type { NamedDiagnosis } from '../diagnostics/diagnoseBuild.ts';
import { commands } from '../ids.ts';
import { plainText } from '../platform/plainText.ts';
import { openTextAt } from '../workspace/openLogLine.ts';

/** Tells the user how a build ended, and offers what to do about it. A cancelled build needs no message. */
export async function tellOutcome(
  uri: vscode.Uri,
  { folder, manifest }: Build,
  cause: NamedDiagnosis | undefined,
  precision: PrecisionShare | null,
): Promise<void> {
  const name = basename(uri.fsPath);
  if (manifest.result === 'cancelled') return;
  if (manifest.result === 'passed') {
    const show = 'Open Fusion Page';
    const text = precision ? `Built ${name}. ${precisionSentence(precision)}` : `Built ${name}.`;
    // A request without effect is nothing to be happy about.
    const tell = precision?.realised === 0 ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
    const answer = await tell(plainText(text), show);
    if (answer === show) await vscode.commands.executeCommand(commands.openFusionPage, uri);
    return;
  }
  const reason = manifest.error ?? 'see the log for the reason';
  const text = `Could not build ${name}: ${reason}`;
  const offers = offersFor(uri, { folder, manifest }, cause, reason);
  const answer = await vscode.window.showErrorMessage(plainText(text), ...offers);
  await answer?.act();
}

type Offer = vscode.MessageItem & { act: () => Thenable<unknown> };

/** What may help after a build that failed, the most likely first. */
function offersFor(
  uri: vscode.Uri,
  { folder, manifest }: Build,
  cause: NamedDiagnosis | undefined,
  reason: string,
): Offer[] {
  const { executeCommand } = vscode.commands;
  const offers: Offer[] = [];
  // What TensorRT fuses depends on structure, shapes and types: a model without its weights can still be studied.
  if (cause?.code === 'weights-missing' || /weights file .* (?:cannot be opened|is missing)/.test(reason))
    offers.push({
      title: 'Build with Random Weights',
      act: () => executeCommand(commands.build, uri, { randomWeights: true }),
    });
  if (cause?.code === 'profile-missing')
    offers.push({
      title: 'Choose Shapes…',
      act: () => executeCommand(commands.buildAs, uri, 'shapes'),
    });
  if ((cause?.nodes.length ?? 0) > 0)
    offers.push({ title: 'Show in Graph', act: () => executeCommand(commands.openGraph, uri) });
  const { log } = manifest.files;
  if (log !== null)
    offers.push({
      title: 'Open Log',
      act: () => openTextAt(vscode.Uri.file(join(folder, log)), cause?.line ?? Number.MAX_SAFE_INTEGER),
    });
  return offers;
}
