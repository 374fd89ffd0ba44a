import * as vscode from 'vscode';
import type { Build } from '../../../../kernel/node/store/buildFolder.ts';
import { diagnosePastedLog } from '../../../diagnose/vscode/pastedLog.ts';
import type { BuildDiagnostics } from '../../../diagnose/vscode/buildDiagnostics.ts';
import { nsysToRun } from '../../../../kernel/vscode/builds/toolsOf.ts';
import type { Sessions } from '../../../../kernel/vscode/workspace/sessions.ts';
import { openGraph } from '../../../../kernel/vscode/graph/graphEditorProvider.ts';
import { pickFiles, pickWord } from '../../../../kernel/vscode/platform/askUser.ts';
import { showError, showWarning } from '../../../../kernel/vscode/platform/messages.ts';
import { pickModel } from '../../../../kernel/vscode/workspace/pickModel.ts';
import { errorText } from '../../../../kernel/base/problem.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { isFileUri } from '../../../../kernel/vscode/platform/fileUri.ts';

/** Opens what a build elsewhere left as a build of a model. `files` are given by tests and other callers. */
export async function attach(parts: AttachParts, argument: unknown, files?: unknown): Promise<void> {
  if (files === undefined && (await clipboardHasLog())) {
    const clipboard = 'From the Clipboard';
    const picked = await pickWord(['Select Files…', clipboard], 'Select where the log or layer info is');
    if (picked === clipboard) return pasteLog(parts, argument);
    if (picked === undefined) return;
  }
  const uri = await modelFor(parts.sessions, argument);
  if (uri === undefined) return;
  const chosen = isUris(files) ? files : await askForFiles(uri);
  if (chosen === undefined || chosen.length === 0) return;
  await attachPieces(parts, uri, chosen);
}

/** Several lines, or JSON: more than a name that was copied. */
async function clipboardHasLog(): Promise<boolean> {
  const text = (await vscode.env.clipboard.readText()).trim();
  return text.includes('\n') || text.startsWith('{');
}

/** Takes a log or layer info from the clipboard. */
export async function pasteLog(parts: AttachParts, argument: unknown): Promise<void> {
  // Without a model, a log can still be explained.
  if (argument === undefined && parts.sessions.current === undefined) return diagnosePastedLog();
  const uri = await modelFor(parts.sessions, argument);
  if (uri === undefined) return;
  const text = await vscode.env.clipboard.readText();
  if (text.trim() === '') {
    await showWarning('The clipboard contains no text. Copy a verbose build log or layer info first.');
    return;
  }
  await attachPieces(parts, uri, text);
}

/** What attaching needs of the extension. */
export interface AttachParts {
  sessions: Sessions;
  diagnostics: BuildDiagnostics;
}

/** Makes a build of the model's history from files or a text, and shows it. */
export async function attachPieces(
  { sessions, diagnostics }: AttachParts,
  uri: vscode.Uri,
  pieces: vscode.Uri[] | string,
): Promise<void> {
  let build: Build;
  try {
    const given = typeof pieces === 'string' ? [{ text: pieces }] : pieces.map(({ fsPath }) => ({ file: fsPath }));
    const { importBuild } = await import('../../../../kernel/node/run/importBuild.ts');
    build = await importBuild({ model: uri.fsPath, pieces: given, nsys: nsysToRun });
  } catch (error) {
    await showError(errorText(error));
    return;
  }
  await sessions.showBuild(uri, build.manifest.id);
  await diagnostics.show(uri, build);
  await openGraph(uri);
  await vscode.commands.executeCommand('workbench.view.extension.tensorrtLens');
}

async function modelFor(sessions: Sessions, argument: unknown): Promise<vscode.Uri | undefined> {
  const uri = await pickModel(argument, sessions);
  if (uri === undefined || isFileUri(uri)) return uri;
  await showWarning('Only models on this computer’s disk have builds. Copy the model there first.');
  return undefined;
}

const isUris = (value: unknown): value is vscode.Uri[] =>
  Array.isArray(value) && value.every((uri) => uri instanceof vscode.Uri);

function askForFiles(model: vscode.Uri): Thenable<vscode.Uri[] | undefined> {
  return pickFiles({
    title: `Select the build log, layer info and profile or trace of one build of ${nameOf(model)}`,
    canSelectMany: true,
    defaultUri: vscode.Uri.joinPath(model, '..'),
    openLabel: 'Open',
  });
}
