import * as vscode from 'vscode';
import { typeSignature } from '../../core/replay/algorithm.ts';
import { titleOf } from '../../core/replay/describeChoice.ts';
import { addEntry } from '../../core/replay/editReplay.ts';
import { readReplay } from '../../core/replay/readReplay.ts';
import { commandTarget } from '../language/commandTarget.ts';
import type { FactsFeed } from '../language/factsFeed.ts';
import { applySpans } from './applySpans.ts';

interface Offered extends vscode.QuickPickItem {
  layer: string;
  algorithm: Parameters<typeof addEntry>[3];
}

/** Adds an entry for a layer that the replay leaves free: as it was chosen, or the fastest that TensorRT offered. */
export async function pinLayer(feed: FactsFeed, argument: unknown): Promise<void> {
  const target = commandTarget(argument);
  if (target === undefined) return;
  await feed.settled(target.uri);
  const document = await vscode.workspace.openTextDocument(target.uri);
  const { value } = readReplay(document.getText());
  if (value === undefined) return;
  const taken = new Set(value.entries.map(({ layer }) => layer));
  const items: Offered[] = [];
  const add = (layer: string, algorithm: Offered['algorithm'], detail: string) => {
    if (taken.has(layer)) return;
    taken.add(layer);
    items.push({ label: layer, description: typeSignature(algorithm), detail, layer, algorithm });
  };
  for (const { chosen } of feed.paramsOf(target.uri)?.choices ?? [])
    for (const [layer, algorithm] of chosen) add(layer, algorithm, vscode.l10n.t('as TensorRT chose it'));
  for (const { offered } of feed.paramsOf(target.uri)?.choices ?? [])
    for (const [layer, [best]] of offered) if (best) add(layer, best.algorithm, titleOf(best));
  if (items.length === 0) {
    await vscode.window.showInformationMessage(
      vscode.l10n.t('No other layer is known: record choices, or build with a verbose log, to have layers to pin.'),
    );
    return;
  }
  const placeHolder = vscode.l10n.t('Which layer shall always run the same way?');
  const picked = await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true });
  if (picked === undefined) return;
  const edits = addEntry(document.getText(), value, picked.layer, picked.algorithm);
  if (edits) await applySpans(document, edits);
  else await vscode.window.showWarningMessage(vscode.l10n.t('The choice cannot be written in the form of this file.'));
}
