import * as vscode from 'vscode';
import type { Builds } from '../builds/builds.ts';
import { plainText } from '../platform/plainText.ts';
import { mayRun, tellUntrusted } from '../platform/trust.ts';
import type { BuildTaskProvider } from '../tasks/buildTaskProvider.ts';
import type { Sessions } from '../workspace/sessions.ts';

/** What starting a build needs of the extension. */
export interface BuildParts {
  context: vscode.ExtensionContext;
  sessions: Sessions;
  builds: Builds;
  tasks: BuildTaskProvider;
}

/** Whether a model can be built now; if not, the person is told why and what to do. */
export async function mayBuild({ builds }: Pick<BuildParts, 'builds'>, uri: vscode.Uri): Promise<boolean> {
  if (!mayRun()) {
    await tellUntrusted();
    return false;
  }
  if (uri.scheme !== 'file') {
    await vscode.window.showWarningMessage(
      plainText(
        vscode.l10n.t(
          '{0} is not on this computer’s disk, where TensorRT could read it. Copy it there first.',
          uri.path,
        ),
      ),
    );
    return false;
  }
  if (builds.runningOf(uri) === undefined) return true;
  // Two builds of one model would share its GPU's times, caches and engine.
  const cancel = vscode.l10n.t('Cancel It');
  const text = vscode.l10n.t('A build of {0} is running already. Wait for it, or cancel it.', uri.fsPath);
  if ((await vscode.window.showWarningMessage(plainText(text), cancel)) === cancel) builds.cancel(uri);
  return false;
}

/** Builds a model as a task, so that it has a terminal and can be found and ended like any other. `more` is the rest of its definition. */
export async function startBuild(
  { sessions, tasks }: Pick<BuildParts, 'sessions' | 'tasks'>,
  uri: vscode.Uri,
  more: Record<string, unknown> = {},
): Promise<void> {
  sessions.setCurrent(uri);
  await vscode.tasks.executeTask(tasks.taskFor(uri, more));
}
