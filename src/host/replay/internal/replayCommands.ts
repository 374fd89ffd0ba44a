import { removeEntry, addEntry } from '../../../core/tactics/editReplay.ts';
import { type ReplayEntry, type SpanEdit, typeSignature } from '../../../core/tactics/replayFile.ts';
import { commands } from '../../ids.ts';
import { commandTarget, editorOf, documentToBuildWith } from '../../language/commandTarget.ts';
import type { LanguageFeatures } from '../../language/languageFeatures.ts';
import { pickWord, pickItem } from '../../platform/askUser.ts';
import type { CommandHandlers } from '../../platform/registerCommands.ts';
import { type BuildParts, isOnDisk, mayBuild, startBuild } from '../../tasks/startBuild.ts';
import { applySpans } from './applySpans.ts';
import { compareReplays } from './compareReplays.ts';
import { openReplay, type OpenReplay } from './openReplay.ts';
import { recordReplay } from './recordReplay.ts';
import * as vscode from 'vscode';
import { readReplay } from '../../../core/tactics/readReplay.ts';
import { pickFile } from '../../workspace/pickFile.ts';
import type { FactsFeed } from '../../language/factsFeed.ts';
import { showError, showInformation, showWarning } from '../../platform/messages.ts';
import { buildOfReplay, optionsOfRecording, precisionOf } from '../../language/replayBuild.ts';
import { freeLayers, titleOf } from '../../../core/tactics/readChoices.ts';

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

/** Adds an entry for a layer that the replay leaves free: as it was chosen, or the fastest that TensorRT offered. */
async function pinLayer(feed: FactsFeed, argument: unknown): Promise<void> {
  const target = commandTarget(argument);
  if (target === undefined) return;
  await feed.settled(target.uri);
  const replay = await openReplay(target.uri);
  if (replay === undefined) return;
  const records = (feed.paramsOf(target.uri)?.choices ?? []).map(({ source, offered, chosen }) => ({
    source,
    offered: new Map(offered),
    chosen: new Map(chosen),
  }));
  const items = freeLayers(replay.file.entries, records).map((free) => ({
    label: free.layer,
    description: typeSignature(free.algorithm),
    detail: free.offered === null ? 'the choice of TensorRT' : titleOf(free.offered),
    free,
  }));
  if (items.length === 0) {
    await showInformation('No other layers to pin. Record choices, or build with a verbose log.');
    return;
  }
  const placeHolder = 'Select a layer to pin';
  const picked = await pickItem(items, { placeHolder, matchOnDescription: true });
  if (picked === undefined) return;
  const now = await openReplay(target.uri);
  const { layer, algorithm } = picked.free;
  const isThere = ({ file }: OpenReplay) => file.entries.some((entry) => entry.layer === layer);
  if (now !== undefined && isThere(now)) return;
  const edits = ({ text, file }: OpenReplay) => addEntry(text, file, layer, algorithm) ?? undefined;
  if (now !== undefined && edits(now) !== undefined)
    await applySpans(now.document, (then) => (isThere(then) ? undefined : edits(then)));
  else await showWarning('This choice cannot be written in the format of this file. Record the replay again.');
}
