import * as vscode from 'vscode';
import { removeEntry } from '../../core/replay/editReplay.ts';
import { readReplay } from '../../core/replay/readReplay.ts';
import { commandTarget, editorOf } from '../language/commandTarget.ts';
import { applySpans } from './applySpans.ts';

/** Removes a layer's entry, so that TensorRT chooses for it: the one at the cursor, else one that is picked. */
export async function freeLayer(argument: unknown): Promise<void> {
  const target = commandTarget(argument);
  if (target === undefined) return;
  const document = await vscode.workspace.openTextDocument(target.uri);
  const { value } = readReplay(document.getText());
  if (value === undefined) return;
  const editor = editorOf(document.uri);
  const offset = editor === undefined ? -1 : document.offsetAt(editor.selection.active);
  const here = value.entries.find(({ span }) => span.start <= offset && offset <= span.end);
  const items = value.entries.map((entry) => ({ label: entry.layer, entry }));
  const placeHolder = vscode.l10n.t('For which layer shall TensorRT choose?');
  if (here !== undefined) {
    await applySpans(document, removeEntry(document.getText(), value, here));
    return;
  }
  const picked = (await vscode.window.showQuickPick(items, { placeHolder }))?.entry;
  if (picked === undefined) return;
  // While the question stood, the text may have changed, and its entries moved.
  const now = await vscode.workspace.openTextDocument(target.uri);
  const text = now.getText();
  const { value: file } = readReplay(text);
  const entry = file?.entries.find(({ layer }) => layer === picked.layer);
  if (file !== undefined && entry !== undefined) await applySpans(now, removeEntry(text, file, entry));
}
