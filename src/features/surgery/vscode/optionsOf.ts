import type * as vscode from 'vscode';
import type { BuildOptions } from '../../../kernel/node/run/runBuild.ts';
import { UserError } from '../../../kernel/node/files/userError.ts';
import type { BuildManifest } from '../../../kernel/build/buildManifest.ts';
import { toolsOf } from '../../../kernel/vscode/builds/toolsOf.ts';
import { rerunOptions } from '../../build/vscode/history/rerunOptions.ts';
import { taskType } from '../../../kernel/vscode/ids.ts';
import { readSettings } from '../../../kernel/vscode/platform/settings.ts';
import { toEngineOptions } from '../../../kernel/vscode/builds/taskDefinition.ts';

/** The options with which a model was built last, and the tools of the settings. */
export function optionsOf(
  context: vscode.ExtensionContext,
  model: vscode.Uri,
  manifest: BuildManifest | null,
): BuildOptions {
  const again = manifest ? rerunOptions(manifest, readSettings(model).launchers) : {};
  const options = toEngineOptions({ ...again, type: taskType, model: model.fsPath }, undefined);
  if (typeof options === 'string') throw new UserError(options);
  const { launcher: _, engine: __, ...rest } = options;
  const { tools, backend } = toolsOf(context, model, options);
  return { ...rest, ...tools, backend, model: model.fsPath };
}
