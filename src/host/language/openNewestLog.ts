import { join } from 'node:path';
import * as vscode from 'vscode';
import { openTextAt } from '../workspace/openLogLine.ts';
import { commandTarget } from './commandTarget.ts';
import type { FactsFeed } from './factsFeed.ts';

/** Opens the log of the newest build of a document's model, or of the newest that passed, at a line counted from 1. */
export async function openNewestLog(feed: FactsFeed, argument: unknown): Promise<void> {
  const target = commandTarget(argument);
  if (target === undefined) return;
  const facts = await feed.settled(target.uri);
  const build = target.arguments.passed
    ? facts?.builds.find(({ manifest }) => manifest.result === 'passed')
    : facts?.newest;
  if (build == null || build.manifest.files.log === null) {
    await vscode.window.showInformationMessage('No build of this model has a log.');
    return;
  }
  await openTextAt(vscode.Uri.file(join(build.folder, build.manifest.files.log)), target.arguments.line ?? 1);
}
