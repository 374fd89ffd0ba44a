import * as vscode from 'vscode';
import type { PrecisionMode } from '../../../core/build/buildOptions.ts';
import { pickModel } from '../../workspace/pickModel.ts';
import { type BuildParts, mayBuild, startBuild } from '../../tasks/startBuild.ts';
import { showWarning } from '../../platform/messages.ts';
import { openTextAt } from '../../workspace/openLogLine.ts';
import { buildOfReplay } from '../../language/replayBuild.ts';
import { pickItem } from '../../platform/askUser.ts';
import { besideModel } from '../../platform/modelFile.ts';
import { nameOf } from '../../platform/nameOf.ts';

/**
 * Builds a model by Polygraphy and keeps the tactics that TensorRT chose in `model.replay.json`, which it then shows.
 * What else TensorRT offered stays in the build's folder.
 */
export async function recordReplay(
  parts: Pick<BuildParts, 'sessions' | 'builds' | 'tasks'>,
  argument: unknown,
): Promise<void> {
  const model = await pickModel(argument, parts.sessions);
  if (model === undefined || !(await mayBuild(parts, model))) return;
  const precision = await askForPrecision();
  if (precision === undefined) return;
  const replay = besideModel(model, '.replay.json');
  if (!(await mayReplace(replay))) return;
  const listener = parts.builds.onDidEnd(({ build }) => {
    if (buildOfReplay([build], '--save-tactics', replay) === undefined) return;
    listener.dispose();
    if (build.manifest.result === 'passed') void openTextAt(replay, 1);
  });
  const extraArguments = ['--save-tactics', replay.fsPath];
  const options = { precision, backend: 'polygraphy', recordChoices: true, extraArguments };
  try {
    const recording = await startBuild(parts, model, options);
    const ended = vscode.tasks.onDidEndTask(({ execution }) => {
      if (execution !== recording) return;
      ended.dispose();
      // A build that could not begin has no end.
      listener.dispose();
    });
  } catch (error) {
    listener.dispose();
    throw error;
  }
}

async function askForPrecision(): Promise<PrecisionMode | undefined> {
  const modes: { label: string; description: string; mode: PrecisionMode }[] = [
    { label: 'FP16', description: 'and FP32', mode: 'fp16' },
    { label: 'FP32', description: '', mode: 'fp32' },
    { label: 'INT8', description: 'and FP16, FP32', mode: 'int8' },
    { label: 'BF16', description: 'and FP32', mode: 'bf16' },
  ];
  const placeHolder = 'Select the types that TensorRT may use (TensorRT 10 and earlier record replays)';
  return (await pickItem(modes, { placeHolder }))?.mode;
}

async function mayReplace(file: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(file);
  } catch {
    return true;
  }
  const replace = 'Replace';
  const text = `${nameOf(file)} already exists. Replace it?`;
  return (await showWarning(text, { modal: true }, replace)) === replace;
}
