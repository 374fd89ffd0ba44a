import { posix, win32 } from 'node:path';

/**
 * What all spellings of one absolute path have in common: a key for maps and comparisons, never a path to open.
 * Windows compares without case and editors spell drives either way; macOS keeps names in a decomposed form.
 */
export function pathKey(path: string, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32') return win32.resolve(plainPath(path)).toLowerCase();
  const resolved = posix.resolve(path);
  return platform === 'darwin' ? resolved.normalize('NFC') : resolved;
}

/** Whether two paths name the same place, without asking the disk. */
export const isSamePath = (a: string, b: string, platform: NodeJS.Platform = process.platform): boolean =>
  pathKey(a, platform) === pathKey(b, platform);

/** A path without the prefix `\\?\` that Windows' own functions give back (`mkdir`, for one). */
export const plainPath = (path: string): string =>
  path.replace(/^\\\\\?\\UNC\\/i, '\\\\').replace(/^\\\\\?\\(?=[a-z]:)/i, '');
