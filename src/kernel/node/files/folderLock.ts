import { link, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { processStart } from './internal/processStart.ts';
import { linkOrCopy, removeTree, renamePersistently } from './persist.ts';
import { fileTrouble, stopIfCancelled } from './userError.ts';

/**
 * Runs `work` while no other process does so for the same folder: the file `<folder>.lock` names the process that is
 * at it. A lock whose process is gone counts for nothing.
 * @param waiting called once when someone else holds the lock
 */
export async function withFolderLock<T>(
  folder: string,
  work: () => Promise<T>,
  {
    waiting,
    signal,
    makeLink = link,
  }: { waiting?: () => void; signal?: AbortSignal | undefined; makeLink?: MakeLink } = {},
): Promise<T> {
  const lock = `${folder}.lock`;
  await mkdir(dirname(lock), { recursive: true }).catch((error: unknown) => {
    throw fileTrouble(dirname(lock), error);
  });
  let told = false;
  while (!(await take(lock, makeLink))) {
    stopIfCancelled(signal);
    if (!told) waiting?.();
    told = true;
    await wait(200);
  }
  try {
    return await work();
  } finally {
    await removeTree(lock);
  }
}

type MakeLink = (from: string, to: string) => Promise<void>;

let taken = 0;

async function take(lock: string, makeLink: MakeLink): Promise<boolean> {
  // A link appears with its content, a copy, where there are no links, a moment before it.
  taken += 1;
  const own = `${lock}.${process.pid}.${taken}`;
  await writeFile(own, String(process.pid));
  try {
    await linkOrCopy(own, lock, [makeLink]);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await dropStale(lock, `${own}.old`, makeLink);
    return false;
  } finally {
    await removeTree(own);
  }
}

async function dropStale(lock: string, aside: string, makeLink: MakeLink): Promise<void> {
  if (await hasLiveOwner(lock)) return;
  try {
    await renamePersistently(lock, aside);
    // Another process may have been quicker and hold the lock by now: then it was theirs that was moved.
    if (await hasLiveOwner(aside)) await linkOrCopy(aside, lock, [makeLink]);
    await removeTree(aside);
  } catch {
    // Gone already: the next try decides.
  }
}

async function hasLiveOwner(lock: string): Promise<boolean> {
  const [text, written] = await Promise.all([readFile(lock, 'utf8'), stat(lock)]).catch(() => ['', undefined] as const);
  // Someone is just writing it.
  if (text === '' && written !== undefined && Date.now() - written.mtimeMs < 1000) return true;
  const owner = Number(text);
  return owner > 0 && written !== undefined && (await isStillAlive(owner, written.mtime));
}

/**
 * Whether the process that did something at a time still runs: ids are used again, and a process that began later is
 * another one.
 */
export async function isStillAlive(
  pid: number,
  since: Date,
  startOf: (pid: number) => Promise<Date | undefined> = processStart,
): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const start = await startOf(pid);
  // Two seconds for clocks that are read at different moments, one of them in whole seconds.
  return start === undefined || start.getTime() <= since.getTime() + 2000;
}

/** Whether a process with this id runs on this machine. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
