import { nameOf } from '../../../../../kernel/vscode/platform/nameOf.ts';
import { back } from '../../../../../kernel/vscode/platform/quickSteps.ts';
import { pickModel } from '../../../../../kernel/vscode/workspace/pickModel.ts';
import { askShapes, shapeQuestion } from '../../../../../kernel/vscode/builds/askShapes.ts';
import type { TaskOptions } from '../../../../../kernel/vscode/builds/taskProperties.ts';
import { warnOfFaults } from './warnOfFaults.ts';
import { type BuildParts, mayBuild, startBuild } from '../../../../../kernel/vscode/workspace/startBuild.ts';

/** Builds a model's engine in the usual way. `more` comes from a button: random weights, or times of layers. */
export async function buildModel(parts: BuildParts, argument: unknown, more?: unknown): Promise<void> {
  const uri = await pickModel(argument, parts.sessions);
  if (uri === undefined || !(await mayBuild(parts, uri))) return;
  const wanted = (name: string) =>
    typeof more === 'object' && more !== null && (more as Record<string, unknown>)[name] === true;
  // The build itself says best what is wrong with the file.
  const question = await shapeQuestion(uri).catch(() => undefined);
  let profiles = undefined;
  if (question !== undefined && question.sizes.length > 0) {
    const last = parts.remembered.of(uri);
    const place = { title: `Build ${nameOf(uri)}`, step: 1, totalSteps: 1, canGoBack: false };
    const answer = await askShapes(question, last.profiles ?? [], place);
    if (answer === undefined || answer === back) return;
    profiles = answer;
    if (answer.length > 0) await parts.remembered.put(uri, { ...last, profiles: answer });
  }
  const options: Partial<TaskOptions> = {
    ...(wanted('randomWeights') && { randomWeights: true }),
    ...(wanted('profileRun') && { profileRun: true, backend: 'trtexec' }),
    ...(profiles && profiles.length > 0 && { profiles }),
  };
  void warnOfFaults(parts, uri, options);
  await startBuild(parts, uri, options);
}
