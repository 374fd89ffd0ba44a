import * as vscode from 'vscode';
import { quoteCommand } from '../../../../kernel/base/text.ts';
import { checkOverrides } from '../../checkOverrides.ts';
import { NodeIndex } from '../../../../kernel/rules/resolveOverrides.ts';
import { planPrecision } from '../../../../kernel/rules/precisionPlan.ts';
import { type PrecisionProgram, precisionPrograms, programArguments } from '../../importPrecision.ts';
import { readOverrides } from '../../../../kernel/rules/readOverrides.ts';
import {
  hasLayerFlags,
  targetName,
  targetOf,
  targetOfBuild,
  type TensorrtTarget,
} from '../../../../kernel/rules/buildFacts.ts';
import { commandTarget } from '../../../../kernel/vscode/language/commandTarget.ts';
import type { FactsFeed } from '../../../../kernel/vscode/language/factsFeed.ts';
import { showError, showInformation, showWarning } from '../../../../kernel/vscode/platform/messages.ts';
import { ruleErrors } from './ruleErrors.ts';
import { shell } from '../../../../kernel/node/tools/shell.ts';
import { pickItem } from '../../../../kernel/vscode/platform/askUser.ts';

/**
 * Copies the rules of an override file as flags of a program; says what they cannot express. `to`, one of
 * `precisionPrograms`, is given by key bindings and other callers; otherwise it is requested.
 */
export async function copyPrecisionFlags(
  feed: FactsFeed,
  log: vscode.LogOutputChannel,
  argument: unknown,
  to?: unknown,
): Promise<void> {
  const place = commandTarget(argument);
  if (place === undefined) return;
  const document = await vscode.workspace.openTextDocument(place.uri);
  const facts = await feed.settled(place.uri);
  const params = feed.paramsOf(place.uri);
  if (!facts?.model) {
    void showError(params?.modelProblem || 'This file has no model. Add a line such as "model ./model.onnx".');
    return;
  }
  const own = targetOfBuild(params?.target ?? params?.build ?? null);
  // Where this TensorRT has no such flags, they are meant for another one.
  const target = hasLayerFlags(own) === false ? targetOf('tensorrt', null, null) : own;
  const index = new NodeIndex(facts.model);
  const file = readOverrides(document.getText());
  const { problems: found, resolution } = checkOverrides(file, index, facts.build, target);
  const plan = planPrecision(file, index, resolution!);
  if (plan.nodes.length === 0 && plan.base === 'keep') {
    void showInformation('Nothing to copy: no rule applies to any node.');
    return;
  }
  const program = precisionPrograms.find((one) => one === to) ?? (await askForProgram(own));
  if (program === undefined) return;
  const { args, problems } = programArguments(program, plan, target, index);
  const remarks = [...ruleErrors(file, found), ...problems.map(({ message }) => message)];
  if (args.length > 0) await vscode.env.clipboard.writeText(quoteCommand(args, shell));
  void tellCopied(log, args.length > 0, remarks);
}

async function askForProgram(target: TensorrtTarget): Promise<PrecisionProgram | undefined> {
  const has = hasLayerFlags(target);
  const name = targetName(target);
  const descriptions = {
    true: `for ${name}`,
    false: `for TensorRT 8.4.1 to 10, not for ${name}`,
    null: 'for TensorRT 8.4.1 to 10',
  };
  const description = descriptions[`${has}`];
  const items: (vscode.QuickPickItem & { program: PrecisionProgram })[] = [
    { label: 'trtexec', program: 'trtexec', description },
    { label: 'Polygraphy', program: 'polygraphy', description },
    {
      label: 'ModelOpt AutoCast',
      program: 'autocast',
      description: 'rewrites the model, for any TensorRT',
    },
  ];
  const placeHolder = 'Select a program';
  return (await pickItem(items, { placeHolder }))?.program;
}

/** All remarks are also in the extension's output: a message has room for a few. */
async function tellCopied(log: vscode.LogOutputChannel, copied: boolean, remarks: readonly string[]): Promise<void> {
  const done = copied ? 'Flags copied.' : 'Nothing was copied.';
  if (remarks.length === 0) {
    vscode.window.setStatusBarMessage(done, 3000);
    return;
  }
  for (const remark of remarks) log.warn(remark);
  const more = remarks.length > 3 ? [`And ${remarks.length - 3} more.`] : [];
  const text = [done, ...remarks.slice(0, 3), ...more].join(' ');
  const all = 'Show All';
  if ((await showWarning(text, all)) === all) log.show();
}
