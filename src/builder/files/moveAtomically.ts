import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileTrouble } from '../userError.ts';
import { removeTree, renamePersistently } from './persist.ts';

/** Moves a file whole or not at all, across file systems too; nothing happens if it does not exist. */
export async function moveAtomically(from: string, to: string): Promise<void> {
  // Two builds at once may share a cache.
  const temporary = `${to}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    if ((await stat(from).catch(() => undefined)) === undefined) return;
    await mkdir(dirname(to), { recursive: true });
    await renamePersistently(from, temporary).catch(async () => {
      await copyFile(from, temporary);
      await removeTree(from);
    });
    await renamePersistently(temporary, to);
  } catch (error) {
    await removeTree(temporary);
    throw fileTrouble(to, error);
  }
}
