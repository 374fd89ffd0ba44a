// What the viewing path uses of `node:fs`: reads of files that are open, which are in memory.
import { openBytes } from './openFiles.ts';
import { readFile } from './fsPromises.ts';

export const constants = { COPYFILE_EXCL: 1, COPYFILE_FICLONE: 2, X_OK: 1, W_OK: 2 };

export function readlinkSync(path: string): string {
  throw new Error(`${path} is not a link`);
}

export function readSync(fd: number, into: Uint8Array, offset: number, length: number, position: number): number {
  const part = openBytes(fd).subarray(position, position + length);
  into.set(part, offset);
  return part.length;
}

/** The bytes of a file in one piece. */
export async function* createReadStream(path: string): AsyncGenerator<Uint8Array> {
  yield await readFile(path);
}
