import { join } from 'node:path';
import * as vscode from 'vscode';
import { type Choices, readChoices, sniffChoices } from '../../../read/replay/readChoices.ts';
import { buildOfReplay } from '../replayBuild.ts';
import type { KnownFacts } from './knownFacts.ts';
import { nameOf } from '../../platform/nameOf.ts';
import { fileUri } from '../../platform/fileUri.ts';

/** A sidecar of a replay beyond this is not read, in bytes: about 100,000 choices. */
const largest = 64 * 2 ** 20;

/**
 * The recorded choices of a replay: next to it, `NAME.choices.jsonl` for `NAME.json` and `choices.jsonl`, then in the
 * folder of the build that recorded it. Those of the last build, which may have had other options, come as its log's.
 * Never rejects.
 */
export async function readSidecars(replay: vscode.Uri, facts: KnownFacts | undefined): Promise<Choices[]> {
  const name = nameOf(replay).replace(/\.jsonc?$/i, '');
  const files: { file: vscode.Uri; source: Choices['source'] }[] = [`${name}.choices.jsonl`, 'choices.jsonl'].map(
    (file) => ({ file: vscode.Uri.joinPath(replay, '..', file), source: 'sidecar' }),
  );
  const recording = buildOfReplay(facts?.builds ?? [], '--save-tactics', replay);
  const last = facts?.build ? facts.builds.find(({ manifest }) => manifest.result === 'passed') : undefined;
  for (const build of new Set([recording, last])) {
    const kept = build?.manifest.files.choices;
    if (build === undefined || kept === undefined) continue;
    files.push({ file: fileUri(join(build.folder, kept)), source: build === recording ? 'sidecar' : 'log' });
  }
  const found: Choices[] = [];
  for (const { file, source } of files) {
    // oxlint-disable-next-line no-await-in-loop -- four files at most
    const text = await readText(file);
    if (text === undefined || !sniffChoices(text)) continue;
    const { value } = readChoices(text);
    if (value !== undefined) found.push({ ...value, source });
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
