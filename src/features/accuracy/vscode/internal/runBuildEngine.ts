import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { runEngine } from '../../node/runEngine.ts';
import type { Build } from '../../../../kernel/node/store/buildFolder.ts';
import { counted, timeText } from '../../../../kernel/base/text.ts';
import { toolsOf } from '../../../../kernel/vscode/builds/toolsOf.ts';
import { showInformation } from '../../../../kernel/vscode/platform/messages.ts';
import { revealFile } from '../../../../kernel/vscode/platform/revealFile.ts';
import { mayRun, tellUntrusted } from '../../../../kernel/vscode/platform/trust.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import { askForInputs } from '../../../../kernel/vscode/workspace/askForInputs.ts';
import { fileUri } from '../../../../kernel/vscode/platform/fileUri.ts';

/**
 * Runs the engine of a build where a GPU is, here or through the launcher of the settings, and keeps its outputs in the
 * build's folder, where `trtlens diff` finds them. Tells the user how it ended.
 */
export async function runBuildEngine(
  context: vscode.ExtensionContext,
  build: Build,
  log: vscode.LogOutputChannel,
): Promise<void> {
  if (!mayRun()) return tellUntrusted();
  const model = fileUri(build.manifest.model.file);
  const inputs = await askForInputs(model, context.workspaceState, { random: false, search: false });
  if (inputs === undefined) return;
  const out = join(build.folder, 'outputs.npz');
  const run = await withProgress('Running the engine', log, async (signal) => {
    const { tools } = toolsOf(context, model, {});
    const { python, launcher, driver } = tools;
    const scripts = dirname(driver);
    const output = (line: string) => log.info(line);
    return runEngine({ build, inputs, out, scripts, python, launcher, signal, output });
  });
  if (run === undefined) return;
  const time = run.milliseconds === null ? '' : `, ${timeText(run.milliseconds)} a run`;
  const reveal = 'Reveal Outputs';
  const answer = await showInformation(
    `${run.gpu}: ${counted(run.outputs.length, 'output')} kept in outputs.npz${time}.`,
    reveal,
  );
  if (answer === reveal) await revealFile(out);
}
