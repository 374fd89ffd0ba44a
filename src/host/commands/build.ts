import * as vscode from 'vscode';
import { mayRun, tellUntrusted } from '../platform/trust.ts';
import type { BuildTaskProvider } from '../tasks/buildTaskProvider.ts';
import type { Sessions } from '../workspace/sessions.ts';
import { pickModel } from './pickModel.ts';

/** Builds a model's engine as a task, so that it has a terminal and can be found and ended like any other. `more` comes from
 * the offer after a build that lacked its weights. */
export async function build(
  sessions: Sessions,
  tasks: BuildTaskProvider,
  argument: unknown,
  more?: unknown,
): Promise<void> {
  if (!mayRun()) {
    await tellUntrusted();
    return;
  }
  const uri = await pickModel(argument, sessions);
  if (uri === undefined) return;
  if (uri.scheme !== 'file') {
    await vscode.window.showWarningMessage(
      vscode.l10n.t('{0} is not on this computer’s disk, where TensorRT could read it. Copy it there first.', uri.path),
    );
    return;
  }
  sessions.setCurrent(uri);
  const randomWeights =
    typeof more === 'object' && more !== null && 'randomWeights' in more && more.randomWeights === true;
  await vscode.tasks.executeTask(tasks.taskFor(uri, randomWeights ? { randomWeights } : {}));
}
