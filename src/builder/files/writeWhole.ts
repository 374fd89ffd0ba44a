import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { fileTrouble } from '../userError.ts';
import { removeTree, renamePersistently } from './persist.ts';

/** Writes a file whole or not at all. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    await writeFile(temporary, content);
    await renamePersistently(temporary, path);
  } catch (error) {
    await removeTree(temporary).catch(() => {});
    throw fileTrouble(path, error);
  }
}
