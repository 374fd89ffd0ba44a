import type { SurgeryParts } from './chosenNodes.ts';
import * as vscode from 'vscode';
import { reduceModel } from '../../node/reduceModel.ts';
import type { BuildManifest } from '../../../../kernel/build/buildManifest.ts';
import { counted, thousands } from '../../../../kernel/base/text.ts';
import { graphViewType } from '../../../../kernel/vscode/ids.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { showInformation } from '../../../../kernel/vscode/platform/messages.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import { optionsOf } from '../../../../kernel/vscode/builds/optionsOf.ts';
import { fileUri } from '../../../../kernel/vscode/platform/fileUri.ts';

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
