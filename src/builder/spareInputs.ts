import { stat } from 'node:fs/promises';
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
