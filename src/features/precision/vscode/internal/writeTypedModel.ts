import { dirname, resolve } from 'node:path';
import * as vscode from 'vscode';
import { existsSync, statSync } from 'node:fs';
import { shell } from '../../../../kernel/node/tools/shell.ts';
import { quoteCommand } from '../../../../kernel/base/text.ts';
import { typedCommand } from '../../../check/lint/lintSource.ts';
import { rulesOfCommand } from '../../importPrecision.ts';
import { commands } from '../../../../kernel/vscode/ids.ts';
import { pickFiles } from '../../../../kernel/vscode/platform/askUser.ts';
import { fileUri } from '../../../../kernel/vscode/platform/fileUri.ts';
import { showError, showInformation } from '../../../../kernel/vscode/platform/messages.ts';
import { modelToWrite } from '../../../../kernel/vscode/platform/modelToWrite.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { refusal } from './refusal.ts';

/**
 * Writes the typed model that a command's flags ask for, with its rules next to it, and offers the command that builds
 * it with TensorRT 11. `source` is the text that has the command, `out` is given by tests.
 */
export async function writeTypedModel(source: vscode.Uri, command: readonly string[], out?: unknown): Promise<void> {
  const rules = rulesOfCommand(command);
  if (rules === undefined) return;
  const model = await modelOf(source, rules.model);
  if (model === undefined) return;
  const to = await modelToWrite(out, model, { title: 'Write Typed Model', ending: '.typed.onnx', label: 'Write' });
  if (to === undefined) return;
  const file = fileUri(to.fsPath.replace(/(?:\.onnx)?$/i, '.trtprec'));
  const scales = rules.scales === null ? null : resolve(dirname(source.fsPath), rules.scales);
  const text = scales === null ? rules.text : rules.text.replace(`scales ${rules.scales}`, () => `scales ${scales}`);
  const isBeside = dirname(file.fsPath) === dirname(model.fsPath);
  const path = isBeside ? `./${nameOf(model)}` : model.fsPath;
  if (existsSync(file.fsPath)) {
    await showError(`${nameOf(file)} already exists. Choose another name for the model.`);
    return;
  }
  const edit = new vscode.WorkspaceEdit();
  edit.createFile(file, { contents: Buffer.from(`model ${path}\n${text}`) });
  if (!(await vscode.workspace.applyEdit(edit))) {
    await showError(
      `${nameOf(file)} was not written: ${refusal(dirname(file.fsPath))}. Choose another place for the model.`,
    );
    return;
  }
  await vscode.window.showTextDocument(file, { preserveFocus: true });
  const before = writtenAt(to);
  await vscode.commands.executeCommand(commands.applyOverrides, file, to);
  // A model of that name may have been there, and stays where the rules cannot be applied.
  if (writtenAt(to) === before) return;
  const { words } = typedCommand(command, vscode.workspace.asRelativePath(to, false));
  const copy = 'Copy Command';
  const made = quoteCommand(words, shell);
  if ((await showInformation(`Build ${nameOf(to)} with: ${made}`, copy)) === copy)
    await vscode.env.clipboard.writeText(made);
}

const writtenAt = ({ fsPath }: vscode.Uri): number | undefined => statSync(fsPath, { throwIfNoEntry: false })?.mtimeMs;

/** The model that a command names, in the folder of its text or one of the workspace; else the user says which. */
async function modelOf(source: vscode.Uri, path: string | undefined): Promise<vscode.Uri | undefined> {
  const folders = [dirname(source.fsPath), ...(vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath)];
  const found =
    path === undefined ? undefined : folders.map((one) => resolve(one, path)).find((one) => existsSync(one));
  if (found !== undefined) return fileUri(found);
  const picked = await pickFiles({ title: 'Select the Model That the Command Builds', filters: { ONNX: ['onnx'] } });
  return picked?.[0];
}
