import * as vscode from 'vscode';
import { runPrecisionSweep } from '../../../builder/accuracy/runPrecisionSweep.ts';
import { findCalibrator } from '../../../builder/quantization/calibrate.ts';
import { UserError } from '../../../builder/userError.ts';
import type { AccuracyReport } from '../../../core/accuracy/accuracyReport.ts';
import { sweepPrecisions } from '../../../core/accuracy/precisionSweep.ts';
import { nameOf } from '../../platform/nameOf.ts';
import { runtimeOf } from '../../platform/runtimeConsent.ts';
import { readSettings } from '../../platform/settings.ts';
import { withProgress } from '../../platform/withProgress.ts';
import { askForInputs, type FoundAccuracy, limits, progressText } from '../findSensitiveNodes.ts';
import { stampOf } from './stampOf.ts';

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
  const inputs = given ?? (await askForInputs(model, context.workspaceState));
  if (inputs === undefined) return undefined;
  return withProgress(`Comparing precisions: ${nameOf(model)}`, log, async (signal, say) => {
    const runtime = await runtimeOf(context, model, signal, say);
    const stamp = await stampOf(model);
    let report: AccuracyReport | undefined;
    const sweep = await runPrecisionSweep({
      ...limits,
      model: model.fsPath,
      inputs,
      precisions: sweepPrecisions,
      calibration: inputs,
      calibrator: await findCalibrator(readSettings(model).pythonPath || undefined).catch(() => undefined),
      measured: new Map(),
      modelLine: `./${nameOf(model)}`,
      runtime,
      script: context.asAbsolutePath('dist/driver/simulate.py'),
      signal,
      progress: (now) => say(progressText(now)),
      judged: (one) => (report ??= one),
    });
    const why = sweep.rungs.find(({ precision }) => precision === 'fp16')?.reason;
    if (report === undefined) throw new UserError(why ?? 'No precision could be simulated.');
    return { model, rules: undefined, report, inputs, sweep, stamp, version: undefined };
  });
}
