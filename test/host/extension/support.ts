import { existsSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { registerSteps } from '../../../src/registry.ts';
import type { ExtensionApi } from '../../../src/shell/vscode/extension.ts';
import type { Session } from '../../../src/kernel/vscode/workspace/session.ts';

// Tests have copies of their own of what the extension is made of.
registerSteps();

export const extensionId = 'trtlens.tensorrt-lens';

/** The extension, activated. */
export async function lens(): Promise<ExtensionApi> {
  const extension = vscode.extensions.getExtension<ExtensionApi>(extensionId);
  if (extension === undefined) throw new Error(`${extensionId} is not installed`);
  return extension.activate();
}

export const workspaceFolder = (): vscode.Uri => vscode.workspace.workspaceFolders![0]!.uri;
export const inWorkspace = (name: string): vscode.Uri => vscode.Uri.joinPath(workspaceFolder(), name);

/** A file of the repository, which the runner names. */
export function inRepository(name: string): string {
  const file = path.join(process.env['REPOSITORY'] ?? '', name);
  if (!existsSync(file)) throw new Error(`No such file: ${file}`);
  return file;
}

/** Resolves with the first event that is accepted. Call it before the event is caused. */
export function nextEvent<T>(event: vscode.Event<T>, accepts: (value: T) => boolean = () => true): Promise<T> {
  // A test that runs out of time says nothing of the line that it waits in.
  const { stack } = new Error(`Still no such event: ${String(accepts)}`);
  return new Promise((resolve) => {
    const timer = setTimeout(() => console.error(stack), 40_000);
    const listener = event((value) => {
      if (!accepts(value)) return;
      clearTimeout(timer);
      listener.dispose();
      resolve(value);
    });
  });
}

/** Resolves when a condition holds, which is looked at after each event. */
export async function until<T>(event: vscode.Event<T>, holds: () => boolean): Promise<void> {
  if (!holds()) await nextEvent(event, holds);
}

/** Resolves when the window has done what it was asked before, and everything that it reported until then has arrived. */
export async function roundTrip(): Promise<void> {
  await vscode.commands.executeCommand('setContext', 'tensorrtLens.test', true);
}

/** Looks every 50 ms until a condition holds: only for what raises no event. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- one look after the other
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
}

const tabsChange: vscode.Event<unknown> = (told) => {
  const { onDidChangeTabs, onDidChangeTabGroups } = vscode.window.tabGroups;
  return vscode.Disposable.from(onDidChangeTabs(told), onDidChangeTabGroups(told));
};
const tab = (): vscode.Tab | undefined => vscode.window.tabGroups.activeTabGroup.activeTab;

/** The tab that is active, once it is the one that is meant: the editor tells of it a moment after it has opened it. */
export async function activeTab(isMeant: (tab: vscode.Tab) => boolean): Promise<vscode.Tab> {
  await until(tabsChange, () => tab() !== undefined && isMeant(tab()!));
  return tab()!;
}

/** The text editor that is active, once it shows what is meant. */
export async function activeEditor(isMeant: (document: vscode.TextDocument) => boolean): Promise<vscode.TextEditor> {
  const active = () => vscode.window.activeTextEditor;
  await until(vscode.window.onDidChangeActiveTextEditor, () => active() !== undefined && isMeant(active()!.document));
  return active()!;
}

/** Closes all editors; resolves when it has been told that none is active. */
export async function closeEditors(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  await until(tabsChange, () => tab() === undefined);
  await until(vscode.window.onDidChangeActiveTextEditor, () => vscode.window.activeTextEditor === undefined);
}

/**
 * Opens a file the way that a double click does, and resolves to its session when the file has been read and is what
 * the side bar shows.
 */
export async function openModel(uri: vscode.Uri): Promise<Session> {
  const { sessions } = await lens();
  await vscode.commands.executeCommand('vscode.open', uri);
  await until(sessions.onDidChange, () => {
    const session = sessions.find(uri);
    return session !== undefined && session.state.model !== 'loading';
  });
  // The editor tells apart from all else that the graph has the focus.
  await until(sessions.onDidChangeCurrent, () => sessions.current?.key === uri.toString());
  return sessions.find(uri)!;
}

/** Runs a task to its end and gives its exit code. */
export async function runTask(task: vscode.Task): Promise<number | undefined> {
  const ended = nextEvent(vscode.tasks.onDidEndTaskProcess, ({ execution }) => execution.task.name === task.name);
  await vscode.tasks.executeTask(task);
  return (await ended).exitCode;
}

/** The task of the workspace for one model, as the extension offers it. */
export async function offeredTask(model: string): Promise<vscode.Task> {
  const tasks = await vscode.tasks.fetchTasks({ type: 'tensorrt' });
  const task = tasks.find(({ name, definition }) => name === model && Object.keys(definition).length === 2);
  if (task === undefined) throw new Error(`No task for ${model} among ${tasks.map(({ name }) => name).join(', ')}`);
  return task;
}

/** A task with any definition, made as the editor makes one of tasks.json: through the provider. */
export async function configuredTask(label: string): Promise<vscode.Task> {
  const tasks = await vscode.tasks.fetchTasks({ type: 'tensorrt' });
  const task = tasks.find(({ name }) => name === label);
  if (task === undefined) throw new Error(`No task ${label} among ${tasks.map(({ name }) => name).join(', ')}`);
  return task;
}

/** Waits for a command that asks, and takes the answer of each question that is selected or filled in when it appears. */
export const accepting = <T>(work: Thenable<T>): Promise<T> =>
  whileRunning(work, 'workbench.action.acceptSelectedQuickOpenItem');

/** Waits for a command that ends when its message is put away. */
export const dismissing = <T>(work: Thenable<T>): Promise<T> => whileRunning(work, 'notifications.clearAll');

async function whileRunning<T>(work: Thenable<T>, command: string): Promise<T> {
  let over = false;
  const done = Promise.resolve(work).finally(() => (over = true));
  await eventually(async () => {
    // Nothing says when the question or the message is there.
    await vscode.commands.executeCommand(command);
    return over;
  });
  return done;
}
