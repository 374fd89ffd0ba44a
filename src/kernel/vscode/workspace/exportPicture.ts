import { Buffer } from 'node:buffer';
import * as vscode from 'vscode';
import { pickTarget } from '../platform/askUser.ts';
import { showError } from '../platform/messages.ts';

/** Saves a picture that a view of a model made, where the user says. */
export async function exportPicture(
  model: vscode.Uri,
  kind: 'svg' | 'png',
  content: string,
  name: string,
): Promise<void> {
  // The name comes from a view and so, in part, from a model: no separators, nothing hidden.
  const bare = name.replaceAll(/[^\w.-]+/g, '_').replace(/^\.+/, '');
  const file = bare.toLowerCase().endsWith(`.${kind}`) ? bare : `${bare}.${kind}`;
  const target = await pickTarget({
    defaultUri: vscode.Uri.joinPath(model, '..', file),
    filters: kind === 'svg' ? { SVG: ['svg'] } : { PNG: ['png'] },
  });
  if (target === undefined) return;
  try {
    await vscode.workspace.fs.writeFile(target, Buffer.from(content, kind === 'svg' ? 'utf8' : 'base64'));
  } catch (error) {
    await showError(`The picture cannot be saved to ${target.path}: ${String(error)}`);
  }
}
