import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { processStart } from './internal/processStart.ts';
import { fileTrouble, stopIfCancelled } from '../userError.ts';

/**
 * Runs `work` while no other process does so for the same folder: the file `<folder>.lock` names the process that is
 * at it. A lock whose process is gone counts for nothing.
 * @param waiting called once when someone else holds the lock
 */
export async function withFolderLock<T>(
  folder: string,
  work: () => Promise<T>,
  { waiting, signal }: { waiting?: () => void; signal?: AbortSignal | undefined } = {},
): Promise<T> {
  const lock = `${folder}.lock`;
  await mkdir(dirname(lock), { recursive: true }).catch((error: unknown) => {
    throw fileTrouble(dirname(lock), error);
  });
  let told = false;
  while (!(await take(lock))) {
    stopIfCancelled(signal);
    if (!told) waiting?.();
    told = true;
    await wait(200);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

let taken = 0;

async function take(lock: string): Promise<boolean> {
  // A link appears with its content, so there is never a lock without an owner's name.
  taken += 1;
  const own = `${lock}.${process.pid}.${taken}`;
  await writeFile(own, String(process.pid));
  try {
    await link(own, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await dropStale(lock, `${own}.old`);
    return false;
  } finally {
    await rm(own, { force: true });
  }
}

async function dropStale(lock: string, aside: string): Promise<void> {
  if (await hasLiveOwner(lock)) return;
  try {
    await rename(lock, aside);
    // Another process may have been quicker and hold the lock by now: then it was theirs that was moved.
    if (await hasLiveOwner(aside)) await link(aside, lock);
    await rm(aside, { force: true });
  } catch {
    // Gone already: the next try decides.
  }
}

async function hasLiveOwner(lock: string): Promise<boolean> {
  const [text, written] = await Promise.all([readFile(lock, 'utf8'), stat(lock)]).catch(() => ['', undefined] as const);
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
