import * as vscode from 'vscode';
import type { Builds } from '../builds/builds.ts';
import { showWarning } from '../platform/messages.ts';
import { mayRun, tellUntrusted } from '../platform/trust.ts';
import type { RememberedOptions } from '../builds/rememberedOptions.ts';
import type { Sessions } from './sessions.ts';
import { isFileUri } from '../platform/fileUri.ts';

/** What starting a build needs of the extension. */
export interface BuildParts {
  context: vscode.ExtensionContext;
  sessions: Sessions;
  builds: Builds;
  /** Makes the task that builds a model. */
  tasks: vscode.TaskProvider & { taskFor(uri: vscode.Uri, more?: Record<string, unknown>): vscode.Task };
  remembered: RememberedOptions;
}

/** Whether a model can be built now; if not, the user is told why and what to do. */
export async function mayBuild({ builds }: Pick<BuildParts, 'builds'>, uri: vscode.Uri): Promise<boolean> {
  if (!mayRun()) {
    await tellUntrusted();
    return false;
  }
  if (!(await isOnDisk(uri))) return false;
  if (builds.runningOf(uri) === undefined) return true;
  // Two builds of one model would share its GPU's times, caches and engine.
  const cancel = 'Cancel Build';
  const text = `A build of ${uri.fsPath} is already running. Wait for it to finish, or cancel it.`;
  if ((await showWarning(text, cancel)) === cancel) builds.cancel(uri);
  return false;
}

/** Whether a file is where a build can read it; if not, the user is told. */
export async function isOnDisk(uri: vscode.Uri): Promise<boolean> {
  if (isFileUri(uri)) return true;
  await showWarning(
    `TensorRT cannot read ${uri.path}, because it is not on this computer’s disk. Copy it there first.`,
  );
  return false;
}

/** Builds a model as a task, so that it has a terminal and can be found and ended like any other. */
export async function startBuild(
  { sessions, tasks }: Pick<BuildParts, 'sessions' | 'tasks'>,
  uri: vscode.Uri,
  more: Record<string, unknown> = {},
): Promise<vscode.TaskExecution> {
  sessions.setCurrent(uri);
  return vscode.tasks.executeTask(tasks.taskFor(uri, more));
}
