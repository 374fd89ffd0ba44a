import * as vscode from 'vscode';

/** What a feature does when one of its commands is run, by the command's id. */
export type CommandHandlers = Record<string, (...args: unknown[]) => unknown>;

/** Registers a feature's commands. Dispose the result to take them back. */
export function registerCommands(handlers: CommandHandlers): vscode.Disposable {
  const registered = Object.entries(handlers).map(([id, handler]) => vscode.commands.registerCommand(id, handler));
  return vscode.Disposable.from(...registered);
}

/** Registers commands whose code is loaded when one of them is run for the first time: `load` gives their handlers. */
export function registerLater(ids: readonly string[], load: () => Promise<CommandHandlers>): vscode.Disposable {
  let loaded: Promise<CommandHandlers> | undefined;
  const run =
    (id: string) =>
    async (...args: unknown[]): Promise<unknown> =>
      (await (loaded ??= load()))[id]!(...args);
  return registerCommands(Object.fromEntries(ids.map((id) => [id, run(id)])));
}
