import * as vscode from 'vscode';

/** Where files of a path are: the last URI that was seen of its folder, the extension's storage, or a workspace folder. */
const places = new Map<string, vscode.Uri>();

/** Lets paths at and below a URI's lead to its file system. */
export const addPlace = (uri: vscode.Uri): void => void places.set(uri.path, uri);

/** The file that has a path, in the file system that is shown there. */
export function fileUri(path: string): vscode.Uri {
  for (let folder = path; folder !== ''; folder = folder.slice(0, folder.lastIndexOf('/'))) {
    const place = places.get(folder) ?? workspaceFolder(folder);
    if (place !== undefined) return place.with({ path });
  }
  const [first] = vscode.workspace.workspaceFolders ?? [];
  return first?.uri.with({ path }) ?? vscode.Uri.file(path);
}

const workspaceFolder = (path: string): vscode.Uri | undefined =>
  vscode.workspace.workspaceFolders?.find(({ uri }) => uri.path === path)?.uri;

/** Whether a URI is of a file, in any file system of the editor. Its path leads there from now on. */
export function isFileUri(uri: vscode.Uri): boolean {
  if (vscode.workspace.fs.isWritableFileSystem(uri.scheme) === undefined) return false;
  addPlace(uri.with({ path: uri.path.slice(0, uri.path.lastIndexOf('/')) || '/', query: '', fragment: '' }));
  return true;
}
