import { shapesFirst } from './askShapes.ts';
import { pickModel } from '../workspace/pickModel.ts';
import { mayBuild, startBuild } from './startBuild.ts';
import type { BuildParts } from './startBuild.ts';

/** Builds a model's engine in the usual way. `more` comes from a button: random weights, or times of layers. */
export async function buildModel(parts: BuildParts, argument: unknown, more?: unknown): Promise<void> {
  const uri = await pickModel(argument, parts.sessions);
  if (uri === undefined || !(await mayBuild(parts, uri))) return;
  const wanted = (name: string) =>
    typeof more === 'object' && more !== null && (more as Record<string, unknown>)[name] === true;
  const profiles = await shapesFirst(uri, parts.sessions);
  if (profiles === undefined) return;
  await startBuild(parts, uri, {
    ...(wanted('randomWeights') && { randomWeights: true }),
    ...(wanted('profileRun') && { profileRun: true, backend: 'trtexec' }),
    ...(profiles.length > 0 && { profiles }),
  });
}
