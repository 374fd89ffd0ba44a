import * as vscode from 'vscode';
import { profileBuild } from '../../builder/run/profileBuild.ts';
import type { Build } from '../../builder/store/buildFolder.ts';
import { Cancelled, UserError } from '../../builder/userError.ts';
import { errorText } from '../../core/text/errorText.ts';
import { nsysToRun, toolsOf } from '../builds/toolsOf.ts';
import { commands } from '../ids.ts';
import { plainText } from '../platform/plainText.ts';
import { mayRun, tellUntrusted } from '../platform/trust.ts';
import type { Sessions } from '../workspace/sessions.ts';

/** Records a trace of a build's engine with nsys, here or through the launcher of the settings, and shows it. */
export async function profileBuildOf(
  { context, sessions, log }: { context: vscode.ExtensionContext; sessions: Sessions; log: vscode.LogOutputChannel },
  build: Build,
): Promise<void> {
  if (!mayRun()) return tellUntrusted();
  const model = vscode.Uri.file(build.manifest.model.file);
  const options = { location: vscode.ProgressLocation.Notification, title: 'Profiling with nsys', cancellable: true };
  await vscode.window.withProgress(options, async (_, token) => {
    const abort = new AbortController();
    const stop = token.onCancellationRequested(() => abort.abort());
    try {
      const { tools } = toolsOf(context, model, {});
      const { trtexec, launcher, driver } = tools;
      const output = (line: string) => log.info(line);
      await profileBuild({ build, nsys: nsysToRun(), trtexec, launcher, driver, signal: abort.signal, output });
      await sessions.reloadBuild(model);
      await sessions.showBuild(model, build.manifest.id);
      await vscode.commands.executeCommand(commands.openFusionPage, model);
    } catch (error) {
      if (error instanceof Cancelled) return;
      if (!(error instanceof UserError)) log.error(error instanceof Error ? error : String(error));
      await vscode.window.showErrorMessage(plainText(errorText(error)));
    } finally {
      stop.dispose();
    }
  });
}
