import * as vscode from 'vscode';

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
      ? document.with({ path: vscode.Uri.file(named).path })
      : vscode.Uri.joinPath(document, '..', named.replaceAll('\\', '/'));
    if (await exists(uri)) return { uri, problem: '' };
    return { uri: null, problem: `${uri.path} does not exist.` };
  }
  const uri = await modelBeside(document, current);
  if (uri !== undefined) return { uri, problem: '' };
  const problem = 'These rules have no model. Add a line such as "model ./model.onnx" to check the rules against it.';
  return { uri: null, problem };
}

/**
 * The model of a replay: the one whose name the file has, otherwise the only one in its folder, else `current` there.
 */
export async function findModelOfReplay(document: vscode.Uri, current: vscode.Uri | undefined): Promise<FoundModel> {
  const uri = await modelBeside(document, current);
  if (uri !== undefined) return { uri, problem: '' };
  return { uri: null, problem: 'No model found for this replay. Save the replay next to the .onnx file.' };
}

async function modelBeside(document: vscode.Uri, current: vscode.Uri | undefined): Promise<vscode.Uri | undefined> {
  const folder = vscode.Uri.joinPath(document, '..');
  const models = (await entriesOf(folder)).filter((name) => /\.onnx(?:\.gz)?$/i.test(name));
  const own = stemOf(document.path).toLowerCase();
  // vit.trtprec and vit.replay.json belong to vit.onnx; the longest such name wins: vit_large before vit.
  const [same] = models
    .filter((name) => {
      const stem = stemOf(name).toLowerCase();
      return own === stem || (own.startsWith(stem) && /[._-]/.test(own.charAt(stem.length)));
    })
    .toSorted((a, b) => stemOf(b).length - stemOf(a).length);
  const only = models.length === 1 ? models[0] : undefined;
  const name = same ?? only;
  if (name !== undefined) return vscode.Uri.joinPath(folder, name);
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
