import * as vscode from 'vscode';
import { ParsedFiles } from '../../../builder/files/parsedFiles.ts';
import { backendCapabilityOf } from '../../../builder/run/buildPlan.ts';
import { hasFaultyForm, knownFaults } from '../../../core/diagnose/checkModel.ts';
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
  // What cannot be read or built with, the build itself says best. Programs are asked only about models that may be wrong.
  const read = await new ParsedFiles().model(uri.fsPath).catch(() => undefined);
  if (read === undefined || !hasFaultyForm(read.value)) return true;
  try {
    const { tools, backend } = toolsOf(context, uri, options);
    const { product, version } = await backendCapabilityOf({ model: uri.fsPath, backend }, tools);
    const faults = knownFaults(read.value, { product, version, capability: null });
    const wrong = faults.filter(({ severity }) => severity === 'error');
    if (wrong.length === 0) return true;
    const anyway = 'Build Anyway';
    const repair = wrong.some((one) => one.repair !== undefined) ? [stepWords.repair] : [];
    const detail = wrong.map(({ message, advice }) => `${message} ${advice}`).join('\n\n');
    const question = 'The engine will give wrong values.';
    const answer = await showWarning(question, { modal: true, detail }, ...repair, anyway);
    if (answer === stepWords.repair) void vscode.commands.executeCommand(commands.repairModel, uri);
    return answer === anyway;
  } catch {
    return true;
  }
}
