import * as vscode from 'vscode';
import { removeEntry } from '../../core/replay/editReplay.ts';
import { commandTarget, editorOf } from '../language/commandTarget.ts';
import { applySpans } from './applySpans.ts';
import { openReplay } from './openReplay.ts';

/** Removes a layer's entry, so that TensorRT chooses for it: the one at the cursor, else one that is picked. */
export async function freeLayer(argument: unknown): Promise<void> {
  const target = commandTarget(argument);
  if (target === undefined) return;
  const replay = await openReplay(target.uri);
  if (replay === undefined) return;
  const { document, text, file } = replay;
  const editor = editorOf(document.uri);
  const offset = editor === undefined ? -1 : document.offsetAt(editor.selection.active);
  const here = file.entries.find(({ span }) => span.start <= offset && offset <= span.end);
  if (here !== undefined) {
    await applySpans(document, removeEntry(text, file, here));
    return;
  }
  const placeHolder = vscode.l10n.t('For which layer shall TensorRT choose?');
  const layers = file.entries.map(({ layer }) => layer);
  const picked = await vscode.window.showQuickPick(layers, { placeHolder });
  const now = picked === undefined ? undefined : await openReplay(target.uri);
  const entry = now?.file.entries.find(({ layer }) => layer === picked);
  if (now !== undefined && entry !== undefined) await applySpans(now.document, removeEntry(now.text, now.file, entry));
}
