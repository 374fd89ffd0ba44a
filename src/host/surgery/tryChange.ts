import * as vscode from 'vscode';
import { whatIf, type WhatIfRequest } from '../../builder/run/whatIf.ts';
import { UserError } from '../../builder/userError.ts';
import { diffText } from '../../core/diff/output/diffText.ts';
import { nameOf } from '../platform/nameOf.ts';
import type { ChosenNodes } from './chosenNodes.ts';
import { optionsOf } from './reduceBuild.ts';
import type { SurgeryParts } from './registerSurgery.ts';
import { withProgress } from '../platform/withProgress.ts';

type Change = 'output' | 'cut' | 'remove';

const offers: (vscode.QuickPickItem & { change: Change })[] = [
  { change: 'output', label: '$(eye) Mark Its Output', description: 'the tensor becomes an output of the model' },
  { change: 'cut', label: '$(split-vertical) Cut Behind It', description: 'the network ends there and begins again' },
  { change: 'remove', label: '$(trash) Remove It', description: 'its first input takes the place of its output' },
];

/** Builds the model as it is and with a change at the last chosen node, and shows the difference next to the graph. */
export async function tryChange(
  { context, sessions, log }: SurgeryParts,
  { model, nodes }: ChosenNodes,
  given: unknown,
): Promise<unknown> {
  const node = sessions.find(model)?.state.graph?.nodes.find(({ id }) => id === nodes.at(-1));
  const known = offers.find(({ change }) => change === given);
  const chosen = known ?? (await vscode.window.showQuickPick(offers, { placeHolder: 'Select a change to try' }));
  if (chosen === undefined) return undefined;
  const newest = sessions.find(model)?.state.newest;
  const made = await withProgress(`What if: ${nameOf(model)}`, log, (signal, say) => {
    const tensor = node?.outputs[0];
    if (node === undefined || tensor === undefined) throw new UserError('The node has no output. Select another node');
    const changes: Record<Change, Pick<WhatIfRequest, 'changed' | 'change'>> = {
      output: { changed: { outputs: [tensor] }, change: null },
      cut: { changed: {}, change: { cuts: [tensor] } },
      remove: { changed: {}, change: { remove: node.id } },
    };
    say('building the model as it is and with the change');
    return whatIf({ options: optionsOf(context, model, newest?.build ?? null), ...changes[chosen.change] }, {}, signal);
  });
  if (made === undefined) return undefined;
  const { product, version } = made.diff.b;
  const name = `${product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'TensorRT'} ${version ?? ''}`.trim();
  const content = `${diffText(made.diff)}This is the result of ${name}; another version may fuse differently.\n`;
  const document = await vscode.workspace.openTextDocument({ content });
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
  return made.diff;
}
