import * as vscode from 'vscode';
import { NotConfirmed } from '../../node/tools/ensurePackages.ts';
import { Cancelled, UserError } from '../../node/files/userError.ts';
import { plainText } from './internal/plainText.ts';
import { showError } from './messages.ts';

/** A notification that shows what `work` says of its progress, and can cancel it. */
export const showProgress = <Result>(
  title: string,
  work: (say: (message: string) => void, token: vscode.CancellationToken) => Thenable<Result>,
): Thenable<Result> =>
  vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: plainText(title), cancellable: true },
    (progress, token) => work((message) => progress.report({ message: plainText(message) }), token),
  );

/**
 * Runs a piece of work with a notification that shows its progress and can cancel it. undefined: it was cancelled, or
 * failed, which the user was told.
 */
export function withProgress<Result>(
  title: string,
  log: vscode.LogOutputChannel,
  work: (signal: AbortSignal, say: (message: string) => void) => Promise<Result>,
): Thenable<Result | undefined> {
  return showProgress(title, async (say, token) => {
    const abort = new AbortController();
    const stop = token.onCancellationRequested(() => abort.abort());
    try {
      return await work(abort.signal, say);
    } catch (error) {
      if (error instanceof Cancelled || error instanceof NotConfirmed) return undefined;
      if (!(error instanceof UserError)) log.error(error instanceof Error ? error : String(error));
      const text = error instanceof UserError ? error.message : `Internal error: ${String(error)}`;
      void showError(text);
      return undefined;
    } finally {
      stop.dispose();
    }
  });
}
