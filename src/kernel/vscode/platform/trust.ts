import * as vscode from 'vscode';
import { showWarning } from './messages.ts';

/**
 * Whether programs may run here. Asked when a command starts, when a task is resolved and again before a process is
 * started, because trust can be given and workspaces can change in between.
 */
export function mayRun(): boolean {
  return vscode.workspace.isTrusted;
}

/** Why nothing runs in a workspace that is not trusted. */
export const untrustedMessage = (what = 'Building'): string =>
  `${what} runs programs, so it needs a trusted workspace. Models and builds can still be viewed.`;

/** Says so, with the way to change it. `what` begins the sentence. */
export async function tellUntrusted(what?: string): Promise<void> {
  const manage = 'Manage Workspace Trust';
  const answer = await showWarning(untrustedMessage(what), manage);
  if (answer === manage) await vscode.commands.executeCommand('workbench.trust.manage');
}
