import { createHash, randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileTrouble } from './userError.ts';
import { isAlive } from './folderLock.ts';
import { removeTree, renamePersistently } from './persist.ts';

/** Writes a file whole or not at all. For results that a user named, `writeResult` checks what it would replace. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = await temporaryFor(path);
  try {
    await writeFile(temporary, content);
    await renamePersistently(temporary, path);
  } catch (error) {
    await removeTree(temporary).catch(() => {});
    throw fileTrouble(path, error);
  }
}

/** Moves a file whole or not at all, across file systems too; nothing happens if it does not exist. */
export async function moveAtomically(from: string, to: string): Promise<void> {
  let temporary: string | undefined;
  try {
    if ((await stat(from).catch(() => undefined)) === undefined) return;
    await mkdir(dirname(to), { recursive: true });
    // Two builds at once may share a cache.
    const middle = (temporary = await temporaryFor(to));
    await renamePersistently(from, middle).catch(async () => {
      await copyFile(from, middle);
      await removeTree(from);
    });
    await renamePersistently(middle, to);
  } catch (error) {
    if (temporary !== undefined) await removeTree(temporary);
    throw fileTrouble(to, error);
  }
}

/**
 * A name next to a file under which its new content is written before it takes the file's name. What killed processes
 * left of the same file is removed.
 */
export async function temporaryFor(path: string): Promise<string> {
  await removeLeftovers(dirname(resolve(path)), `${basename(path)}.`);
  return `${path}.${process.pid}-${here}-${randomUUID().slice(0, 8)}.tmp`;
}

/**
 * Makes a folder for the files of one run, and the folders above it, and removes those of killed runs.
 * @param prefix of its name, such as `try-`
 */
export async function temporaryFolder(parent: string, prefix: string): Promise<string> {
  await mkdir(parent, { recursive: true });
  await removeLeftovers(parent, prefix);
  return mkdtemp(join(parent, `${prefix}${process.pid}-${here}-`));
}

/** On another machine, or in another container that shares the folder, a run may still be at it for so long. */
const ELSEWHERE_MS = 7 * 24 * 3_600_000;

/** Where the ids of processes mean the same: this machine, or this container. */
const here = createHash('sha256').update(`${hostname()} ${pidNamespace()}`).digest('hex').slice(0, 8);

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** Removes what processes that are gone left: names of `prefix`, the id of a process, where it ran, and a rest. */
async function removeLeftovers(folder: string, prefix: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(prefix)) continue;
    const [, pid, place] =
      /^(\d+)-([0-9a-f]{8})-(?:[0-9a-f]{8}\.tmp|[A-Za-z0-9]{6})$/.exec(name.slice(prefix.length)) ?? [];
    if (pid === undefined || (place === here && isAlive(Number(pid)))) continue;
    const path = join(folder, name);
    // oxlint-disable-next-line no-await-in-loop -- seldom any
    const status = await stat(path).catch(() => undefined);
    if (status && (place === here || Date.now() - status.mtimeMs > ELSEWHERE_MS))
      // oxlint-disable-next-line no-await-in-loop -- seldom any
      await removeTree(path).catch(() => {});
  }
}
