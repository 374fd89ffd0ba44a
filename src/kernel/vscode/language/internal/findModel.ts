import * as vscode from 'vscode';
import type { ParsedFiles } from '../../../node/files/parsedFiles.ts';
import { fittingModels } from '../../../read/replay/replayFile.ts';
import { readReplay } from '../../../read/replay/readReplay.ts';
import { originOf } from '../../platform/modelSource.ts';
import { nameOf } from '../../platform/nameOf.ts';
import { fileUri } from '../../platform/fileUri.ts';

/** The model that a document is about, or why there is none, as text for the user. */
export interface FoundModel {
  uri: vscode.Uri | null;
  problem: string;
}

/**
 * The model of an override file: the one that it names, otherwise the one of the same name next to it, otherwise the
 * only one in its folder, otherwise `current` if that is in the folder. An unsaved file has no folder: it uses
 * `current`.
 */
export async function findModel(
  document: vscode.Uri,
  named: string | null,
  current: vscode.Uri | undefined,
): Promise<FoundModel> {
  if (document.scheme === 'untitled') {
    if (named === null && current !== undefined) return { uri: current, problem: '' };
    const problem = 'Save this file next to its model to check the rules against the model.';
    return { uri: null, problem };
  }
  if (named !== null) {
    const uri = /^(?:\/|[a-z]:[\\/])/i.test(named)
      ? document.with({ path: fileUri(named).path })
      : vscode.Uri.joinPath(document, '..', named.replaceAll('\\', '/'));
    if (await exists(uri)) return { uri, problem: '' };
    return { uri: null, problem: `${uri.path} does not exist.` };
  }
  const uri = await modelBeside(document, current);
  if (uri !== undefined) return { uri, problem: '' };
  const problem = 'These rules have no model. Add a line such as "model ./model.onnx" to check the rules against it.';
  return { uri: null, problem };
}

/** Of more models than this a replay's layers are not compared: reading them would take long. */
const mostCompared = 50;

/**
 * The model of a replay: the one whose name the file has, otherwise the only one in its folder, otherwise the one there
 * whose nodes its layers name; of several that fit equally well `current`, or none.
 */
export async function findModelOfReplay(
  document: vscode.Uri,
  current: vscode.Uri | undefined,
  files: ParsedFiles,
): Promise<FoundModel> {
  const { models, own } = await modelsBeside(document);
  const [fitting = [], text] = own === undefined ? await fittingIn(document, models, files) : [];
  const uri =
    own ?? (fitting.length === 1 ? fitting[0] : fitting.find((one) => one.toString() === current?.toString()));
  if (uri !== undefined) return { uri, problem: '' };
  const problem =
    fitting.length > 1
      ? `The layers of this replay fit ${fitting.map(nameOf).join(' and ')}. Open the model that it was recorded for.`
      : models.length > 1 && text
        ? 'The layers of this replay fit no model in its folder. Save the replay next to its .onnx file.'
        : 'No model found for this replay. Save the replay next to the .onnx file.';
  return { uri: null, problem };
}

async function fittingIn(
  document: vscode.Uri,
  models: vscode.Uri[],
  files: ParsedFiles,
): Promise<[fitting: vscode.Uri[], isReplay: boolean]> {
  const text = (await vscode.workspace.openTextDocument(document)).getText();
  const layers = readReplay(text).value?.entries.map(({ layer }) => layer) ?? [];
  if (layers.length === 0) return [[], false];
  const candidates = await Promise.all(
    models.slice(0, mostCompared).map(async (model) => {
      const read = await files.readModel(originOf(model)).catch(() => undefined);
      return read?.value ? [{ model, nodes: read.value.nodes }] : [];
    }),
  );
  return [fittingModels(layers, candidates.flat()), true];
}

/** The models in a document's folder, and the one that is its own: of the same name, or the only one. */
async function modelsBeside(document: vscode.Uri): Promise<{ models: vscode.Uri[]; own: vscode.Uri | undefined }> {
  const folder = vscode.Uri.joinPath(document, '..');
  const names = (await entriesOf(folder)).filter((name) => /\.onnx(?:\.gz)?$/i.test(name));
  const stem = stemOf(document.path).toLowerCase();
  // vit.trtprec and vit.replay.json belong to vit.onnx; the longest such name wins: vit_large before vit.
  const [same] = names
    .filter((name) => {
      const other = stemOf(name).toLowerCase();
      return stem === other || (stem.startsWith(other) && /[._-]/.test(stem.charAt(other.length)));
    })
    .toSorted((a, b) => stemOf(b).length - stemOf(a).length);
  const own = same ?? (names.length === 1 ? names[0] : undefined);
  return {
    models: names.map((name) => vscode.Uri.joinPath(folder, name)),
    own: own === undefined ? undefined : vscode.Uri.joinPath(folder, own),
  };
}

async function modelBeside(document: vscode.Uri, current: vscode.Uri | undefined): Promise<vscode.Uri | undefined> {
  const { own } = await modelsBeside(document);
  if (own !== undefined) return own;
  const folder = vscode.Uri.joinPath(document, '..');
  return current !== undefined && vscode.Uri.joinPath(current, '..').toString() === folder.toString()
    ? current
    : undefined;
}

const stemOf = (path: string): string =>
  path.slice(path.lastIndexOf('/') + 1).replace(/(?:\.onnx(?:\.gz)?|\.trtprec|\.jsonc?)$/i, '');

async function entriesOf(folder: vscode.Uri): Promise<string[]> {
  try {
    const entries = await vscode.workspace.fs.readDirectory(folder);
    return entries.filter(([, type]) => (type & vscode.FileType.Directory) === 0).map(([name]) => name);
  } catch {
    return [];
  }
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(uri).then(
    ({ type }) => (type & vscode.FileType.Directory) === 0,
    () => false,
  );
}
