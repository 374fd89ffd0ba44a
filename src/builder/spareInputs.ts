import { stat } from 'node:fs/promises';
import { inspectFile } from '../core/inspect/inspectFile.ts';
import { openFile } from './fileSource.ts';
import { Unusable } from './unusable.ts';

/**
 * Makes sure that writing `out` overwrites none of the files that are read; a missing name is no file.
 * @throws {Unusable} when it would, whatever the two names are (links, other spellings)
 */
export async function spareInputs(out: string, inputs: readonly (string | undefined)[]): Promise<void> {
  const target = await stat(out).catch(() => undefined);
  if (!target) return;
  for (const input of inputs) {
    if (input === undefined) continue;
    const status = await stat(input).catch(() => undefined);
    if (status?.dev === target.dev && status.ino === target.ino)
      throw new Unusable(`${out}: would be overwritten, and is read as ${input}; name another file to write`);
  }
}

/**
 * Makes sure that a timing cache, which a build writes, takes the place of no other kind of file.
 * @throws {Unusable} when it would, or the file cannot be read
 */
export async function spareOtherKinds(timingCache: string): Promise<void> {
  if (!(await stat(timingCache).catch(() => undefined))) return;
  const source = await openFile(timingCache);
  try {
    const { kind, summary } = await inspectFile(source);
    if (kind !== 'timing-cache' && kind !== 'unknown')
      throw new Unusable(`${timingCache}: is no timing cache and would be overwritten: ${summary}. Name another file`);
  } finally {
    await source.close();
  }
}
