import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve, win32 } from 'node:path';

/**
 * The full path of a program: a path as it is, a bare name from the PATH; undefined if there is none. Folders of the
 * PATH that depend on where we stand (`.`, empty) are skipped: what is in an opened folder must not run by its name.
 */
export async function findProgram(
  program: string,
  path: string = process.env['PATH'] ?? '',
): Promise<string | undefined> {
  if (/[\\/]/.test(program)) return (await isProgram(program)) ? resolve(program) : undefined;
  const name = process.platform === 'win32' && !/\.exe$/i.test(program) ? `${program}.exe` : program;
  for (const folder of path.split(delimiter).filter(isAbsolute))
    if (await isProgram(join(folder, name))) return join(folder, name);
  return undefined;
}

/** A program of Windows itself: from its own folder, not from the PATH. */
export const windowsProgram = (name: string, environment: NodeJS.ProcessEnv = process.env): string =>
  win32.join(environment['SystemRoot'] ?? 'C:\\Windows', 'System32', name);

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
