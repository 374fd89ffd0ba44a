import { constants } from 'node:fs';
import { copyFile, link, mkdir, realpath, rename, rm, symlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { plainPath } from './pathKey.ts';

// On Windows a virus scanner or an indexer holds new files open for a moment: both calls try again for about a second.
const retries = 5;
const pauseMs = 60;

/** Removes a file, or a folder with what is in it; nothing happens if there is none. */
export const removeTree = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: retries, retryDelay: pauseMs });

/** Renames a file or folder; an existing file is replaced. */
export async function renamePersistently(
  from: string,
  to: string,
  platform: NodeJS.Platform = process.platform,
  renameOnce = rename,
): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await renameOnce(from, to);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (platform !== 'win32' || tries === retries || !/^(EPERM|EACCES|EBUSY)$/.test(code ?? '')) throw error;
      await wait(pauseMs * (tries + 1));
    }
  }
}

/**
 * Gives a file a second name; an existing file stays. File systems such as exFAT have no links, and Windows
 * wants a right for symbolic ones: there it is copied.
 */
export async function linkOrCopy(from: string, to: string, ways: readonly MakeLink[] = [link, symlink]): Promise<void> {
  for (const make of ways) {
    try {
      await make(from, to);
      return;
    } catch (error) {
      if (/^(EEXIST|ENOENT)$/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  await copyFile(from, to, constants.COPYFILE_EXCL);
}
type MakeLink = (from: string, to: string) => Promise<void>;

/** Makes a folder and those above it. Gives the outermost one that was made, as other functions spell it. */
export async function makeFolder(path: string): Promise<string | undefined> {
  const made = await mkdir(path, { recursive: true });
  return made === undefined ? undefined : plainPath(made);
}

/** The path without links; as it is where the system cannot say, such as beyond 260 characters on Windows. */
export const realFolder = (path: string): Promise<string> => realpath(path).catch(() => resolve(path));
