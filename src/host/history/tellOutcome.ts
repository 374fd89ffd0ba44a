import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import type { Build } from '../../builder/store/buildFolder.ts';
import { stepsAfter, stepWords } from '../../core/diagnose/buildState.ts';
import { precisionSentence, type PrecisionShare } from '../../core/report/precisionShare.ts';
import type { NamedDiagnosis } from '../diagnostics/diagnoseBuild.ts';
import { takeStep } from '../builds/takeStep.ts';
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
  const offers = offersFor(uri, { folder, manifest }, cause);
  const answer = await vscode.window.showErrorMessage(plainText(text), ...offers);
  await answer?.act();
}

type Offer = vscode.MessageItem & { act: () => Thenable<unknown> };

/** What may help after a build that failed, the most likely first. */
function offersFor(uri: vscode.Uri, { folder, manifest }: Build, cause: NamedDiagnosis | undefined): Offer[] {
  const { log } = manifest.files;
  const openLog = async () => {
    if (log !== null) await openTextAt(vscode.Uri.file(join(folder, log)), cause?.line ?? Number.MAX_SAFE_INTEGER);
  };
  const offers = stepsAfter(manifest, cause).map((step): Offer => ({
    title: stepWords[step],
    act: () => takeStep(step, { uri, manifest, openLog }),
  }));
  const show: Offer = {
    title: 'Show in Graph',
    act: () => vscode.commands.executeCommand(commands.openGraph, uri),
  };
  return (cause?.nodes.length ?? 0) > 0 ? [show, ...offers] : offers;
}
