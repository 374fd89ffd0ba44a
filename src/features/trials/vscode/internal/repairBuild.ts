import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { repairModel } from '../../../repair/node/repairModel.ts';
import type { BuildManifest } from '../../../../kernel/build/buildManifest.ts';
import { type ProofVerdict, type RepairResult, repairText } from '../../../repair/repairResult.ts';
import type { Repair } from '../../../repair/planRepair.ts';
import { changedNodes } from '../../../../kernel/network/repairMap.ts';
import { counted } from '../../../../kernel/base/text.ts';
import type { Selection } from '../../../../kernel/protocol/views.ts';
import { openGraph } from '../../../../kernel/vscode/graph/graphEditorProvider.ts';
import { commands } from '../../../../kernel/vscode/ids.ts';
import { besideModel } from '../../../../kernel/vscode/platform/modelFile.ts';
import { modelToWrite } from '../../../../kernel/vscode/platform/modelToWrite.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { showInformation, showWarning } from '../../../../kernel/vscode/platform/messages.ts';
import { runtimeOf } from '../../../../kernel/vscode/platform/downloadConsent.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import { optionsOf } from '../../../../kernel/vscode/builds/optionsOf.ts';
import type { SurgeryParts } from './chosenNodes.ts';

/**
 * Repairs a model that does not build, with the options of its last build: what is not exact only after a yes. The
 * repaired model is written next to the model, shown with its graph, and built.
 */
export async function repairBuild(
  { context, log }: SurgeryParts,
  model: vscode.Uri,
  manifest: BuildManifest | null,
  target: unknown,
): Promise<RepairResult | undefined> {
  const out = await placeFor(model, target);
  if (out === undefined) return undefined;
  const result = await withProgress(`Repairing ${nameOf(model)}`, log, async (signal, say) => {
    const options = optionsOf(context, model, manifest);
    return repairModel(
      {
        options,
        out: out.fsPath,
        allow: new Set(),
        samples: [],
        runtime: () => runtimeOf(context, model, signal, say),
        script: join(dirname(options.driver), 'repair_model.py'),
      },
      { progress: say, ask: mayRepair },
      signal,
    );
  });
  if (result === undefined) return undefined;
  if (result.written === null) await report(result);
  else await showRepaired(model, out, result);
  return result;
}

/** Next to the model under a name of its own; the user chooses where that name is taken. */
async function placeFor(model: vscode.Uri, target: unknown): Promise<vscode.Uri | undefined> {
  if (target instanceof vscode.Uri) return target;
  const ending = '.repaired.onnx';
  const usual = besideModel(model, ending);
  const isTaken = await Promise.resolve(vscode.workspace.fs.stat(usual)).then(
    () => true,
    () => false,
  );
  return isTaken ? modelToWrite(undefined, model, { title: 'Repair Model', ending, label: 'Repair' }) : usual;
}

const consequences: Record<Exclude<Repair['class'], 'exact'>, string> = {
  rounding: 'Results may differ by rounding errors.',
  signature: 'The type or name of an input or output changes.',
  float: 'Floating-point computation takes the place of quantized computation.',
  meaning: 'The model computes something else.',
};

async function mayRepair(repair: Repair, places: number, verdict: ProofVerdict): Promise<boolean> {
  if (repair.class === 'exact') return true;
  const yes = 'Repair';
  const detail = `${consequences[repair.class]} ${repair.proof}\n\n${verdict.text}.`;
  const question = `${repair.title}? (${counted(places, 'place')})`;
  return (await showWarning(question, { modal: true, detail }, yes)) === yes;
}

async function report(result: RepairResult): Promise<void> {
  const message = {
    builds: 'The model builds. There is nothing to repair.',
    repaired: 'The model builds with repairs.',
    unproved: 'The model would build, but its outputs are not proved to be the same, so nothing was written.',
    'not-allowed': 'The model was not repaired.',
    failed: 'No repair makes this model build.',
  }[result.status];
  const details = 'Show Details';
  if ((await showWarning(message, details)) === details) await showText(result);
}

/** The places that were changed are selected in the graph of the repaired model, which opens where the model was. */
async function showRepaired(model: vscode.Uri, out: vscode.Uri, result: RepairResult): Promise<void> {
  const files = new ParsedFiles();
  await openGraph(out, { where: model });
  const { value } = await files.model(out.fsPath);
  const selection: Selection = { kind: 'nodes', ids: changedNodes(value, result.repairs) };
  await vscode.commands.executeCommand(commands.revealInGraph, selection, out.toString());
  void vscode.commands.executeCommand(commands.build, out);
  const details = 'Show Details';
  const message = `Repaired with ${counted(result.repairs.length, 'repair')}. ${result.verdict?.text ?? ''}.`;
  void showInformation(message, details).then((answer) => {
    if (answer === details) void showText(result);
  });
}

async function showText(result: RepairResult): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ content: repairText(result, false) });
  await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside);
}
