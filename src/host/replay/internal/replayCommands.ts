import { removeEntry } from '../../../core/tactics/editReplay.ts';
import type { ReplayEntry, SpanEdit } from '../../../core/tactics/replayFile.ts';
import { commands } from '../../ids.ts';
import { commandTarget, editorOf } from '../../language/commandTarget.ts';
import type { LanguageFeatures } from '../../language/languageFeatures.ts';
import { pickWord } from '../../platform/askUser.ts';
import type { CommandHandlers } from '../../platform/registerCommands.ts';
import type { BuildParts } from '../../tasks/startBuild.ts';
import { applySpans } from './applySpans.ts';
import { buildWithReplay } from './buildWithReplay.ts';
import { compareReplays } from './compareReplays.ts';
import { openReplay, type OpenReplay } from './openReplay.ts';
import { pinLayer } from './pinLayer.ts';
import { recordReplay } from './recordReplay.ts';

/** Removes a layer's entry, so that TensorRT chooses for it: the one at the cursor, otherwise one that is picked. */
export async function unpinLayer(argument: unknown): Promise<void> {
  const target = commandTarget(argument);
  if (target === undefined) return;
  const replay = await openReplay(target.uri);
  if (replay === undefined) return;
  const { document, file } = replay;
  if (entryAtCursor(replay) !== undefined) {
    await applySpans(document, (now) => without(now, entryAtCursor(now)));
    return;
  }
  const layers = file.entries.map(({ layer }) => layer);
  const picked = await pickWord(layers, 'Select a layer to unpin');
  const now = picked === undefined ? undefined : await openReplay(target.uri);
  const picks = ({ layer }: ReplayEntry) => layer === picked;
  if (now?.file.entries.some(picks))
    await applySpans(now.document, (then) => without(then, then.file.entries.find(picks)));
}

function entryAtCursor({ document, file }: OpenReplay): ReplayEntry | undefined {
  const editor = editorOf(document.uri);
  const offset = editor === undefined ? -1 : document.offsetAt(editor.selection.active);
  return file.entries.find(({ span }) => span.start <= offset && offset <= span.end);
}

const without = ({ text, file }: OpenReplay, entry: ReplayEntry | undefined): SpanEdit[] | undefined =>
  entry && removeEntry(text, file, entry);

/** What the commands for tactic replays do. */
export const replayCommands = (
  { feed, served }: LanguageFeatures,
  building: Pick<BuildParts, 'sessions' | 'builds' | 'tasks'>,
): CommandHandlers => ({
  [commands.buildWithReplay]: served((target) => buildWithReplay(building, feed, target)),
  [commands.recordReplay]: (argument) => recordReplay(building, argument),
  [commands.pinLayer]: served((target) => pinLayer(feed, target)),
  [commands.unpinLayer]: (target) => unpinLayer(target),
  [commands.compareReplays]: compareReplays,
});
