import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import * as vscode from 'vscode';
import type { Build } from '../../../../../kernel/node/store/buildFolder.ts';
import { failureReason, stepsAfter, stepWords } from '../../../../../kernel/build/diagnosis.ts';
import { becameText, precisionSentence } from '../../../../../kernel/report/words.ts';
import { sizeText, timeText } from '../../../../../kernel/base/text.ts';
import type { NamedDiagnosis } from '../../../../../kernel/vscode/builds/diagnoseBuild.ts';
import { takeStep } from '../../../../../kernel/vscode/builds/takeStep.ts';
import { commands } from '../../../../../kernel/vscode/ids.ts';
import type { ShownBuild } from '../../../../../kernel/vscode/workspace/session.ts';
import { revealFile } from '../../../../../kernel/vscode/platform/revealFile.ts';
import { openTextAt } from '../../../../../kernel/vscode/workspace/openLogLine.ts';
import { showError, showInformation, showWarning } from '../../../../../kernel/vscode/platform/messages.ts';
import { fileUri } from '../../../../../kernel/vscode/platform/fileUri.ts';

/** Tells the user how a build ended, in one sentence, and offers what to do next. A cancelled build needs no message. */
export async function tellOutcome(
  uri: vscode.Uri,
  build: Build,
  cause: NamedDiagnosis | undefined,
  { precision, report }: Pick<ShownBuild, 'precision' | 'report'>,
): Promise<void> {
  const { manifest } = build;
  const name = basename(uri.fsPath);
  if (manifest.result === 'cancelled') return;
  if (manifest.result === 'passed') {
    const engine = await engineOf(build);
    const size = engine === null ? '' : `, engine ${sizeText(engine.bytes)}`;
    const became = report === null ? '' : becameText(report);
    const time = timeText((manifest.seconds ?? 0) * 1000);
    const built = `Built ${name} in ${time}${became && `: ${became}`}${size}.`;
    const text = precision ? `${built} ${precisionSentence(precision)}` : built;
    // A request without effect is nothing to be happy about.
    const tell = precision?.realised === 0 ? showWarning : showInformation;
    const answer = await tell(text, ...successOffers(uri, engine?.path ?? null));
    await answer?.act();
    return;
  }
  const reason = failureReason(manifest) ?? 'see the log for the reason';
  const text = `Could not build ${name}: ${reason}`;
  const answer = await showError(text, ...offersFor(uri, build, cause));
  await answer?.act();
}

/** Where a build's engine is, and its size; null: it has none. */
async function engineOf({ folder, manifest }: Build): Promise<{ path: string; bytes: number } | null> {
  const { engine } = manifest.files;
  if (engine === null) return null;
  const path = resolve(folder, engine);
  const bytes = await stat(path).then(
    ({ size }) => size,
    () => null,
  );
  return bytes === null ? null : { path, bytes };
}

function successOffers(uri: vscode.Uri, engine: string | null): Offer[] {
  const { executeCommand } = vscode.commands;
  const graph: Offer = { title: 'Show Graph', act: () => executeCommand(commands.openGraph, uri) };
  const page: Offer = { title: 'Open Fusion Page', act: () => executeCommand(commands.openFusionPage, uri) };
  if (engine === null) return [graph, page];
  return [graph, page, { title: 'Reveal Engine', act: () => revealFile(engine) }];
}

/** A message has room for so many buttons; the graph's banner has all of them. */
const mostOffers = 3;

type Offer = vscode.MessageItem & { act: () => Thenable<unknown> };

/** What may help after a build that failed, the most likely first. */
function offersFor(uri: vscode.Uri, { folder, manifest }: Build, cause: NamedDiagnosis | undefined): Offer[] {
  const { log } = manifest.files;
  const openLog = async () => {
    if (log !== null) await openTextAt(fileUri(join(folder, log)), cause?.line ?? Number.MAX_SAFE_INTEGER);
  };
  const offers = stepsAfter(manifest, cause).map((step): Offer => ({
    title: stepWords[step],
    act: () => takeStep(step, { uri, manifest, openLog, nodes: cause?.nodes ?? [] }),
  }));
  const show: Offer = {
    title: 'Show in Graph',
    act: () => vscode.commands.executeCommand(commands.openGraph, uri),
  };
  return ((cause?.nodes.length ?? 0) > 0 ? [show, ...offers] : offers).slice(0, mostOffers);
}
