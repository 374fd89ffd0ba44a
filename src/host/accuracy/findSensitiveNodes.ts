import { dirname, isAbsolute, join, relative } from 'node:path';
import * as vscode from 'vscode';
import { type AccuracyProgress, judgeAccuracy } from '../../builder/accuracy/judgeAccuracy.ts';
import { stampOf } from './internal/stampOf.ts';
import type { Build } from '../../builder/store/buildFolder.ts';
import { loadBuild } from '../../builder/store/loadBuild.ts';
import {
  type AccuracyReport,
  accuracyVerdict,
  nodeLevel,
  passesTolerance,
} from '../../core/accuracy/accuracyReport.ts';
import type { PrecisionSweep } from '../../core/accuracy/precisionSweep.ts';
import { counted } from '../../core/base/text.ts';
import { pickItem } from '../platform/askUser.ts';
import { nameOf } from '../platform/nameOf.ts';
import { showInformation, showWarning } from '../platform/messages.ts';
import { withProgress } from '../platform/withProgress.ts';
import { runtimeOf } from '../platform/runtimeConsent.ts';

/** What a search is about: a model, and the rules that it is built with. */
export interface AccuracySubject {
  model: vscode.Uri;
  /** The override file; undefined: the model alone. */
  rules: vscode.TextDocument | undefined;
  /** A build of the model: judged with the rules that it was made with, and with what its kernels change. */
  build?: Build | undefined;
  /** The output that the search is about; undefined: all of floating point. */
  output?: string | undefined;
}

/** What was found, and for which rules. */
export interface FoundAccuracy extends AccuracySubject {
  report: AccuracyReport;
  /** Paths of the input files; none: random values. */
  inputs: string[];
  /** The precisions compared on these inputs, without rules; undefined: they were not. */
  sweep?: PrecisionSweep | undefined;
  /** Of the model's file when it was read; see `stampOf`. */
  stamp: string;
  /** The version of the rules that it is about. */
  version: number | undefined;
}

export const limits = { tolerance: 0.01, maxRuns: 1000, maxSeconds: 120 };

/**
 * Asks for input values unless they are given, then judges a model with progress that can be cancelled. undefined: cancelled,
 * or it could not be done, which the user was told.
 */
export async function findSensitiveNodes(
  context: vscode.ExtensionContext,
  subject: AccuracySubject,
  log: vscode.LogOutputChannel,
  given?: string[],
): Promise<FoundAccuracy | undefined> {
  const inputs = given ?? (await askForInputs(subject.model, context.workspaceState));
  if (inputs === undefined) return undefined;
  return withProgress(`Finding what breaks in low precision: ${nameOf(subject.model)}`, log, (signal, say) =>
    judge(context, subject, inputs, signal, say),
  );
}

async function judge(
  context: vscode.ExtensionContext,
  { model, rules, build, output }: AccuracySubject,
  inputs: string[],
  signal: AbortSignal,
  say: (message: string) => void,
): Promise<FoundAccuracy> {
  const runtime = await runtimeOf(context, model, signal, say);
  const stamp = await stampOf(model);
  const loaded = build && (await loadBuild(build, { onnx: model.fsPath }));
  const report = await judgeAccuracy({
    ...limits,
    model: model.fsPath,
    inputs,
    rules: rules?.getText() ?? loaded?.overrides?.rules,
    build: loaded?.report.layers.length ? loaded.report : undefined,
    judgedOutputs: output === undefined ? undefined : [output],
    modelLine: `./${nameOf(model)}`,
    runtime,
    script: context.asAbsolutePath('dist/driver/simulate.py'),
    signal,
    progress: (now) => say(progressText(now)),
  });
  return { model, rules, output, report, inputs, stamp, version: rules?.version };
}

export function progressText({ stage, done, total }: AccuracyProgress): string {
  if (stage === 'searching') return `searching the smallest fix, ${counted(done, 'run')}`;
  return `${stage === 'judging' ? 'judging' : 'preparing'} nodes, ${done} of ${total ?? '?'}`;
}

const inputsKey = (model: vscode.Uri): string => `tensorrtLens.accuracyInputs ${model.toString()}`;

/** Paths of input files; none: random values. undefined: the user chose nothing. */
export async function askForInputs(
  model: vscode.Uri,
  memory: vscode.Memento,
  offerRandom = true,
): Promise<string[] | undefined> {
  const last = memory.get<string[]>(inputsKey(model)) ?? [];
  const shown = (path: string) => {
    const near = relative(dirname(model.fsPath), path);
    return near.startsWith('..') || isAbsolute(near) ? path : near;
  };
  const again = {
    label: '$(history) The Same Input Files Again',
    description: last.map(shown).join(', '),
    paths: last,
  };
  const choose = {
    label: '$(folder-opened) Select Input Files…',
    description: '.npz, .npy, Polygraphy or trtexec JSON',
  };
  const folder = {
    label: '$(folder) Select a Folder of Input Files…',
    description: 'a sample in each .npz or .json, or an input in each .npy',
  };
  const random = { label: '$(question) Random Values', description: 'can miss faults: real inputs reach other values' };
  const items = [...(last.length > 0 ? [again] : []), choose, folder, ...(offerRandom ? [random] : [])];
  const answer = await pickItem(items, { placeHolder: 'Select the input values to judge with' });
  if (answer === undefined || answer === again) return answer && last;
  if (answer === random) return [];
  const files = await vscode.window.showOpenDialog({
    ...(answer === folder
      ? { canSelectFolders: true, canSelectFiles: false }
      : { canSelectMany: true, filters: { 'Input values': ['npz', 'npy', 'json'] } }),
    defaultUri: vscode.Uri.file(join(model.fsPath, '..')),
    openLabel: 'Use These Inputs',
  });
  const paths = files?.map(({ fsPath }) => fsPath);
  if (paths !== undefined) await memory.update(inputsKey(model), paths);
  return paths;
}

/** Says what was found, and what can be done now. */
export async function tellFound(found: FoundAccuracy, show: () => void, addRules: () => Promise<void>): Promise<void> {
  const report = nodeLevel(found.report);
  const verdict = accuracyVerdict(report);
  const rules = report.fix?.without.length ?? 0;
  const add = `Add ${counted(rules, 'Rule')}`;
  if (passesTolerance(report)) {
    const answer = await showInformation(verdict, 'Show Report');
    if (answer !== undefined) show();
    return;
  }
  const answer = await showWarning(verdict, ...(rules > 0 ? [add] : []), 'Show Report');
  if (answer === add) await addRules();
  else if (answer !== undefined) show();
}
