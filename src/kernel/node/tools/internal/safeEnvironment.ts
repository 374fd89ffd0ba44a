import { posix, win32 } from 'node:path';

/** Lists of folders: programs, Python modules and native libraries are loaded from them. */
const lists = ['PATH', 'PYTHONPATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];
const single = ['PYTHONHOME', 'PYTHONUSERBASE', 'PIP_CONFIG_FILE', 'PIP_CERT', 'REQUESTS_CA_BUNDLE', 'SSL_CERT_FILE'];
/** Separated by white space, as pip reads them; some may be addresses. */
const places = ['PIP_FIND_LINKS', 'PIP_CONSTRAINT'];

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
    if (!value && !lists.includes(known)) continue;
    if (single.includes(known)) safe[name] = paths.resolve(here, value!);
    if (places.includes(known))
      safe[name] = value!.replace(/\S+/g, (place) => (/^[\w+-]{2,}:/.test(place) ? place : paths.resolve(here, place)));
    if (!lists.includes(known) || value === undefined) continue;
    const kept = value
      .split(paths.delimiter)
      .filter(
        (entry) => paths.isAbsolute(entry) || (known !== 'PATH' && paths.resolve(here, entry) !== paths.resolve(here)),
      )
      .map((entry) => paths.resolve(here, entry));
    if (kept.length > 0 || known === 'PATH') safe[name] = kept.join(paths.delimiter);
    else delete safe[name];
  }
  return safe;
}
