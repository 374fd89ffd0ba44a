import * as vscode from 'vscode';
import { commands, taskType } from '../../../../kernel/vscode/ids.ts';
import { registerCommands, registerLater } from '../../../../kernel/vscode/platform/registerCommands.ts';
import type { BuildParts } from '../../../../kernel/vscode/workspace/startBuild.ts';

/** Builds as tasks, and the commands that start, cancel and copy them. */
export function registerTasks(parts: BuildParts): vscode.Disposable {
  const { sessions, builds, tasks } = parts;
  return vscode.Disposable.from(
    vscode.tasks.registerTaskProvider(taskType, tasks),
    registerLater([commands.build, commands.buildAs], async () => {
      const [{ buildModel }, { buildAs }] = await Promise.all([
        import('./internal/buildModel.ts'),
        import('./internal/buildAs.ts'),
      ]);
      return {
        [commands.build]: (uri, more) => buildModel(parts, uri, more),
        [commands.buildAs]: (uri, preset) => buildAs(parts, uri, preset),
      };
    }),
    registerCommands({
      [commands.cancelBuild]: (uri) => {
        const model = uri instanceof vscode.Uri ? uri : sessions.current?.uri;
        if (model !== undefined) builds.cancel(model);
      },
    }),
  );
}
