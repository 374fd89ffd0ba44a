import { readSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';
import { bytesOf, type ByteSource, errorText } from '../../base/problem.ts';
import { fileTrouble, UserError } from './userError.ts';

/** Milliseconds. Node's `performance` would load ten more of its modules. */
const now = (): number => process.uptime() * 1000;

/** A source over an open file. */
export interface FileSource extends ByteSource {
  close(): Promise<void>;
}

interface OpenOptions {
  /** false: a gzip-compressed file is read as it is. */
  unpack?: boolean;
}

/** Bytes that are read on the spot, and milliseconds that such reads may follow on one another. */
const smallRead = 2 ** 18;
const patience = 5;

/** Unpacked bytes are kept in memory: more than this is rejected. */
const largestUnpacked = 2 ** 31 - 1;

/**
 * Opens a file for random access; a gzip-compressed one (by its content, whatever its name) is unpacked in memory,
 * unless `unpack` is false.
 * @throws {UserError} if it cannot be opened or unpacked
 */
export async function openFile(path: string, { unpack: unpacks = true }: OpenOptions = {}): Promise<FileSource> {
  const handle = await openReadable(path);
  try {
    const status = await handle.stat();
    // A pipe has no size and no random access.
    const whole = status.isFile() ? undefined : await handle.readFile();
    const head = whole?.subarray(0, 2) ?? (await readAt(handle, 0, 2));
    if (!unpacks || !isGzipHead(head)) return whole ? inMemory(handle, whole) : onDisk(handle, status.size);
    return await inMemory(handle, await unpack(path, whole ?? (await handle.readFile())));
  } catch (error) {
    await handle.close();
    throw error instanceof UserError ? error : fileTrouble(path, error);
  }
}

/**
 * What `use` makes of an open file, which is closed then.
 * @throws {UserError} if it cannot be opened or unpacked
 */
export async function withFile<Result>(
  path: string,
  use: (source: FileSource) => Promise<Result>,
  options?: OpenOptions,
): Promise<Result> {
  const source = await openFile(path, options);
  try {
    return await use(source);
  } finally {
    await source.close();
  }
}

/** Opens what can be read to its end. The look comes first: opening alone may wait for ever. */
async function openReadable(path: string): Promise<FileHandle> {
  try {
    const status = await stat(path);
    if (status.isDirectory()) throw new UserError(`${path} is a folder, not a file`);
    // Many devices never end: what a model's link or an override file names must not fill the memory.
    if (status.isCharacterDevice() || status.isBlockDevice()) throw new UserError(`${path} is a device, not a file`);
    // One that a shell passes on has someone at its other end; of one with a name no one knows.
    if (status.isFIFO() && !/^\/(dev\/(fd\/|stdin$)|proc\/)/.test(path))
      throw new UserError(`${path} is a named pipe. Save its output to a file first`);
    return await open(path, 'r');
  } catch (error) {
    throw error instanceof UserError ? error : fileTrouble(path, error);
  }
}

/** Whether a file is gzip-compressed, whatever its name. */
export async function isGzip(path: string): Promise<boolean> {
  const handle = await openReadable(path);
  try {
    return isGzipHead(await readAt(handle, 0, 2));
  } catch (error) {
    throw fileTrouble(path, error);
  } finally {
    await handle.close();
  }
}

const isGzipHead = (head: Uint8Array): boolean => head[0] === 0x1f && head[1] === 0x8b;

/**
 * The whole content of a file, unpacked where it is gzip-compressed.
 * @throws {UserError} if it cannot be read
 */
export async function readWhole(path: string): Promise<Uint8Array> {
  const source = await openFile(path);
  try {
    return await source.read(0, source.size);
  } catch (error) {
    throw fileTrouble(path, error);
  } finally {
    await source.close();
  }
}

/** Bytes that are read, or unpacked, at a time. */
const pieceBytes = 1 << 18;

/**
 * The bytes of a file from its start to its end, in pieces, each valid until the next is taken; a gzip-compressed one is
 * unpacked on the way. Where it was opened without unpacking, never more than a few pieces are in memory.
 * @throws {UserError} if it cannot be unpacked
 */
export async function* piecesOf(source: ByteSource, path: string): AsyncGenerator<Uint8Array> {
  if (!isGzipHead(await source.read(0, 2))) return yield* readPieces(source, new Uint8Array(pieceBytes));
  const unpacked = createGunzip({ chunkSize: pieceBytes });
  // An error of either side comes out of `unpacked`.
  pipeline(Readable.from(readPieces(source)), unpacked, () => undefined);
  try {
    yield* unpacked as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw damagedGzip(path, error);
  }
}

/** @param into memory for every piece, where none is used after the next */
async function* readPieces(source: ByteSource, into?: Uint8Array): AsyncGenerator<Uint8Array> {
  // oxlint-disable-next-line no-await-in-loop -- one piece after the other
  for (let offset = 0; offset < source.size; offset += pieceBytes) yield await source.read(offset, pieceBytes, into);
}

async function inMemory(handle: FileHandle, bytes: Uint8Array): Promise<FileSource> {
  await handle.close();
  return { ...bytesOf(bytes), close: () => Promise.resolve() };
}

/**
 * A model's tensors are skipped by a thousand small reads, each of which depends on the one before. A read takes
 * microseconds, the way to it and back through the thread pool many times that. So small reads are done on the spot,
 * but the process is never kept from its other work for longer than `patience` (and one read).
 */
function onDisk(handle: FileHandle, size: number): FileSource {
  let rested = -Infinity;
  return {
    size,
    read: async (offset, length, into) => {
      const wanted = Math.max(0, Math.min(length, size - offset));
      const memory = into !== undefined && into.length >= wanted ? into.subarray(0, wanted) : undefined;
      if (wanted <= smallRead && now() - rested < patience)
        return readNow(handle.fd, offset, memory ?? Buffer.allocUnsafe(wanted));
      const bytes = await readAt(handle, offset, wanted, memory);
      rested = now();
      return bytes;
    },
    close: () => handle.close(),
  };
}

function readNow(file: number, offset: number, buffer: Uint8Array): Uint8Array {
  const { length } = buffer;
  let filled = 0;
  while (filled < length) {
    const count = readSync(file, buffer, filled, length - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled === length ? buffer : buffer.subarray(0, filled);
}

async function readAt(
  handle: FileHandle,
  offset: number,
  length: number,
  buffer: Uint8Array = new Uint8Array(length),
): Promise<Uint8Array> {
  let filled = 0;
  // One read gives at most 2 GiB, and may give less than asked for.
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, Math.min(length - filled, 2 ** 30), offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

async function unpack(path: string, packed: Uint8Array): Promise<Uint8Array> {
  try {
    return await promisify(gunzip)(packed, { maxOutputLength: largestUnpacked });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE')
      throw new UserError(`${path} unpacks to more than 2 GiB. Unpack it with gunzip first`);
    throw damagedGzip(path, error);
  }
}

const damagedGzip = (path: string, error: unknown): UserError =>
  new UserError(`${path}: the gzip file is damaged or truncated (${errorText(error)}). Download or copy it again`);
