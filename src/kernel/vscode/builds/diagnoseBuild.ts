import { buildSteps } from '../../node/run/buildSteps.ts';
import { join } from 'node:path';
import type { Build } from '../../node/store/buildFolder.ts';
import { ParsedFiles } from '../../node/files/parsedFiles.ts';
import type { Diagnosis } from '../../build/diagnosis.ts';

/** A diagnosis with the names of its nodes, for the user. */
export interface NamedDiagnosis extends Diagnosis {
  names: string[];
}

/** What went wrong in a build, by its log, and by its model where that can be read. Never rejects: no log, no diagnoses. */
export async function diagnoseBuild({ folder, manifest }: Build, files = new ParsedFiles()): Promise<NamedDiagnosis[]> {
  if (manifest.files.log === null) return [];
  const isStopped = manifest.result === 'cancelled' && manifest.origin !== 'imported';
  const [log, model] = await Promise.all([
    files.log(join(folder, manifest.files.log)).catch(() => undefined),
    files.model(manifest.model.file).catch(() => undefined),
  ]);
  if (log === undefined) return [];
  // The user who stopped a build knows why it has no engine.
  const causes = await buildSteps.diagnose(log.value, model?.value);
  const found = causes.filter(({ severity }) => !isStopped || severity !== 'error');
  const names = new Map(model?.value.nodes.map(({ id, name, op }) => [id, `${name || `node ${id}`} (${op})`]));
  return found.map((diagnosis) => ({ ...diagnosis, names: diagnosis.nodes.map((id) => names.get(id) ?? id) }));
}

/** What its report says of nodes that a build which passed may have lost; undefined: nothing. Never rejects. */
export async function lostNodesOf(build: Build, files: ParsedFiles): Promise<string | undefined> {
  if (build.manifest.result !== 'passed') return undefined;
  const { loadBuild } = await import('../../node/store/loadBuild.ts');
  const loaded = await loadBuild(build, { files }).catch(() => undefined);
  return loaded?.report.problems.find(({ code }) => code === 'unaccounted-nodes')?.message;
}

/** What the log of a build says that failed; undefined: it does not say that it did. */
export async function failureIn(log: string, files: ParsedFiles): Promise<Diagnosis[] | undefined> {
  const { value } = await files.log(log);
  if (value.outcome !== 'failed') return undefined;
  return buildSteps.diagnose(value);
}
