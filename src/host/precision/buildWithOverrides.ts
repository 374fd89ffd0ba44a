import { basename } from 'node:path';
import * as vscode from 'vscode';
import { commandTarget, savedDocument } from '../language/commandTarget.ts';
import type { FactsFeed } from '../language/factsFeed.ts';
import { plainText } from '../platform/plainText.ts';
import { mayRun, tellUntrusted } from '../platform/trust.ts';
import type { BuildTaskProvider } from '../tasks/buildTaskProvider.ts';
import type { Sessions } from '../workspace/sessions.ts';

/** Builds a model with an override file: as a typed copy of the model, or as flags where TensorRT has them. */
export async function buildWithOverrides(
  sessions: Sessions,
  feed: FactsFeed,
  tasks: BuildTaskProvider,
  argument: unknown,
): Promise<void> {
  if (!mayRun()) return tellUntrusted();
  const target = commandTarget(argument);
  if (target === undefined) return;
  const document = await savedDocument(target.uri);
  if (document === undefined) return;
  const model = await feed.modelOf(target.uri);
  if (model === undefined) {
    const problem = feed.paramsOf(target.uri)?.modelProblem;
    await vscode.window.showErrorMessage(plainText(problem || vscode.l10n.t('No model is known for this file.')));
    return;
  }
  if (model.scheme !== 'file' || target.uri.scheme !== 'file') {
    await vscode.window.showWarningMessage(
      plainText(
        vscode.l10n.t(
          '{0} is not on this computer’s disk, where TensorRT could read it. Copy it there first.',
          model.path,
        ),
      ),
    );
    return;
  }
  sessions.setCurrent(model);
  await vscode.tasks.executeTask(tasks.taskFor(model, { overrides: target.uri.fsPath }, basename(target.uri.fsPath)));
}
