import { commands } from '../../../../kernel/vscode/ids.ts';
import { documentToBuildWith } from '../../../../kernel/vscode/language/commandTarget.ts';
import type { LanguageFeatures } from '../../../../kernel/vscode/language/languageFeatures.ts';
import type { CommandHandlers } from '../../../../kernel/vscode/platform/registerCommands.ts';
import { type BuildParts, isOnDisk, mayBuild, startBuild } from '../../../../kernel/vscode/workspace/startBuild.ts';
import * as vscode from 'vscode';
import { readReplay } from '../../../../kernel/read/replay/readReplay.ts';
import { pickFile } from '../../../../kernel/vscode/workspace/pickFile.ts';
import type { FactsFeed } from '../../../../kernel/vscode/language/factsFeed.ts';
import { showError } from '../../../../kernel/vscode/platform/messages.ts';
import { buildOfReplay, optionsOfRecording, precisionOf } from '../../../../kernel/vscode/language/replayBuild.ts';

/** What the commands for tactic replays do. */
export const replayCommands = (
  { feed, served }: LanguageFeatures,
  building: Pick<BuildParts, 'sessions' | 'builds' | 'tasks'>,
): CommandHandlers => ({
  [commands.buildWithReplay]: served((target) => buildWithReplay(building, feed, target)),
});

/** Builds a replay's model by Polygraphy with the tactics of the replay, under the options of its recording. */
async function buildWithReplay(
  parts: Pick<BuildParts, 'sessions' | 'builds' | 'tasks'>,
  feed: FactsFeed,
  argument: unknown,
): Promise<void> {
  const document = await documentToBuildWith(argument);
  if (document === undefined) return;
  const { uri } = document;
  const { value } = readReplay(document.getText());
  if (value === undefined) {
    await showError(`${uri.path} is not a tactic replay.`);
    return;
  }
  const facts = await feed.settled(uri);
  const model = (await feed.modelOf(uri)) ?? (await askForModel());
  if (model === undefined || !(await isOnDisk(uri)) || !(await mayBuild(parts, model))) return;
  const usedBy = (flag: '--save-tactics' | '--load-tactics') => buildOfReplay(facts?.builds ?? [], flag, uri);
  const earlier = usedBy('--save-tactics') ?? usedBy('--load-tactics');
  const options = earlier ? optionsOfRecording(earlier.manifest) : precisionOf(value);
  const more = { ...options, backend: 'polygraphy', extraArguments: ['--load-tactics', uri.fsPath] };
  await startBuild(parts, model, more);
}

/** The replay's layers fit no model of its folder, or several. */
const askForModel = (): Promise<vscode.Uri | undefined> =>
  pickFile({
    glob: '**/*.onnx',
    placeHolder: 'Select the model that this replay was recorded for',
    dialog: { filters: { ONNX: ['onnx'] }, openLabel: 'Build Model' },
  });
