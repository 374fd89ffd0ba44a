import { join } from 'node:path';
import * as vscode from 'vscode';
import { calibrate } from '../../node/calibrate.ts';
import { askForInputs } from '../../../../kernel/vscode/workspace/askForInputs.ts';
import { openGraph } from '../../../../kernel/vscode/graph/graphEditorProvider.ts';
import { commands } from '../../../../kernel/vscode/ids.ts';
import { isPaths } from '../../../../kernel/vscode/platform/isPaths.ts';
import { modelToWrite } from '../../../../kernel/vscode/platform/modelToWrite.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { showInformation } from '../../../../kernel/vscode/platform/messages.ts';
import { calibratorOf } from '../../../../kernel/vscode/platform/downloadConsent.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';

/**
 * Writes an INT8 model with Q/DQ nodes whose scales are from samples, through the tool that is installed, as a new file.
 * `given` is from tests and other callers; what it lacks, the user is asked for.
 */
export async function calibrateModel(
  context: vscode.ExtensionContext,
  model: vscode.Uri,
  log: vscode.LogOutputChannel,
  given: { inputs: unknown; target: unknown },
): Promise<void> {
  // Before the first question: who answers three of them does not want to hear then that a tool is missing.
  const calibrator = await calibratorOf(context, model, log);
  if (calibrator === undefined) return;
  const samples = isPaths(given.inputs) && given.inputs.length > 0 ? given.inputs : undefined;
  const inputs = samples ?? (await askForInputs(model, context.workspaceState, { random: false, search: false }));
  if (inputs === undefined) return;
  const out = await modelToWrite(given.target, model, {
    title: 'Write Calibrated Model',
    ending: '.int8.onnx',
    label: 'Write',
  });
  if (out === undefined) return;
  const made = await withProgress(`Calibrating ${nameOf(model)}`, log, async (signal, say) => {
    say(calibrator.tool === 'modelopt' ? 'with ModelOpt' : "with ONNX Runtime's quantize_static");
    const script = join(context.asAbsolutePath('dist'), 'driver', 'quantize.py');
    const output = (line: string) => log.info(line);
    return calibrate({ model: model.fsPath, inputs, out: out.fsPath, calibrator, script, output, signal });
  });
  if (made === undefined) return;
  const [graph, page] = ['Open Graph', 'Show Quantization'];
  const answer = await showInformation(`Wrote ${nameOf(out)}, calibrated by ${made.by}.`, graph, page);
  if (answer === graph) await openGraph(out);
  if (answer === page) await vscode.commands.executeCommand(commands.openQuantizationPage, out);
}
