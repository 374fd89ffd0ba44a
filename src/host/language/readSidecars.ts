import * as vscode from 'vscode';
import { readChoices, sniffChoices } from '../../core/replay/readChoices.ts';
import type { Choices } from '../../core/replay/readChoices.ts';

/** A sidecar of a replay beyond this is not read, in bytes: about 100,000 choices. */
const largest = 64 * 2 ** 20;

/** The recorded choices beside a replay: `NAME.choices.jsonl` for `NAME.json`, else `choices.jsonl`. Never rejects. */
export async function readSidecars(replay: vscode.Uri): Promise<Choices[]> {
  const name = replay.path.slice(replay.path.lastIndexOf('/') + 1).replace(/\.jsonc?$/i, '');
  const found: Choices[] = [];
  for (const file of [`${name}.choices.jsonl`, 'choices.jsonl']) {
    // oxlint-disable-next-line no-await-in-loop -- two files
    const text = await readText(vscode.Uri.joinPath(replay, '..', file));
    if (text === undefined || !sniffChoices(text)) continue;
    const { value } = readChoices(text);
    if (value !== undefined) found.push(value);
  }
  return found;
}

async function readText(uri: vscode.Uri): Promise<string | undefined> {
  try {
    const { size } = await vscode.workspace.fs.stat(uri);
    return size > largest ? undefined : new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  } catch {
    return undefined;
  }
}
