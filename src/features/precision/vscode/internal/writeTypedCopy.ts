import * as vscode from 'vscode';
import type { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { rewriteModel } from '../../node/rewriteModel.ts';
import { checkOverrides } from '../../checkOverrides.ts';
import { readOverrides } from '../../../../kernel/rules/readOverrides.ts';
import { planPrecision, scalesOf } from '../../../../kernel/rules/precisionPlan.ts';
import { targetOfBuild } from '../../../../kernel/rules/buildFacts.ts';
import { knownScales } from '../../../../kernel/node/store/namedScales.ts';
import { runtimeOf } from '../../../../kernel/vscode/platform/downloadConsent.ts';
import { openGraph } from '../../../../kernel/vscode/graph/graphEditorProvider.ts';
import { commands } from '../../../../kernel/vscode/ids.ts';
import { commandTarget } from '../../../../kernel/vscode/language/commandTarget.ts';
import type { FactsFeed } from '../../../../kernel/vscode/language/factsFeed.ts';
import { modelToWrite } from '../../../../kernel/vscode/platform/modelToWrite.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import { ruleErrors } from './ruleErrors.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { showError, showInformation, showWarning } from '../../../../kernel/vscode/platform/messages.ts';
import { isFileUri } from '../../../../kernel/vscode/platform/fileUri.ts';

/** Writes a typed copy of the model with the rules in it. `to` is given by tests and other callers. */
export async function writeTypedCopy(
  context: vscode.ExtensionContext,
  feed: FactsFeed,
  { files, log }: { files: ParsedFiles; log: vscode.LogOutputChannel },
  argument: unknown,
  to?: unknown,
): Promise<void> {
  const target = commandTarget(argument);
  if (target === undefined) return;
  await feed.settled(target.uri);
  const model = await feed.modelOf(target.uri);
  if (model === undefined || !isFileUri(model)) {
    const problem = feed.paramsOf(target.uri)?.modelProblem;
    await showError(
      problem || 'This file has no model on this computer’s disk. Add a line such as "model ./model.onnx".',
    );
    return;
  }
  const out = await modelToWrite(to, model, { title: 'Write Typed Model', ending: '.typed.onnx', label: 'Write' });
  if (out === undefined) return;
  const document = await vscode.workspace.openTextDocument(target.uri);
  const rules = readOverrides(document.getText());
  const script = context.asAbsolutePath('dist/driver/simulate.py');
  const { build, target: other } = feed.paramsOf(target.uri) ?? {};
  const made = await withProgress(`Applying ${nameOf(target.uri)}`, log, async (signal) => {
    const read = await files.indexed(model.fsPath, { spans: true });
    const known = await knownScales(target.uri.fsPath, scalesOf(rules));
    const { problems, resolution } = checkOverrides(
      rules,
      read.index,
      build ?? null,
      targetOfBuild(other ?? build ?? null),
      known,
    );
    const plan = planPrecision(rules, read.index, resolution!);
    const scales = known ? { path: known.path, runtime: () => runtimeOf(context, model, signal), script } : undefined;
    const written = await rewriteModel({ model: read, plan, out: out.fsPath, scales, signal });
    return { ...written, found: problems };
  });
  if (made === undefined) return;
  const { rewrite, quantized, lossNotes, found } = made;
  const { byType, casts } = rewrite.counts;
  const warnings = [...lossNotes, ...rewrite.problems].filter(({ severity }) => severity === 'warning');
  void tellWritten(
    out,
    `Wrote ${nameOf(out)}: ${byType.float} nodes in FP32, ${byType.float16} in FP16, ${byType.bfloat16} in BF16,${quantized.size === 0 ? '' : ` ${quantized.size} in INT8,`} ${casts} Casts added.`,
    [...ruleErrors(rules, found), ...warnings.map(({ message }) => message)],
  );
}

async function tellWritten(out: vscode.Uri, text: string, warnings: string[]): Promise<void> {
  const more = warnings.length > 3 ? [`And ${warnings.length - 3} more.`] : [];
  const graph = 'Open Graph';
  const build = 'Build';
  const show = warnings.length > 0 ? showWarning : showInformation;
  const answer = await show([text, ...warnings.slice(0, 3), ...more].join(' '), graph, build);
  if (answer === graph) await openGraph(out);
  if (answer === build) await vscode.commands.executeCommand(commands.build, out);
}
