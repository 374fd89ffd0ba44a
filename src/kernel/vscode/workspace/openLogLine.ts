import * as vscode from 'vscode';
import { showError, showInformation } from '../platform/messages.ts';
import type { Session } from './session.ts';
import { fileUri } from '../platform/fileUri.ts';

/** Shows the log of the session's newest build, at a line counted from 1. */
export async function openLogLine(session: Session, line: number): Promise<void> {
  // What a file of an engine says has lines only in a log, which is then the file itself.
  const log = session.state.newest?.log ?? (session.state.engine === null ? null : session.uri.fsPath);
  if (log === null) {
    await showInformation(`No build of ${session.title} has a log.`);
    return;
  }
  await openTextAt(fileUri(log), line);
}

/** Shows the log of the build that did not pass, at a line counted from 1. */
export async function openFailedLog(session: Session, line: number): Promise<void> {
  const { newest, engine } = session.state;
  // Without a model, the log is the file itself, or one next to it.
  if (engine !== null) return openLogLine(session, engine.state.line ?? line);
  const build = newest?.unsuccessful ?? null;
  if (build === null || build.manifest.files.log === null) return;
  await openTextAt(vscode.Uri.joinPath(fileUri(build.folder), build.manifest.files.log), line);
}

/** Shows the override file that the session's newest build was made with, at a line counted from 1. */
export async function openRuleLine(session: Session, line: number): Promise<void> {
  const path = session.state.newest?.build.options.overrides;
  if (typeof path !== 'string') {
    await showInformation(`${session.title} has no override file.`);
    return;
  }
  await openTextAt(fileUri(path), line);
}

/** Opens a text file at a line counted from 1; a line beyond its end shows its end. */
export async function openTextAt(uri: vscode.Uri, line: number): Promise<void> {
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    const row = Math.min(Math.max(line, 1), document.lineCount) - 1;
    const selection = document.lineAt(row).range;
    await vscode.window.showTextDocument(document, { selection, preview: true });
  } catch (error) {
    // Among the reasons: the file is gone, or larger than an editor shows.
    await showError(`${uri.fsPath} cannot be opened: ${String(error)}`);
  }
}
