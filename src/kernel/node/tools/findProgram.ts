import { constants } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { join, posix, resolve, win32 } from 'node:path';

/**
 * The full path of a program: a path as it is, a bare name from the PATH; undefined if there is none. Folders of the
 * PATH that depend on where we stand (`.`, empty) are skipped: what is in an opened folder must not run by its name.
 */
export async function findProgram(
  program: string,
  path: string = process.env['PATH'] ?? '',
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  if (/[\\/]/.test(program)) return (await isProgram(program)) ? resolve(program) : undefined;
  const paths = platform === 'win32' ? win32 : posix;
  // A batch file is found to say that it cannot run: only a shell can run it.
  const endings = platform === 'win32' && !isNamedInFull(program) ? ['.exe', '.bat', '.cmd'] : [''];
  for (const folder of path.split(paths.delimiter).filter((one) => paths.isAbsolute(one)))
    for (const ending of endings)
      if (await isProgram(join(folder, program + ending))) return join(folder, program + ending);
  return undefined;
}

/**
 * The full path of a program: as `findProgram`, and where the PATH has none, from the folder into which its own
 * installer puts it.
 */
export async function findInstalled(program: string): Promise<string | undefined> {
  return (await findProgram(program)) ?? findProgram(program, await usualFolders(program));
}

/**
 * Where an installer puts a program without adding the folder to the PATH, as a PATH, the newest version first.
 * @param root where the system's own paths begin, for tests
 */
export async function usualFolders(
  program: string,
  platform: NodeJS.Platform = process.platform,
  root = platform === 'win32' ? (process.env['ProgramFiles'] ?? 'C:\\Program Files') : '/',
): Promise<string> {
  if (program === 'trtexec' && platform === 'linux') return join(root, 'usr/src/tensorrt/bin');
  if (program !== 'nsys') return '';
  const [parent, folder] =
    platform === 'win32' ? ['NVIDIA Corporation', 'target-windows-x64'] : ['opt/nvidia/nsight-systems', 'bin'];
  const versions = await readdir(join(root, parent)).catch(() => []);
  const natural = new Intl.Collator('en', { numeric: true });
  const found = versions.filter((name) => /^(?:Nsight Systems )?\d+\./.test(name)).toSorted(natural.compare);
  return found
    .toReversed()
    .map((version) => join(root, parent, version, folder))
    .join(platform === 'win32' ? ';' : ':');
}

/** Whether a file is one that Windows runs by a shell only. */
export const isBatchFile = (program: string): boolean => /\.(?:bat|cmd)$/i.test(program);

const isNamedInFull = (program: string): boolean => /\.exe$/i.test(program) || isBatchFile(program);

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
