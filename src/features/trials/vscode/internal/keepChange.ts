import * as vscode from 'vscode';
import { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { convertOpset } from '../../node/whatIf.ts';
import { writeChanged } from '../../../surgery/node/writeChanged.ts';
import { graphViewType } from '../../../../kernel/vscode/ids.ts';
import { showInformation } from '../../../../kernel/vscode/platform/messages.ts';
import { modelToWrite } from '../../../../kernel/vscode/platform/modelToWrite.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import { addLines } from '../../../precision/vscode/addLines.ts';
import { openOverrides } from '../../../precision/vscode/openOverrides.ts';
import type { Trial } from './askChange.ts';
import type { SurgeryParts } from './chosenNodes.ts';

/**
 * Keeps what was tried: rules in the model's override file, which the user can undo, or a changed copy of the model.
 * Options of a build are remembered by the next build, in which they are chosen.
 */
export async function keepChange({ log }: SurgeryParts, model: vscode.Uri, { change, rules }: Trial): Promise<void> {
  if (rules !== undefined) {
    const document = await openOverrides(model);
    const start = await addLines(document, () => `${rules}\n`);
    await vscode.window.showTextDocument(document, { selection: new vscode.Range(start, start) });
    return;
  }
  if (change === null) {
    await showInformation('This change is an option of the build. Choose it in "Build TensorRT Engine As…".');
    return;
  }
  const target = { title: 'Keep This Change', ending: '.changed.onnx', label: 'Write' };
  const out = await modelToWrite(undefined, model, target);
  if (out === undefined) return;
  const isWritten = await withProgress(`Writing ${nameOf(out)}`, log, async (signal) => {
    if ('opset' in change) await convertOpset(model.fsPath, change, out.fsPath, signal);
    else await writeChanged(model.fsPath, change, out.fsPath, new ParsedFiles(), signal);
    return true;
  });
  if (isWritten === true)
    await vscode.commands.executeCommand('vscode.openWith', out, graphViewType, vscode.ViewColumn.Beside);
}
