import { listBuilds, trimBuilds } from '../../../../kernel/node/store/buildHistory.ts';
import type { BuildDiagnostics } from '../../../diagnose/vscode/buildDiagnostics.ts';
import { showBuiltGraph } from '../../../../kernel/vscode/graph/graphEditorProvider.ts';
import type { FusionTree } from '../../../../kernel/vscode/fusion/fusionTree.ts';
import { keepToLimit } from './internal/keepToLimit.ts';
import { readSettings } from '../../../../kernel/vscode/platform/settings.ts';
import type { Sessions } from '../../../../kernel/vscode/workspace/sessions.ts';
import type { Ended } from '../../../../kernel/vscode/builds/builds.ts';
import { tellOutcome } from './internal/tellOutcome.ts';

/** After a build: shows its groups where the model is on view, tells how it ended, and lets the oldest builds go. */
export async function showResult(
  { uri, build }: Ended,
  sessions: Sessions,
  tree: FusionTree,
  diagnostics: BuildDiagnostics,
): Promise<void> {
  const { revealAfterBuild, keptBuilds, keptMebibytes } = readSettings(uri);
  const passed = build.manifest.result === 'passed';
  if (passed) sessions.setCurrent(uri);
  const session = sessions.find(uri);
  // What was chosen of the history gives way to what has just been built.
  if (session !== undefined) session.chosenBuild = null;
  await sessions.reloadBuild(uri);
  const found = await diagnostics.show(uri, build);
  const [cause] = found.filter(({ severity }) => severity === 'error');
  if (session !== undefined && !passed && cause !== undefined && cause.nodes.length > 0)
    sessions.select(session, { kind: 'nodes', ids: cause.nodes }, 'host');
  const shown = session?.state.newest;
  const read = shown?.build.id === build.manifest.id ? shown : { precision: null, report: null };
  if (passed && revealAfterBuild) {
    await showBuiltGraph(uri);
    await tree.bringUp();
  }
  void tellOutcome(uri, build, cause, read);
  const gone = (await trimBuilds(await listBuilds(uri.fsPath), keptBuilds)) + (await keepToLimit(keptMebibytes));
  if (gone === 0) return;
  await sessions.reloadBuilds();
  await diagnostics.forgetDeleted();
}
