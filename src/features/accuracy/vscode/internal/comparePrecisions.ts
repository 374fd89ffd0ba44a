import type { AccuracyReport } from '../../../../kernel/simulation/simulated.ts';
import * as vscode from 'vscode';
import { runPrecisionSweep } from '../../node/runPrecisionSweep.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import { sweepPrecisions } from '../../precisionSweep.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { runtimeOf } from '../../../../kernel/vscode/platform/downloadConsent.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import { askForInputs } from '../../../../kernel/vscode/workspace/askForInputs.ts';
import { type FoundAccuracy, maxRuns, progressText } from '../findSensitiveNodes.ts';
import { circumstancesOf } from './circumstances.ts';
import { settingsOf } from '../../../../kernel/vscode/workspace/searchSettings.ts';

/**
 * Judges a model without rules in one precision after the other, on input files that are asked for unless they are given
 * (none: random values). What FP16 gives is what a search for culprits finds.
 * undefined: cancelled, or it could not be done, which the user was told.
 */
export async function comparePrecisions(
  context: vscode.ExtensionContext,
  model: vscode.Uri,
  log: vscode.LogOutputChannel,
  given?: string[],
): Promise<FoundAccuracy | undefined> {
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
