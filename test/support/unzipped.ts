import { openPromise } from 'yauzl';

/** The files of a zip archive by name. */
export async function unzipped(path: string): Promise<Map<string, Buffer>> {
  const archive = await openPromise(path);
  const files = new Map<string, Buffer>();
  for await (const entry of archive.eachEntry()) {
    const pieces: Buffer[] = [];
    for await (const piece of await archive.openReadStreamPromise(entry)) pieces.push(piece as Buffer);
    files.set(entry.fileName, Buffer.concat(pieces));
  }
  return files;
}
