import { basename } from 'node:path';
import * as vscode from 'vscode';
import { readReplay } from '../../core/replay/readReplay.ts';
import { commandTarget, savedDocument } from '../language/commandTarget.ts';
import type { FactsFeed } from '../language/factsFeed.ts';
import { mayRun, tellUntrusted } from '../platform/trust.ts';
import type { BuildTaskProvider } from '../tasks/buildTaskProvider.ts';
import type { Sessions } from '../workspace/sessions.ts';
import { pickModel } from '../commands/pickModel.ts';
import { plainText } from '../platform/plainText.ts';
import { buildOfReplay, optionsOfRecording, precisionOf } from './replayBuild.ts';

/** Builds a replay's model by Polygraphy with the tactics of the replay, under the options of its recording. */
export async function buildWithReplay(
  sessions: Sessions,
  feed: FactsFeed,
  tasks: BuildTaskProvider,
  argument: unknown,
): Promise<void> {
  if (!mayRun()) return tellUntrusted();
  const target = commandTarget(argument);
  if (target === undefined) return;
  const document = await savedDocument(target.uri);
  const { value } = readReplay(document?.getText() ?? '');
  if (document === undefined || value === undefined) {
    if (document)
      await vscode.window.showErrorMessage(plainText(vscode.l10n.t('{0} is no tactic replay.', target.uri.path)));
    return;
  }
  const facts = await feed.settled(target.uri);
  const model = (await feed.modelOf(target.uri)) ?? (await pickModel(undefined, sessions));
  if (model === undefined) return;
  if (model.scheme !== 'file' || target.uri.scheme !== 'file') {
    await vscode.window.showWarningMessage(vscode.l10n.t('Builds are kept for models on this computer’s disk only.'));
    return;
  }
  const path = target.uri.fsPath;
  const usedBy = (flag: '--save-tactics' | '--load-tactics') => buildOfReplay(facts?.builds ?? [], flag, target.uri);
  const earlier = usedBy('--save-tactics') ?? usedBy('--load-tactics');
  const options = earlier ? optionsOfRecording(earlier.manifest) : { precision: precisionOf(value) };
  sessions.setCurrent(model);
  const more = { ...options, backend: 'polygraphy', extraArguments: ['--load-tactics', path] } as const;
  await vscode.tasks.executeTask(tasks.taskFor(model, more, basename(path)));
}
