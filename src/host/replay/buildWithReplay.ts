import * as vscode from 'vscode';
import { readReplay } from '../../core/replay/readReplay.ts';
import { pickModel } from '../workspace/pickModel.ts';
import { isOnDisk, mayBuild, startBuild } from '../tasks/startBuild.ts';
import type { BuildParts } from '../tasks/startBuild.ts';
import { commandTarget, savedDocument } from '../language/commandTarget.ts';
import type { FactsFeed } from '../language/factsFeed.ts';
import { nameOf } from '../platform/nameOf.ts';
import { plainText } from '../platform/plainText.ts';
import { mayRun, tellUntrusted } from '../platform/trust.ts';
import { buildOfReplay, optionsOfRecording, precisionOf } from '../language/replayBuild.ts';

/** Builds a replay's model by Polygraphy with the tactics of the replay, under the options of its recording. */
export async function buildWithReplay(
  parts: Pick<BuildParts, 'sessions' | 'builds' | 'tasks'>,
  feed: FactsFeed,
  argument: unknown,
): Promise<void> {
  if (!mayRun()) return tellUntrusted();
  const target = commandTarget(argument);
  if (target === undefined) return;
  const document = await savedDocument(target.uri);
  if (document === undefined) return;
  const { value } = readReplay(document.getText());
  if (value === undefined) {
    await vscode.window.showErrorMessage(plainText(`${target.uri.path} is not a tactic replay.`));
    return;
  }
  const facts = await feed.settled(target.uri);
  const model = (await feed.modelOf(target.uri)) ?? (await pickModel(undefined, parts.sessions));
  if (model === undefined || !(await isOnDisk(target.uri)) || !(await mayBuild(parts, model))) return;
  const usedBy = (flag: '--save-tactics' | '--load-tactics') => buildOfReplay(facts?.builds ?? [], flag, target.uri);
  const earlier = usedBy('--save-tactics') ?? usedBy('--load-tactics');
  const options = earlier ? optionsOfRecording(earlier.manifest) : { precision: precisionOf(value) };
  const more = { ...options, backend: 'polygraphy', extraArguments: ['--load-tactics', target.uri.fsPath] };
  await startBuild(parts, model, more, nameOf(target.uri));
}
