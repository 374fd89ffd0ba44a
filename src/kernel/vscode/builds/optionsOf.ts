import type * as vscode from 'vscode';
import type { BuildOptions } from '../../node/run/runBuild.ts';
import { UserError } from '../../node/files/userError.ts';
import type { BuildManifest } from '../../build/buildManifest.ts';
import { toolsOf } from './toolsOf.ts';
import { rerunOptions } from './rerunOptions.ts';
import { taskType } from '../ids.ts';
import { readSettings } from '../platform/settings.ts';
import { toEngineOptions } from './taskDefinition.ts';

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
