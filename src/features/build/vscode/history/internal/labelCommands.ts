import type { Build } from '../../../../../kernel/node/store/buildFolder.ts';
import { nameBuild } from '../../../../../kernel/node/store/buildHistory.ts';
import { commands } from '../../../../../kernel/vscode/ids.ts';
import { enterText } from '../../../../../kernel/vscode/platform/askUser.ts';
import type { Sessions } from '../../../../../kernel/vscode/workspace/sessions.ts';
import type { HistoryTree } from '../historyTree.ts';
import { showWarning } from '../../../../../kernel/vscode/platform/messages.ts';
import { fileUri } from '../../../../../kernel/vscode/platform/fileUri.ts';

/** Longer names would push everything else out of a line. */
const longestName = 80;

/** Names builds. `one` finds the build that a menu is about. */
export function labelCommands(
  tree: HistoryTree,
  sessions: Sessions,
  one: (act: (build: Build) => unknown) => (argument: unknown) => unknown,
): Record<string, (...args: unknown[]) => unknown> {
  const label = async (build: Build, name: string) => {
    if ((await nameBuild(build.folder, name)) === undefined) await showWarning('This build was deleted.');
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
      if (name !== undefined) await label(build, name.trim());
    }),
  };
}
