import * as vscode from 'vscode';
import { commands, taskType } from '../ids.ts';
import { registerCommands } from '../platform/registerCommands.ts';
import { buildAs, copyUsualCommand } from './buildAs.ts';
import { buildModel } from './buildModel.ts';
import type { BuildParts } from './startBuild.ts';

/** Builds as tasks, and the commands that start, cancel and copy them. */
export function registerTasks(parts: BuildParts): vscode.Disposable {
  const { sessions, builds, tasks } = parts;
  return vscode.Disposable.from(
    vscode.tasks.registerTaskProvider(taskType, tasks),
    registerCommands({
      [commands.build]: (uri, more) => buildModel(parts, uri, more),
      [commands.buildAs]: (uri, preset) => buildAs(parts, uri, preset),
      [commands.copyBuildCommand]: (uri) => copyUsualCommand(parts, uri),
      [commands.cancelBuild]: (uri) => {
        const model = uri instanceof vscode.Uri ? uri : sessions.current?.uri;
        if (model !== undefined) builds.cancel(model);
      },
    }),
  );
}
