import * as vscode from 'vscode';
import type { Build } from '../../../builder/store/buildFolder.ts';
import { labelBuild, listBuilds } from '../../../builder/store/buildHistory.ts';
import { commands } from '../../ids.ts';
import { enterText } from '../../platform/askUser.ts';
import type { Sessions } from '../../workspace/sessions.ts';
import type { HistoryTree } from '../historyTree.ts';
import { showInformation, showWarning } from '../../platform/messages.ts';
import { fileUri, isFileUri } from '../../platform/fileUri.ts';

/** Longer names would push everything else out of a line. */
const longestName = 80;

/** Names and pins builds, and compares with the one that was pinned last. `one` finds the build that a menu is about. */
export function labelCommands(
  tree: HistoryTree,
  sessions: Sessions,
  one: (act: (build: Build) => unknown) => (argument: unknown) => unknown,
): Record<string, (...args: unknown[]) => unknown> {
  const label = async (build: Build, labels: { name?: string; pinned?: boolean }) => {
    if ((await labelBuild(build.folder, labels)) === undefined) await showWarning('This build was deleted.');
    await sessions.reloadBuild(fileUri(build.manifest.model.file));
    await tree.refresh();
  };
  return {
    [commands.nameBuild]: one(async (build) => {
      const name = await enterText({
        title: 'Name Build',
        prompt: 'A name for this build; leave it empty for none',
        value: build.manifest.name ?? '',
        validateInput: (text) =>
          text.trim().length > longestName ? `Enter at most ${longestName} characters` : undefined,
      });
      if (name !== undefined) await label(build, { name: name.trim() });
    }),
    [commands.pinBuild]: one((build) => label(build, { pinned: true })),
    [commands.unpinBuild]: one((build) => label(build, { pinned: false })),
    [commands.compareWithPinned]: (argument) => compareWithPinned(tree, sessions, argument),
  };
}

/** Compares a build of a menu, or the one that is shown, with the newest pinned one of its model. */
async function compareWithPinned(tree: HistoryTree, sessions: Sessions, argument: unknown): Promise<void> {
  const { current } = sessions;
  const own = (argument as { build?: Build | null } | undefined)?.build ?? tree.selected[0] ?? null;
  const model = own?.manifest.model.file ?? (current && isFileUri(current.uri) ? current.uri.fsPath : undefined);
  const builds = model === undefined ? [] : await listBuilds(model);
  const shown = own ?? builds.find(({ manifest }) => manifest.id === current?.state.newest?.build.id);
  const pinned = builds.find(({ manifest, folder }) => manifest.pinned === true && folder !== shown?.folder);
  if (shown === undefined || pinned === undefined) {
    await showInformation('There is no other pinned build of this model. Pin one in the history to compare with it.');
    return;
  }
  const items = [shown, pinned].map((build) => ({ context: 'build', build }));
  await vscode.commands.executeCommand(commands.compareBuilds, items[0], items);
}
