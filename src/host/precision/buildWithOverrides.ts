import * as vscode from 'vscode';
import { isOnDisk, mayBuild, startBuild } from '../tasks/startBuild.ts';
import type { BuildParts } from '../tasks/startBuild.ts';
import { documentToBuildWith } from '../language/commandTarget.ts';
import type { FactsFeed } from '../language/factsFeed.ts';
import { plainText } from '../platform/plainText.ts';

/** Builds a model with an override file: as a typed copy of the model, or as flags where TensorRT has them. */
export async function buildWithOverrides(
  parts: Pick<BuildParts, 'sessions' | 'builds' | 'tasks'>,
  feed: FactsFeed,
  argument: unknown,
): Promise<void> {
  const document = await documentToBuildWith(argument);
  if (document === undefined) return;
  const { uri } = document;
  const model = await feed.modelOf(uri);
  if (model === undefined) {
    const problem = feed.paramsOf(uri)?.modelProblem;
    await vscode.window.showErrorMessage(
      plainText(problem || 'This file has no model. Add a line such as "model ./model.onnx".'),
    );
    return;
  }
  if (!(await isOnDisk(uri)) || !(await mayBuild(parts, model))) return;
  await startBuild(parts, model, { overrides: uri.fsPath });
}
