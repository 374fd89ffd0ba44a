import { listBuilds, trimBuilds } from '../../builder/buildHistory.ts';
import type { FusionTree } from '../fusion/fusionTree.ts';
import { readSettings } from '../platform/settings.ts';
import type { Sessions } from '../workspace/sessions.ts';
import type { Ended } from './builds.ts';
import { tellOutcome } from './tellOutcome.ts';

/** After a build: shows its groups where the model is on view, tells how it ended, and lets the oldest builds go. */
export async function showResult({ uri, build }: Ended, sessions: Sessions, tree: FusionTree): Promise<void> {
  const { revealAfterBuild, keptBuilds } = readSettings(uri);
  const passed = build.manifest.result === 'passed';
  if (passed) sessions.setCurrent(uri);
  await sessions.reloadBuild(uri);
  if (passed && revealAfterBuild) await tree.bringUp();
  else void tellOutcome(uri, build);
  await trimBuilds(await listBuilds(uri.fsPath), keptBuilds);
}
