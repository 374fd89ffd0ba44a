import { join } from 'node:path';
import * as vscode from 'vscode';
import { openTextAt } from '../workspace/openLogLine.ts';
import { commandTarget } from './commandTarget.ts';
import type { FactsFeed } from './factsFeed.ts';

/** Opens the log of the newest build of a document's model, whether it passed or not, at a line counted from 1. */
export async function openNewestLog(feed: FactsFeed, argument: unknown): Promise<void> {
  const target = commandTarget(argument);
  if (target === undefined) return;
  const newest = (await feed.settled(target.uri))?.newest;
  if (newest == null || newest.manifest.files.log === null) {
    await vscode.window.showInformationMessage(vscode.l10n.t('No build of this model has left a log.'));
    return;
  }
  await openTextAt(vscode.Uri.file(join(newest.folder, newest.manifest.files.log)), target.arguments.line ?? 1);
}
