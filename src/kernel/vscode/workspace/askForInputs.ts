import { dirname, isAbsolute, join, relative } from 'node:path';
import * as vscode from 'vscode';
import { inputFilesBeside } from '../../node/simulation/inputFilesBeside.ts';
import { pickFiles, pickItem } from '../platform/askUser.ts';
import { askForSettings, settingsOf, settingsText } from './searchSettings.ts';
import { fileUri } from '../platform/fileUri.ts';

const inputsKey = (model: vscode.Uri): string => `tensorrtLens.accuracyInputs ${model.toString()}`;

/** What else the question for inputs offers. */
export interface InputQuestion {
  /** Random values are an answer. */
  random: boolean;
  /** How the search is done can be changed. */
  search: boolean;
}

/**
 * Paths of input files; none: random values. Those next to the model are offered first. undefined: the user chose nothing.
 */
export async function askForInputs(
  model: vscode.Uri,
  memory: vscode.Memento,
  { random, search }: InputQuestion,
): Promise<string[] | undefined> {
  const { files: nearby, outputs } = await inputFilesBeside(model.fsPath);
  for (;;) {
    const last = memory.get<string[]>(inputsKey(model)) ?? [];
    const shown = (path: string) => {
      const near = relative(dirname(model.fsPath), path);
      return near.startsWith('..') || isAbsolute(near) ? path : near;
    };
    const isNew = (paths: readonly string[]) => String(paths) !== String(last);
    const choose = {
      label: '$(folder-opened) Select Input Files…',
      description: '.npz, .npy, Polygraphy or trtexec JSON',
    };
    const folder = {
      label: '$(folder) Select a Folder of Input Files…',
      description: 'a sample in each .npz or .json, or an input in each .npy',
    };
    const anything = {
      label: '$(question) Random Values',
      description: 'may invent or miss faults: real inputs reach other values. For a first look only',
    };
    const options = search && {
      label: '$(settings-gear) Search Options…',
      description: settingsText(settingsOf(model, memory)),
    };
    const files = [
      ...(last.length > 0
        ? [{ label: '$(history) The Same Input Files Again', description: last.map(shown).join(', '), paths: last }]
        : []),
      ...nearby
        .filter(({ paths }) => isNew(paths))
        .map(({ paths, what }) => ({
          label: `$(file) ${what.includes('image') || paths.length > 1 ? what : shown(paths[0]!)}`,
          description: what.includes('image') || paths.length > 1 ? 'next to the model' : `${what}, next to the model`,
          paths,
        })),
    ];
    const items: (vscode.QuickPickItem & { paths?: string[] })[] = [
      ...files,
      choose,
      folder,
      ...(random ? [anything] : []),
      ...(options ? [options] : []),
    ];
    // oxlint-disable-next-line no-await-in-loop -- again after the options
    const answer = await pickItem(items, { placeHolder: 'Select the input values to judge with' });
    if (answer === undefined) return undefined;
    if (answer === anything) return [];
    if (answer === options) {
      // oxlint-disable-next-line no-await-in-loop -- as above
      await askForSettings(model, memory, outputs);
      continue;
    }
    // oxlint-disable-next-line no-await-in-loop -- as above
    const paths = answer.paths ?? (await selectFiles(model, answer === folder));
    // oxlint-disable-next-line no-await-in-loop -- as above
    if (paths !== undefined) await memory.update(inputsKey(model), paths);
    return paths;
  }
}

async function selectFiles(model: vscode.Uri, folder: boolean): Promise<string[] | undefined> {
  const files = await pickFiles({
    ...(folder
      ? { canSelectFolders: true, canSelectFiles: false }
      : { canSelectMany: true, filters: { 'Input values': ['npz', 'npy', 'json'] } }),
    defaultUri: fileUri(join(model.fsPath, '..')),
    openLabel: 'Use These Inputs',
  });
  return files?.map(({ fsPath }) => fsPath);
}
