import * as vscode from 'vscode';
import { writeRemedy } from '../../node/writeRemedy.ts';
import { helpfulRemedy } from '../../accuracyReport.ts';
import { commands } from '../../../../kernel/vscode/ids.ts';
import { modelToWrite } from '../../../../kernel/vscode/platform/modelToWrite.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { showInformation } from '../../../../kernel/vscode/platform/messages.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import type { FoundAccuracy } from '../findSensitiveNodes.ts';

/** Writes a copy of a model with the constants that help, where the user wants it. `to`: there, without asking. */
export async function writeRemedyOf(
  { model, report }: Pick<FoundAccuracy, 'model' | 'report'>,
  log: vscode.LogOutputChannel,
  to?: unknown,
): Promise<vscode.Uri | undefined> {
  const remedy = helpfulRemedy(report);
  if (remedy === undefined) return undefined;
  const title = 'Write a Copy with the Changed Constants';
  const out = await modelToWrite(to, model, { title, ending: '.remedied.onnx', label: 'Write' });
  if (out === undefined) return undefined;
  return withProgress(`Writing ${nameOf(out)}`, log, async (signal) => {
    await writeRemedy(model.fsPath, remedy, out.fsPath, signal);
    const search = 'Search in the Copy';
    void showInformation(`${nameOf(out)} has the changed constants.`, search).then((answer) =>
      answer === search ? vscode.commands.executeCommand(commands.findSensitiveNodes, out) : undefined,
    );
    return out;
  });
}
