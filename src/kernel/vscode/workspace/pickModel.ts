import * as vscode from 'vscode';
import { isModelFile } from '../platform/modelFile.ts';
import type { Sessions } from './sessions.ts';
import { pickFile } from './pickFile.ts';

/**
 * The model that a command is about: the argument of a menu, otherwise the one in the active editor, otherwise the one
 * in the side bar, otherwise the one that the user picks. undefined: they picked none.
 */
export async function pickModel(argument: unknown, sessions: Sessions): Promise<vscode.Uri | undefined> {
  if (argument instanceof vscode.Uri) return argument;
  const current = sessions.current?.uri;
  return (
    activeModel() ?? (current !== undefined && isModelFile(current) ? current : undefined) ?? (await askForModel())
  );
}

/** The same where the files of an engine will do, too. */
export async function pickShown(argument: unknown, sessions: Sessions): Promise<vscode.Uri | undefined> {
  const current = sessions.current?.uri;
  return pickModel(argument ?? (current !== undefined && !isModelFile(current) ? current : undefined), sessions);
}

function activeModel(): vscode.Uri | undefined {
  const input: unknown = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const uri = input instanceof vscode.TabInputCustom || input instanceof vscode.TabInputText ? input.uri : undefined;
  return uri !== undefined && isModelFile(uri) ? uri : undefined;
}

/** The models of the workspace as a list, with the way to any other. `traced`: graphs of Torch-TensorRT, too. */
export function askForModel({ traced = false } = {}): Promise<vscode.Uri | undefined> {
  return pickFile({
    glob: traced ? '**/*.{onnx,fx.json}' : '**/*.onnx',
    placeHolder: traced ? 'Select the ONNX file or the graph of Torch-TensorRT (.fx.json)' : 'Select a model',
    dialog: {
      filters: traced ? { 'ONNX or .fx.json': ['onnx', 'json'] } : { ONNX: ['onnx'] },
      openLabel: 'Open Model',
    },
  });
}
