import * as vscode from 'vscode';
import { isOnDisk, mayBuild, startBuild } from '../tasks/startBuild.ts';
import type { BuildParts } from '../tasks/startBuild.ts';
import { commandTarget, savedDocument } from '../language/commandTarget.ts';
import type { FactsFeed } from '../language/factsFeed.ts';
import { nameOf } from '../platform/nameOf.ts';
import { plainText } from '../platform/plainText.ts';
import { mayRun, tellUntrusted } from '../platform/trust.ts';

/** Builds a model with an override file: as a typed copy of the model, or as flags where TensorRT has them. */
export async function buildWithOverrides(
  parts: Pick<BuildParts, 'sessions' | 'builds' | 'tasks'>,
  feed: FactsFeed,
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
    await vscode.window.showErrorMessage(
      plainText(problem || 'This file has no model. Add a line such as "model ./model.onnx".'),
    );
    return;
  }
  if (!(await isOnDisk(target.uri)) || !(await mayBuild(parts, model))) return;
  await startBuild(parts, model, { overrides: target.uri.fsPath }, nameOf(target.uri));
}
