import * as vscode from 'vscode';

/** What a feature does when one of its commands is run, by the command's id. */
export type CommandHandlers = Record<string, (...args: unknown[]) => unknown>;

/** Registers a feature's commands. Dispose the result to take them back. */
export function registerCommands(handlers: CommandHandlers): vscode.Disposable {
  const registered = Object.entries(handlers).map(([id, handler]) => vscode.commands.registerCommand(id, handler));
  return vscode.Disposable.from(...registered);
}
