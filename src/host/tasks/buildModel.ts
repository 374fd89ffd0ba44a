import { shapesFirst } from './askShapes.ts';
import { pickModel } from '../workspace/pickModel.ts';
import { mayBuild, startBuild } from './startBuild.ts';
import type { BuildParts } from './startBuild.ts';

/** Builds a model's engine in the usual way. `more` comes from the offer after a build that lacked its weights. */
export async function buildModel(parts: BuildParts, argument: unknown, more?: unknown): Promise<void> {
  const uri = await pickModel(argument, parts.sessions);
  if (uri === undefined || !(await mayBuild(parts, uri))) return;
  const randomWeights =
    typeof more === 'object' && more !== null && 'randomWeights' in more && more.randomWeights === true;
  const profiles = await shapesFirst(uri, parts.sessions);
  if (profiles === undefined) return;
  await startBuild(parts, uri, { ...(randomWeights && { randomWeights }), ...(profiles.length > 0 && { profiles }) });
}
