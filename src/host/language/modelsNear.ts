import { posix } from 'node:path';
import * as vscode from 'vscode';

/** As many models as the user looks through. */
const most = 100;

/** The models of a document's workspace folder as its `model` line would name them, the nearest first. */
export async function modelsNear(document: vscode.Uri): Promise<string[]> {
  const folder = vscode.workspace.getWorkspaceFolder(document);
  const root = folder?.uri ?? vscode.Uri.joinPath(document, '..');
  const pattern = new vscode.RelativePattern(root, folder === undefined ? '*.onnx' : '**/*.onnx');
  const found = await vscode.workspace.findFiles(pattern, undefined, most).then(
    (uris) => uris,
    () => [],
  );
  const from = posix.dirname(document.path);
  const paths = found.map(({ path }) => posix.relative(from, path));
  const steps = (path: string) => path.split('/').length;
  return paths
    .map((path) => (path.startsWith('../') ? path : `./${path}`))
    .toSorted((a, b) => steps(a) - steps(b) || (a < b ? -1 : 1));
}
