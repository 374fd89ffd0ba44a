import { copyFile, mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileTrouble } from './unusable.ts';

/** Moves a file whole or not at all, across file systems too; nothing happens where it does not exist. */
export async function moveWhole(from: string, to: string): Promise<void> {
  const temporary = `${to}.${process.pid}.tmp`;
  try {
    if ((await stat(from).catch(() => undefined)) === undefined) return;
    await mkdir(dirname(to), { recursive: true });
    await rename(from, temporary).catch(async () => {
      await copyFile(from, temporary);
      await rm(from, { force: true });
    });
    await rename(temporary, to);
  } catch (error) {
    await rm(temporary, { force: true });
    throw fileTrouble(to, error);
  }
}
