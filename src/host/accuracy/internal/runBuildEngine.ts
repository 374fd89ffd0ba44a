import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { runEngine } from '../../../builder/accuracy/runEngine.ts';
import type { Build } from '../../../builder/store/buildFolder.ts';
import { counted, timeText } from '../../../core/base/text.ts';
import { toolsOf } from '../../builds/toolsOf.ts';
import { showInformation } from '../../platform/messages.ts';
import { revealFile } from '../../platform/revealFile.ts';
import { mayRun, tellUntrusted } from '../../platform/trust.ts';
import { withProgress } from '../../platform/withProgress.ts';
import { askForInputs } from '../askForInputs.ts';
import { fileUri } from '../../platform/fileUri.ts';

/**
 * Runs the engine of a build where a GPU is, here or through the launcher of the settings, and keeps its outputs in the
 * build's folder, where `trtlens compare` finds them. Tells the user how it ended.
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
