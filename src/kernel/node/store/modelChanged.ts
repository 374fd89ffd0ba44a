import { stat } from 'node:fs/promises';
import type { BuildManifest } from '../../build/buildManifest.ts';
import { fingerprint } from '../files/fingerprint.ts';
import type { ParsedFiles } from '../files/parsedFiles.ts';

/**
 * Whether a model's file has another content than when it was built. The file is read only where its size and times do
 * not answer: every change of its content sets the time of its last change. false where it is not known, or the file is
 * gone. Never rejects.
 */
export async function modelChanged(
  path: string,
  { model, started }: BuildManifest,
  files: ParsedFiles,
): Promise<boolean> {
  if (model.sha256 === null) return false;
  try {
    const { size, ctimeMs } = await stat(path);
    if (size !== model.bytes) return true;
    if (ctimeMs < Date.parse(started)) return false;
    const { sha256 } = await files.once('fingerprint', [path], () => fingerprint(path));
    return sha256 !== model.sha256;
  } catch {
    return false;
  }
}
