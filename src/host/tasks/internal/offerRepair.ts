import * as vscode from 'vscode';
import { faultsOfBuild } from '../../../builder/run/faultsOfBuild.ts';
import { stepWords } from '../../../core/diagnose/diagnosis.ts';
import { toolsOf } from '../../builds/toolsOf.ts';
import type { TaskOptions } from '../../builds/taskProperties.ts';
import { commands } from '../../ids.ts';
import { showWarning } from '../../platform/messages.ts';
import type { BuildParts } from '../startBuild.ts';

/**
 * Whether to build a model as it is. Where the TensorRT that would build it is known to compute it wrong, the user is
 * asked, and may repair it first.
 */
export async function buildsAsIs(
  { context }: Pick<BuildParts, 'context'>,
  uri: vscode.Uri,
  options: Partial<TaskOptions>,
): Promise<boolean> {
  const wrong = await faultsFor(context, uri, options);
  if (wrong.length === 0) return true;
  const anyway = 'Build Anyway';
  const repair = wrong.some((one) => one.repair !== undefined) ? [stepWords.repair] : [];
  const detail = wrong.map(({ message, advice }) => `${message} ${advice}`).join('\n\n');
  const answer = await showWarning('The engine will give wrong values.', { modal: true, detail }, ...repair, anyway);
  if (answer === stepWords.repair) void vscode.commands.executeCommand(commands.repairModel, uri);
  return answer === anyway;
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
