import { posix, win32 } from 'node:path';

/** Lists of folders: programs, Python modules and native libraries are loaded from them. */
const lists = ['PATH', 'PYTHONPATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];
const folders = ['PYTHONHOME', 'PYTHONUSERBASE'];

/**
 * An environment in which nothing is loaded from the current folder. An empty or `.` entry of a list means that folder:
 * it goes, and relative entries become absolute, since the program may start elsewhere. Relative entries of the PATH go,
 * too, as `findProgram` skips them. An empty list is removed: some loaders take it for the current folder.
 * @param here the folder that relative entries belong to
 */
export function safeEnvironment(
  environment: NodeJS.ProcessEnv,
  here: string,
  platform: NodeJS.Platform = process.platform,
): NodeJS.ProcessEnv {
  const paths = platform === 'win32' ? win32 : posix;
  const safe = { ...environment };
  for (const [name, value] of Object.entries(environment)) {
    const known = platform === 'win32' ? name.toUpperCase() : name;
    if (folders.includes(known) && value) safe[name] = paths.resolve(here, value);
    if (!lists.includes(known) || value === undefined) continue;
    const kept = value
      .split(paths.delimiter)
      .filter((entry) => entry !== '' && (known !== 'PATH' || paths.isAbsolute(entry)))
      .map((entry) => (paths.isAbsolute(entry) ? entry : paths.resolve(here, entry)))
      .filter((entry) => entry !== paths.resolve(here) || value.split(paths.delimiter).includes(entry));
    if (kept.length > 0 || known === 'PATH') safe[name] = kept.join(paths.delimiter);
    else delete safe[name];
  }
  return safe;
}
