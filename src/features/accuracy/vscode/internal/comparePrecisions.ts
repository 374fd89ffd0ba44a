import type { AccuracyReport } from '../../../../kernel/simulation/simulated.ts';
import * as vscode from 'vscode';
import { runPrecisionSweep } from '../../node/runPrecisionSweep.ts';
import { type Calibrator, findCalibrator } from '../../../quantization/node/calibrate.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import { sweepPrecisions } from '../../precisionSweep.ts';
import { pickWord } from '../../../../kernel/vscode/platform/askUser.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { calibratorOf, runtimeOf } from '../../../../kernel/vscode/platform/downloadConsent.ts';
import { readSettings } from '../../../../kernel/vscode/platform/settings.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import { askForInputs } from '../../../../kernel/vscode/workspace/askForInputs.ts';
import { type FoundAccuracy, maxRuns, progressText } from '../findSensitiveNodes.ts';
import { circumstancesOf } from './circumstances.ts';
import { settingsOf } from '../../../../kernel/vscode/workspace/searchSettings.ts';

/**
 * Judges a model without rules in one precision after the other, on input files that are asked for unless they are given
 * (none: random values). What FP16 gives is what a search for culprits finds. INT8 is calibrated with the same files.
 * undefined: cancelled, or it could not be done, which the user was told.
 */
export async function comparePrecisions(
  context: vscode.ExtensionContext,
  model: vscode.Uri,
  log: vscode.LogOutputChannel,
  given?: string[],
): Promise<FoundAccuracy | undefined> {
  const calibrator = await calibratorFor(context, model, log, given === undefined);
  if (calibrator === null) return undefined;
  const inputs = given ?? (await askForInputs(model, context.workspaceState, { random: true, search: true }));
  if (inputs === undefined) return undefined;
  const settings = settingsOf(model, context.workspaceState);
  return withProgress(`Comparing precisions: ${nameOf(model)}`, log, async (signal, say) => {
    const runtime = await runtimeOf(context, model, signal, say);
    const since = await circumstancesOf(model, undefined);
    let report: AccuracyReport | undefined;
    const sweep = await runPrecisionSweep({
      maxRuns,
      maxSeconds: settings.maxSeconds,
      tolerance: settings.tolerance,
      judgedOutputs: settings.outputs,
      measures: settings.measure && new Map([['', settings.measure]]),
      model: model.fsPath,
      inputs,
      precisions: sweepPrecisions,
      calibration: inputs,
      calibrator: calibrator ?? undefined,
      measured: new Map(),
      times: true,
      modelLine: `./${nameOf(model)}`,
      runtime,
      script: context.asAbsolutePath('dist/driver/simulate.py'),
      signal,
      progress: (now) => say(progressText(now)),
      judged: (one) => (report ??= one),
    });
    const why = sweep.rungs.find(({ precision }) => precision === 'fp16')?.reason;
    if (report === undefined) throw new UserError(why ?? 'No precision could be simulated.');
    return { model, report, inputs, sweep, since, settings };
  });
}

const declined = 'tensorrtLens.compareWithoutInt8';

/**
 * What INT8 is calibrated with; undefined: the other precisions are compared alone, null: nothing is. Who is there to be asked (`ask`) can
 * have it installed, and says no only once.
 */
async function calibratorFor(
  context: vscode.ExtensionContext,
  model: vscode.Uri,
  log: vscode.LogOutputChannel,
  ask: boolean,
): Promise<Calibrator | undefined | null> {
  const found = await findCalibrator(readSettings(model).pythonPath || undefined).catch(() => undefined);
  if (found !== undefined || !ask || context.workspaceState.get(declined) === true) return found;
  const [install, without] = ['Set Up INT8…', 'Compare Without INT8'];
  const answer = await pickWord([install, without], 'INT8 needs a tool that calibrates: select what to compare');
  if (answer === without) await context.workspaceState.update(declined, true);
  if (answer === undefined) return null;
  return answer === install ? calibratorOf(context, model, log) : undefined;
}
