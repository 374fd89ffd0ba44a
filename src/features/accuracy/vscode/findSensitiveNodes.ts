import { errorFigure } from '../../../kernel/simulation/simulated.ts';
import type { AccuracyReport } from '../../../kernel/simulation/simulated.ts';
import { hasRandomInputs, randomCaution } from '../../../kernel/build/randomInputs.ts';
import * as vscode from 'vscode';
import { type AccuracyProgress, judgeAccuracy } from '../node/judgeAccuracy.ts';
import { askForInputs } from '../../../kernel/vscode/workspace/askForInputs.ts';
import { type Circumstances, circumstancesOf } from './internal/circumstances.ts';
import { type SearchSettings, settingsOf } from '../../../kernel/vscode/workspace/searchSettings.ts';
import type { Build } from '../../../kernel/node/store/buildFolder.ts';
import { loadBuild } from '../../../kernel/node/store/loadBuild.ts';
import { accuracyVerdict, nodeLevel, passesTolerance } from '../accuracyReport.ts';
import type { PrecisionSweep } from '../precisionSweep.ts';
import { counted } from '../../../kernel/base/text.ts';
import { nameOf } from '../../../kernel/vscode/platform/nameOf.ts';
import { showInformation, showWarning } from '../../../kernel/vscode/platform/messages.ts';
import { withProgress } from '../../../kernel/vscode/platform/withProgress.ts';
import { runtimeOf } from '../../../kernel/vscode/platform/downloadConsent.ts';

/** What a search is about: a model, and the rules that it is built with. */
export interface AccuracySubject {
  model: vscode.Uri;
  /** The override file; undefined: the model alone. */
  rules: vscode.TextDocument | undefined;
  /** A build of the model: judged with the rules that it was made with, and with what its kernels change. */
  build?: Build | undefined;
  /** The output that the search is about; undefined: as the search options say. */
  output?: string | undefined;
}

/** What was found, and under which circumstances. */
export interface FoundAccuracy {
  model: vscode.Uri;
  output?: string | undefined;
  report: AccuracyReport;
  /** Paths of the input files; none: random values. */
  inputs: string[];
  /** The precisions compared on these inputs, without rules; undefined: they were not. */
  sweep?: PrecisionSweep | undefined;
  since: Circumstances;
  settings: SearchSettings;
}

export const maxRuns = 1000;

/** How a search is run. */
export interface SearchRun {
  /** Input files and settings; undefined: the user is asked. */
  given?: { inputs: string[]; settings?: SearchSettings } | undefined;
  /** Takes what is known while it runs. */
  partly: (found: FoundAccuracy) => void;
}

/**
 * Asks for input values unless they are given, then judges a model with progress that can be cancelled: a search that runs then ends
 * with what it found. undefined: cancelled before, or it could not be done, which the user was told.
 */
export async function findSensitiveNodes(
  context: vscode.ExtensionContext,
  subject: AccuracySubject,
  log: vscode.LogOutputChannel,
  { given, partly }: SearchRun,
): Promise<FoundAccuracy | undefined> {
  const { model } = subject;
  const inputs = given?.inputs ?? (await askForInputs(model, context.workspaceState, { random: true, search: true }));
  if (inputs === undefined) return undefined;
  const settings = given?.settings ?? settingsOf(model, context.workspaceState);
  return withProgress(`Finding what breaks in low precision: ${nameOf(model)}`, log, (signal, say) =>
    judge(context, subject, { inputs, settings, partly }, signal, say),
  );
}

async function judge(
  context: vscode.ExtensionContext,
  { model, rules, build, output }: AccuracySubject,
  { inputs, settings, partly }: { inputs: string[]; settings: SearchSettings } & Pick<SearchRun, 'partly'>,
  signal: AbortSignal,
  say: (message: string) => void,
): Promise<FoundAccuracy> {
  const runtime = await runtimeOf(context, model, signal, say);
  const since = await circumstancesOf(model, rules);
  const loaded = build && (await loadBuild(build, { onnx: model.fsPath }));
  const report = await judgeAccuracy({
    maxRuns,
    maxSeconds: settings.maxSeconds,
    tolerance: settings.tolerance,
    low: settings.low,
    model: model.fsPath,
    inputs,
    rules: rules?.getText() ?? loaded?.overrides?.rules,
    build: loaded?.report.layers.length ? loaded.report : undefined,
    judgedOutputs: output === undefined ? settings.outputs : [output],
    measures: settings.measure && new Map([['', settings.measure]]),
    modelLine: `./${nameOf(model)}`,
    runtime,
    script: context.asAbsolutePath('dist/driver/simulate.py'),
    signal,
    keepFound: true,
    found: (now) => partly({ model, output, report: now, inputs, since, settings }),
    progress: (now) => say(progressText(now)),
  });
  return { model, output, report, inputs, since, settings };
}

export function progressText({ stage, done, total, best }: AccuracyProgress): string {
  const known = best ? `. ${counted(best.nodes, 'node')} in FP32: error ${errorFigure(best.error)}` : '';
  if (stage === 'searching') return `searching the smallest fix, ${counted(done, 'run')}${known}`;
  return `${stage === 'judging' ? 'judging' : 'preparing'} nodes, ${done} of ${total ?? '?'}`;
}

/** Says what was found, and what can be done now. Of random inputs no rule is offered: they may blame innocent nodes. */
export async function tellFound(
  found: FoundAccuracy,
  { show, addRules, again }: { show: () => void; addRules: () => Promise<void>; again: () => Promise<void> },
): Promise<void> {
  const report = nodeLevel(found.report);
  const random = hasRandomInputs(report);
  const verdict = `${accuracyVerdict(report)}${random ? ` ${randomCaution}` : ''}`;
  const rules = report.fix?.without.length ?? 0;
  const add = `Add ${counted(rules, 'Rule')}`;
  const real = 'Search with Real Inputs';
  const tell = passesTolerance(report) && !random ? showInformation : showWarning;
  const answer = await tell(
    verdict,
    ...(random ? [real] : rules > 0 && !passesTolerance(report) ? [add] : []),
    'Show Report',
  );
  if (answer === add) await addRules();
  else if (answer === real) await again();
  else if (answer !== undefined) show();
}
