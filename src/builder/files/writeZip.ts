import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { crc32, createDeflateRaw } from 'node:zlib';
import { fileTrouble, stopIfCancelled, UserError } from '../userError.ts';

/** Sizes and places in a zip file have 32 bits. */
const limit = 2 ** 32 - 1;

/** Version 2.0; compressed; sizes follow the data, names are UTF-8. */
const common = {
  version: 20,
  flags: 0x0808,
  deflate: 8,
  date: 0x21 /* 1980-01-01: the same files give the same zip */,
};

interface Entry {
  name: Buffer;
  crc: number;
  packed: number;
  size: number;
  at: number;
}

/**
 * Writes the files of a folder into a zip file, whole or not at all; folders in it are left out.
 * @param root folder that they are in inside the zip file
 * @throws {UserError} if it cannot be written, or would have 4 GiB or more
 */
export async function writeZip(folder: string, root: string, out: string, signal?: AbortSignal): Promise<void> {
  const temporary = `${out}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    const handle = await open(temporary, 'wx');
    try {
      await new Zip(handle, out, signal).write(folder, root);
    } finally {
      await handle.close();
    }
    await rename(temporary, out);
  } catch (error) {
    throw error instanceof UserError ? error : fileTrouble(out, error);
  } finally {
    await rm(temporary, { force: true });
  }
}

class Zip {
  readonly #handle: FileHandle;
  readonly #out: string;
  readonly #signal: AbortSignal | undefined;
  #at = 0;

  constructor(handle: FileHandle, out: string, signal: AbortSignal | undefined) {
    this.#handle = handle;
    this.#out = out;
    this.#signal = signal;
  }

  async write(folder: string, root: string): Promise<void> {
    const files = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
    const entries: Entry[] = [];
    for (const { name } of files.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
      entries.push(await this.#file(join(folder, name), Buffer.from(`${root}/${name}`)));
    const start = this.#at;
    for (const { name, crc, packed, size, at } of entries)
      await this.#put(
        numbers(
          [4, 0x02014b50],
          [2, common.version],
          ...head(crc, packed, size, name),
          [2, 0],
          [2, 0],
          [2, 0],
          [4, 0],
          [4, at],
        ),
        name,
      );
    const count = entries.length;
    await this.#put(
      numbers([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, this.#at - start], [4, start], [2, 0]),
    );
  }

  async #file(path: string, name: Buffer): Promise<Entry> {
    const at = this.#at;
    await this.#put(numbers([4, 0x04034b50], ...head(0, 0, 0, name)), name);
    const begin = this.#at;
    let [crc, size] = [0, 0];
    const count = new Transform({
      transform: (chunk: Buffer, _, done) => {
        crc = crc32(chunk, crc);
        size += chunk.length;
        done(null, chunk);
      },
    });
    const file = createReadStream(path);
    const packing = file.pipe(count).pipe(createDeflateRaw());
    file.on('error', (error) => packing.destroy(error));
    for await (const chunk of packing) await this.#put(chunk as Buffer);
    const packed = this.#at - begin;
    if (size > limit) throw this.#tooLarge();
    await this.#put(numbers([4, 0x08074b50], [4, crc], [4, packed], [4, size]));
    return { name, crc, packed, size, at };
  }

  async #put(...pieces: Buffer[]): Promise<void> {
    stopIfCancelled(this.#signal);
    for (const piece of pieces) {
      if (this.#at + piece.length > limit) throw this.#tooLarge();
      await this.#handle.write(piece, 0, piece.length, this.#at);
      this.#at += piece.length;
    }
  }

  readonly #tooLarge = () =>
    new UserError(`${this.#out} would have 4 GiB or more. Choose a folder instead of a zip file`);
}

/** What a file's own header and its entry in the directory have in common. */
const head = (crc: number, packed: number, size: number, name: Buffer): [number, number][] => [
  [2, common.version],
  [2, common.flags],
  [2, common.deflate],
  [2, 0],
  [2, common.date],
  [4, crc],
  [4, packed],
  [4, size],
  [2, name.length],
  [2, 0],
];

/** Little-endian numbers of 2 or 4 bytes. */
function numbers(...fields: [bytes: number, value: number][]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [bytes, value] of fields) at = buffer.writeUIntLE(value, at, bytes);
  return buffer;
}
