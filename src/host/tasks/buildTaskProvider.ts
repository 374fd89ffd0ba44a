import * as vscode from 'vscode';
import type { Builds } from '../builds/builds.ts';
import { taskType } from '../ids.ts';
import { mayRun } from '../platform/trust.ts';
import { BuildTerminal } from './buildTerminal.ts';
import { toEngineOptions } from './taskDefinition.ts';

/** Offering a task for every file of a folder of a thousand models helps no one. */
const mostOffered = 50;

/** Tasks of type `tensorrt`: one offered for each model of the workspace, and those of tasks.json. */
export class BuildTaskProvider implements vscode.TaskProvider {
  readonly #builds: Builds;

  constructor(builds: Builds) {
    this.#builds = builds;
  }

  async provideTasks(token: vscode.CancellationToken): Promise<vscode.Task[]> {
    if (!mayRun()) return [];
    const found = await vscode.workspace.findFiles('**/*.onnx', '**/{node_modules,.git}/**', mostOffered, token);
    return found
      .filter(({ scheme }) => scheme === 'file')
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
   * The task that builds one model, whether a folder contains it or not. `more` is the rest of its definition; a task
   * that is not the model's usual one says so by `note` in its name.
   */
  taskFor(uri: vscode.Uri, more: Record<string, unknown> = {}, note?: string): vscode.Task {
    const folder = vscode.workspace.getWorkspaceFolder(uri);
    const model = folder === undefined ? uri.fsPath : vscode.workspace.asRelativePath(uri, false);
    const name = note === undefined ? model : `${model} (${note})`;
    return this.#task({ type: taskType, model, ...more }, folder ?? vscode.TaskScope.Workspace, name);
  }

  #task(
    definition: vscode.TaskDefinition,
    scope: vscode.WorkspaceFolder | vscode.TaskScope,
    name: string,
  ): vscode.Task {
    const folder = typeof scope === 'object' ? scope : vscode.workspace.workspaceFolders?.[0];
    // The execution gets the definition again, with variables such as ${workspaceFolder} filled in.
    const execution = new vscode.CustomExecution((resolved) =>
      Promise.resolve(new BuildTerminal(this.#builds, toEngineOptions(resolved, folder?.uri.fsPath))),
    );
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
