import { typeSignature } from '../../../core/tactics/replayFile.ts';
import { freeLayers, titleOf } from '../../../core/tactics/readChoices.ts';
import { addEntry } from '../../../core/tactics/editReplay.ts';
import { commandTarget } from '../../language/commandTarget.ts';
import type { FactsFeed } from '../../language/factsFeed.ts';
import { pickItem } from '../../platform/askUser.ts';
import { applySpans } from './applySpans.ts';
import { openReplay, type OpenReplay } from './openReplay.ts';
import { showInformation, showWarning } from '../../platform/messages.ts';

/** Adds an entry for a layer that the replay leaves free: as it was chosen, or the fastest that TensorRT offered. */
export async function pinLayer(feed: FactsFeed, argument: unknown): Promise<void> {
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
