import * as vscode from 'vscode';
import type { Builds } from '../../../../kernel/vscode/builds/builds.ts';
import { taskType } from '../../../../kernel/vscode/ids.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { mayRun } from '../../../../kernel/vscode/platform/trust.ts';
import { BuildTerminal } from './internal/buildTerminal.ts';
import { toEngineOptions } from '../../../../kernel/vscode/builds/taskDefinition.ts';
import { isFileUri } from '../../../../kernel/vscode/platform/fileUri.ts';

/** Offering a task for every file of a folder of a thousand models helps no one. */
const mostOffered = 50;

/** Tasks of type `tensorrt`: one offered for each model of the workspace, and those of tasks.json. */
export class BuildTaskProvider implements vscode.TaskProvider {
  readonly #builds: Builds;
  /** Options of the build that is about to start, by model and folder of its task: see `taskFor`. */
  readonly #next = new Map<string, Record<string, unknown>>();
  /** By task: the terminals of cancelled builds. The editor does not use them again, unlike those of other builds. */
  readonly #cancelled = new Map<string, readonly vscode.Terminal[]>();

  constructor(builds: Builds) {
    this.#builds = builds;
  }

  async provideTasks(token: vscode.CancellationToken): Promise<vscode.Task[]> {
    if (!mayRun()) return [];
    const found = await vscode.workspace.findFiles('**/*.onnx', '**/{node_modules,.git}/**', mostOffered, token);
    return found
      .filter((uri) => isFileUri(uri))
      .toSorted((a, b) => a.path.localeCompare(b.path))
      .flatMap((uri) => {
        const folder = vscode.workspace.getWorkspaceFolder(uri);
        if (folder === undefined) return [];
        const model = vscode.workspace.asRelativePath(uri, false);
        return [this.#task({ type: taskType, model }, folder, model)];
      });
  }

  /** Called for a task of tasks.json, which has a definition but no execution yet. */
  resolveTask(task: vscode.Task): vscode.Task | undefined {
    if (!mayRun() || task.definition.type !== taskType) return undefined;
    // The definition must stay the very object that came, or the editor takes the result for another task.
    return this.#task(task.definition, task.scope ?? vscode.TaskScope.Workspace, task.name);
  }

  /**
   * The task that builds one model, whether a folder contains it or not. `more` is the rest of its definition, which is
   * not in the task's own: the editor has one terminal and one line in its lists for each definition.
   */
  taskFor(uri: vscode.Uri, more: Record<string, unknown> = {}): vscode.Task {
    const folder = vscode.workspace.getWorkspaceFolder(uri);
    const model = folder === undefined ? uri.fsPath : vscode.workspace.asRelativePath(uri, false);
    const definition = { type: taskType, model };
    this.#next.set(keyOf(definition, folder), more);
    return this.#task(definition, folder ?? vscode.TaskScope.Workspace, folder === undefined ? nameOf(uri) : model);
  }

  #task(
    definition: vscode.TaskDefinition,
    scope: vscode.WorkspaceFolder | vscode.TaskScope,
    name: string,
  ): vscode.Task {
    const folder = typeof scope === 'object' ? scope : vscode.workspace.workspaceFolders?.[0];
    // The execution gets the definition again, with variables such as ${workspaceFolder} filled in.
    const execution = new vscode.CustomExecution((resolved) => {
      const key = keyOf(resolved, typeof scope === 'object' ? scope : undefined);
      const whole = { ...resolved, ...this.#next.get(key) };
      this.#next.delete(key);
      for (const terminal of this.#cancelled.get(key) ?? []) terminal.dispose();
      this.#cancelled.delete(key);
      const cancelled = () => this.#cancelled.set(key, terminalsOf(name));
      return Promise.resolve(new BuildTerminal(this.#builds, toEngineOptions(whole, folder?.uri.fsPath), cancelled));
    });
    const task = new vscode.Task(definition, scope, name, 'tensorrt', execution, []);
    task.group = vscode.TaskGroup.Build;
    task.detail = 'Build a TensorRT engine';
    task.presentationOptions = {
      reveal: vscode.TaskRevealKind.Always,
      panel: vscode.TaskPanelKind.Dedicated,
      clear: true,
    };
    return task;
  }
}

/** The editor tells no task its terminal; a terminal has the name of its task. */
const terminalsOf = (task: string): vscode.Terminal[] =>
  vscode.window.terminals.filter(({ name }) => name === task || name === `tensorrt: ${task}`);

/** The same for two tasks that the editor takes for one: other options of a definition make it another task. */
const keyOf = (definition: vscode.TaskDefinition, folder: vscode.WorkspaceFolder | undefined): string =>
  JSON.stringify([
    folder?.uri.toString(),
    Object.entries(definition)
      .filter(([name]) => !name.startsWith('_'))
      .toSorted(([a], [b]) => a.localeCompare(b)),
  ]);
