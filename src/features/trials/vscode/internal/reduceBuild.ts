import type { SurgeryParts } from './chosenNodes.ts';
import * as vscode from 'vscode';
import { reduceModel } from '../../node/reduceModel.ts';
import type { BuildOptions } from '../../../../kernel/node/run/runBuild.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import type { BuildManifest } from '../../../../kernel/build/buildManifest.ts';
import { counted, thousands } from '../../../../kernel/base/text.ts';
import { toolsOf } from '../../../../kernel/vscode/builds/toolsOf.ts';
import { rerunOptions } from '../../../../kernel/vscode/builds/rerunOptions.ts';
import { graphViewType, taskType } from '../../../../kernel/vscode/ids.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { showInformation } from '../../../../kernel/vscode/platform/messages.ts';
import { readSettings } from '../../../../kernel/vscode/platform/settings.ts';
import { toEngineOptions } from '../../../../kernel/vscode/builds/taskDefinition.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import { fileUri } from '../../../../kernel/vscode/platform/fileUri.ts';

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

/** Finds the smallest part of a model that fails as its last build did, and shows it. */
export async function reduceBuild(
  { context, log }: SurgeryParts,
  model: vscode.Uri,
  manifest: BuildManifest | null,
  folder: string,
): Promise<unknown> {
  const steps: string[] = [];
  const found = await withProgress(`Reducing ${nameOf(model)}`, log, (signal, say) =>
    reduceModel(
      { options: optionsOf(context, model, manifest), out: folder },
      (nodes) => {
        steps.push(thousands(nodes));
        say(`${steps.join(' → ')} nodes`);
      },
      signal,
    ),
  );
  if (found === undefined) return undefined;
  await vscode.commands.executeCommand(
    'vscode.openWith',
    fileUri(found.model),
    graphViewType,
    vscode.ViewColumn.Beside,
  );
  const text = `${steps.join(' → ')} nodes in ${counted(found.builds, 'build')}. The model, its log and the command are in ${folder}.`;
  void showInformation(text);
  return found;
}
