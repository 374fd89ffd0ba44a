import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { planBuild, runByHand } from '../../../../../kernel/node/run/buildPlan.ts';
import { quoteCommand } from '../../../../../kernel/base/text.ts';
import { toolsOf } from '../../../../../kernel/vscode/builds/toolsOf.ts';
import { showError, showInformation, showWarning } from '../../../../../kernel/vscode/platform/messages.ts';
import { mayRun, tellUntrusted } from '../../../../../kernel/vscode/platform/trust.ts';
import type { TaskOptions } from '../../../../../kernel/vscode/builds/taskProperties.ts';
import type { BuildParts } from '../../../../../kernel/vscode/workspace/startBuild.ts';
import { errorText } from '../../../../../kernel/base/problem.ts';
import { shell } from '../../../../../kernel/node/tools/shell.ts';

/** Copies the command that would build a model, with its engine and what the views need next to the model. */
export async function copyBuildCommand(
  { context }: Pick<BuildParts, 'context'>,
  uri: vscode.Uri,
  options: Partial<TaskOptions>,
): Promise<void> {
  // What can be built with is asked by running it.
  if (!mayRun()) return tellUntrusted();
  const model = uri.fsPath;
  const wanted = { ...options, model };
  try {
    const { tools, backend } = toolsOf(context, uri, options);
    if (tools.launcher !== undefined) {
      await showInformation(
        'With a launcher, paths differ on the other machine. Build once, then copy the command from the history.',
      );
      return;
    }
    const plan = await planBuild({ ...wanted, backend }, tools);
    const nextToModel = (name: string) => join(dirname(model), name);
    const { args, notes } = plan.command(wanted, {
      engine: options.engine ?? model.replace(/(\.onnx)?(\.gz)?$/i, '.engine'),
      layers: nextToModel('layers.json'),
      profile: nextToModel('profile.json'),
      times: nextToModel('times.json'),
      precisions: nextToModel('precisions.json'),
    });
    const command = runByHand([plan.program, ...args]);
    await vscode.env.clipboard.writeText(quoteCommand(command, shell));
    const said = notes.map(({ message }) => message);
    if (said.length === 0) vscode.window.setStatusBarMessage('Command copied', 3000);
    else await showWarning(['Command copied.', ...said].join(' '));
  } catch (error) {
    await showError(errorText(error));
  }
}
