import * as vscode from 'vscode';
import { profileBuild } from '../../../../../kernel/node/run/profileBuild.ts';
import type { Build } from '../../../../../kernel/node/store/buildFolder.ts';
import { nsysToRun, toolsOf } from '../../../../../kernel/vscode/builds/toolsOf.ts';
import { commands } from '../../../../../kernel/vscode/ids.ts';
import { mayRun, tellUntrusted } from '../../../../../kernel/vscode/platform/trust.ts';
import { withProgress } from '../../../../../kernel/vscode/platform/withProgress.ts';
import type { Sessions } from '../../../../../kernel/vscode/workspace/sessions.ts';
import { fileUri } from '../../../../../kernel/vscode/platform/fileUri.ts';

/** Records a trace of a build's engine with nsys, here or through the launcher of the settings, and shows it. */
export async function profileBuildOf(
  { context, sessions, log }: { context: vscode.ExtensionContext; sessions: Sessions; log: vscode.LogOutputChannel },
  build: Build,
): Promise<void> {
  if (!mayRun()) return tellUntrusted();
  const model = fileUri(build.manifest.model.file);
  const made = await withProgress('Profiling with nsys', log, async (signal) => {
    const { tools } = toolsOf(context, model, {});
    const { trtexec, launcher, driver } = tools;
    const output = (line: string) => log.info(line);
    return profileBuild({ build, nsys: nsysToRun(), trtexec, launcher, driver, signal, output });
  });
  if (made === undefined) return;
  await sessions.reloadBuild(model);
  await sessions.showBuild(model, build.manifest.id);
  await vscode.commands.executeCommand(commands.openFusionPage, model);
}
