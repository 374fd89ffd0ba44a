import * as vscode from 'vscode';
import { pickTarget } from './askUser.ts';
import { besideModel } from './modelFile.ts';

/**
 * The file that a command writes a model to: `given` by tests and other callers, else what the user chooses; undefined:
 * nothing was chosen. Next to the model, with an ending like `.int8.onnx`, is what the user is offered first.
 */
export async function modelToWrite(
  given: unknown,
  model: vscode.Uri,
  { title, ending, label }: { title: string; ending: string; label: string },
): Promise<vscode.Uri | undefined> {
  if (given instanceof vscode.Uri) return given;
  return pickTarget({
    title,
    defaultUri: besideModel(model, ending),
    filters: { ONNX: ['onnx'] },
    saveLabel: label,
  });
}
