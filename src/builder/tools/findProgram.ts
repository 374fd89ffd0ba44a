import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/**
 * The full path of a program: a path as it is, a bare name from the PATH; undefined if there is none. Folders of the
 * PATH that depend on where we stand (`.`, empty) are skipped: what is in an opened folder must not run by its name.
 */
export async function findProgram(
  program: string,
  path: string = process.env['PATH'] ?? '',
): Promise<string | undefined> {
  if (/[\\/]/.test(program)) return (await isProgram(program)) ? resolve(program) : undefined;
  const names = process.platform === 'win32' && !/\.exe$/i.test(program) ? [`${program}.exe`] : [program];
  for (const folder of path.split(delimiter).filter(isAbsolute))
    for (const name of names) if (await isProgram(join(folder, name))) return join(folder, name);
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
