import { createReadStream, createWriteStream, type ReadStream, type WriteStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { Cancelled, fileTrouble } from './userError.ts';
import { removeTree } from './persist.ts';
import { moveResult } from './writeResult.ts';
import { temporaryFor } from './writeWhole.ts';

/** For every file: the same files give the same zip. */
const date = new Date(1980, 0, 1);

/**
 * Writes the files of a folder into a zip file, whole or not at all; folders in it are left out.
 * @param root folder that they are in inside the zip file
 * @throws {UserError} if a file cannot be read or the zip file cannot be written
 */
export async function writeZip(folder: string, root: string, out: string, signal?: AbortSignal): Promise<void> {
  const temporary = await temporaryFor(out);
  let reading: ReadStream | undefined;
  let output: WriteStream | undefined;
  try {
    const entries = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
    const files = await Promise.all(
      entries
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(async ({ name }) => ({ name, path: join(folder, name), size: (await stat(join(folder, name))).size })),
    );
    const zip = new ZipFile();
    const written = (output = createWriteStream(temporary, { flags: 'wx' }));
    // A file that grows while it is read is an error of the archive, not of its stream.
    zip.on('error', (error: Error) => written.destroy(error));
    for (const { name, path, size } of files) {
      const options = { size, mtime: date, mode: 0o100644, forceDosTimestamp: true };
      // Read by a stream of ours: yazl's own stays open after a cancel, and Windows removes no folder with an open file.
      zip.addReadStreamLazy(`${root}/${name}`, options, (give) => {
        reading = createReadStream(path).on('error', (error) => written.destroy(error));
        give(null, reading);
      });
    }
    zip.end();
    await pipeline(zip.outputStream, output, signal === undefined ? {} : { signal });
    await moveResult(temporary, out, 'zip');
  } catch (error) {
    throw signal?.aborted ? new Cancelled() : fileTrouble(out, error);
  } finally {
    await Promise.all([reading, output].map(closed));
    await removeTree(temporary);
  }
}

/** Closes a stream of a file, if it is open. */
async function closed(stream: FileStream | undefined): Promise<void> {
  if (stream === undefined || stream.closed) return;
  await new Promise<void>((done) => {
    stream.once('close', done);
    stream.destroy();
  });
}
type FileStream = { closed: boolean; destroy(): unknown; once(event: 'close', listener: () => void): unknown };
