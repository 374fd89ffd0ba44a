import * as vscode from 'vscode';
import { faultsOfBuild } from '../../../../../kernel/node/run/faultsOfBuild.ts';
import { counted } from '../../../../../kernel/base/text.ts';
import { stepWords } from '../../../../../kernel/build/diagnosis.ts';
import { toolsOf } from '../../../../../kernel/vscode/builds/toolsOf.ts';
import type { TaskOptions } from '../../../../../kernel/vscode/builds/taskProperties.ts';
import { commands } from '../../../../../kernel/vscode/ids.ts';
import { showWarning } from '../../../../../kernel/vscode/platform/messages.ts';
import type { BuildParts } from '../../../../../kernel/vscode/workspace/startBuild.ts';

/**
 * Says where the TensorRT that builds a model is known to compute it wrong, and offers to repair it. The build goes on: its
 * engine may still be of use, and its page says the same.
 */
export async function warnOfFaults(
  { context }: Pick<BuildParts, 'context'>,
  uri: vscode.Uri,
  options: Partial<TaskOptions>,
): Promise<void> {
  const [wrong, ...others] = await faultsFor(context, uri, options);
  if (wrong === undefined) return;
  const isRepaired = [wrong, ...others].some(({ repair }) => repair !== undefined);
  const more = others.length === 0 ? '' : ` ${counted(others.length, 'other known fault')} concern this model, too.`;
  const text = `The engine will give wrong values: ${wrong.message} ${wrong.advice}${more}`;
  const answer = await showWarning(text, ...(isRepaired ? [stepWords.repair] : []));
  if (answer === stepWords.repair) await vscode.commands.executeCommand(commands.repairModel, uri);
}

async function faultsFor(context: vscode.ExtensionContext, uri: vscode.Uri, options: Partial<TaskOptions>) {
  try {
    const { tools, backend } = toolsOf(context, uri, options);
    return await faultsOfBuild({ model: uri.fsPath, backend }, tools);
  } catch {
    // A launcher that is not there: the build itself says so.
    return [];
  }
}
