import { createWriteStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { Cancelled, fileTrouble } from '../userError.ts';
import { removeTree, renamePersistently } from './persist.ts';

/** For every file: the same files give the same zip. */
const date = new Date(1980, 0, 1);

/**
 * Writes the files of a folder into a zip file, whole or not at all; folders in it are left out.
 * @param root folder that they are in inside the zip file
 * @throws {UserError} if a file cannot be read or the zip file cannot be written
 */
export async function writeZip(folder: string, root: string, out: string, signal?: AbortSignal): Promise<void> {
  const temporary = `${out}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    const files = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
    const zip = new ZipFile();
    const output = createWriteStream(temporary, { flags: 'wx' });
    // A file that cannot be read is an error of the archive, not of its stream.
    zip.on('error', (error: Error) => output.destroy(error));
    for (const { name } of files.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
      zip.addFile(join(folder, name), `${root}/${name}`, { mtime: date, mode: 0o100644, forceDosTimestamp: true });
    zip.end();
    await pipeline(zip.outputStream, output, signal === undefined ? {} : { signal });
    await renamePersistently(temporary, out);
  } catch (error) {
    throw signal?.aborted ? new Cancelled() : fileTrouble(out, error);
  } finally {
    await removeTree(temporary);
  }
}
