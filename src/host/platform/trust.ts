import * as vscode from 'vscode';
import { showWarning } from './messages.ts';

/** In a browser without a computer behind it there are no programs; `host/web` says so. */
const inBrowser = (process.platform as string) === 'web';

/**
 * Whether programs may run here. Asked when a command starts, when a task is resolved and again before a process is
 * started, because trust can be given and workspaces can change in between.
 */
export function mayRun(): boolean {
  return !inBrowser && vscode.workspace.isTrusted;
}

/** Why nothing runs in a workspace that is not trusted. */
export const untrustedMessage = (what = 'Building'): string =>
  inBrowser
    ? `${what} runs programs, so it needs VS Code on a computer. Models and builds can still be viewed.`
    : `${what} runs programs, so it needs a trusted workspace. Models and builds can still be viewed.`;

/** Says so, with the way to change it. `what` begins the sentence. */
export async function tellUntrusted(what?: string): Promise<void> {
  if (inBrowser) return showWarning(untrustedMessage(what)).then(() => undefined);
  const manage = 'Manage Workspace Trust';
  const answer = await showWarning(untrustedMessage(what), manage);
  if (answer === manage) await vscode.commands.executeCommand('workbench.trust.manage');
}
