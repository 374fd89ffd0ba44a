import { quoteCommand } from './quoteCommand.ts';

/**
 * A template that runs a build's command elsewhere: in a container, on another host, by a cluster. Texts may hold
 * `{name}`s, see `LaunchPlaces`.
 */
export interface Launcher {
  /**
   * The command line. One element is `{command}`, for the build's program and arguments, one element each; or holds
   * `{shell}`, for the same as one text, quoted for a POSIX shell: what ssh needs.
   */
  command: string[];
  /** Folders here, and what they are called there: the mounts of a container, a shared file system. */
  paths?: { here: string; there: string }[];
  /**
   * Folder there for files that no path covers: they are copied to and from it. Made before the build, removed after,
   * so its name has to hold `{id}`.
   */
  folder?: string;
  /** Copies one file: `{here}` and `{there}` are its paths. Needed with `folder`. */
  copyTo?: string[];
  copyBack?: string[];
  /** The program there. Default: the backend's own name, found by the PATH of that place. */
  program?: string;
  /** Whether a small shell script watches the program there, so that a cancel reaches it. Default: true. */
  guard?: boolean;
}

/** What the names in a launcher's texts stand for. */
export interface LaunchPlaces {
  /** Unique to the build. */
  id: string;
  /** Folder of the build, of its model, and of `build_engine.py`, here. */
  folder: string;
  modelFolder: string;
  driverFolder: string;
}

const known: Record<keyof Launcher, (value: unknown) => boolean> = {
  command: (value) => isTexts(value) && value.length > 0,
  paths: (value) =>
    Array.isArray(value) &&
    value.every(
      (one: unknown) =>
        isObject(one) &&
        typeof one['here'] === 'string' &&
        typeof one['there'] === 'string' &&
        Object.keys(one).length === 2,
    ),
  // It is removed afterwards: it must be one that no one else has.
  folder: (value) => typeof value === 'string' && /^\/(?!.*\.\.).*\{id\}[^/]*$/.test(value),
  copyTo: isTexts,
  copyBack: isTexts,
  program: (value) => typeof value === 'string' && value !== '',
  guard: (value) => typeof value === 'boolean',
};

/**
 * Reads a launcher that the user wrote, which may be anything: the launcher, or in a sentence what is wrong with it.
 */
export function readLauncher(value: unknown): Launcher | string {
  if (!isObject(value)) return 'A launcher must be an object with a "command".';
  for (const [name, given] of Object.entries(value)) {
    if (!Object.hasOwn(known, name))
      return `Unknown launcher key "${name}"; keys are ${Object.keys(known).join(', ')}.`;
    if (!known[name as keyof Launcher](given))
      return `"${name}" of the launcher: ${JSON.stringify(given)} is not ${expected[name as keyof Launcher]}.`;
  }
  const launcher = value as unknown as Launcher;
  if (!Array.isArray(launcher.command)) return 'The launcher has no "command".';
  const places = launcher.command.filter((one) => one === '{command}' || one.includes('{shell}'));
  if (places.length !== 1)
    return 'Exactly one element of the launcher\'s "command" must be {command} or contain {shell}, the command of the build.';
  if (launcher.folder !== undefined && !(launcher.copyTo && launcher.copyBack))
    return 'A launcher with a "folder" needs "copyTo" and "copyBack".';
  for (const copy of [launcher.copyTo, launcher.copyBack])
    if (copy && !(copy.join('\n').includes('{here}') && copy.join('\n').includes('{there}')))
      return '"copyTo" and "copyBack" of a launcher must contain {here} and {there}, the two paths of a file.';
  return launcher;
}

const expected: Record<keyof Launcher, string> = {
  command: 'a list of strings',
  paths: 'a list of { "here", "there" }',
  folder: 'an absolute path whose last component contains {id}',
  copyTo: 'a list of strings',
  copyBack: 'a list of strings',
  program: 'a string',
  guard: 'true or false',
};

/** Fills `{name}`s; names that are not given stay as they are. */
export const fill = (text: string, names: Record<string, string>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => names[name] ?? whole);

/**
 * The command line that runs `command` there.
 * @param environment variables that it needs there
 * @param remove a folder there that goes when the program is ended because no one is left who wants it
 */
export function launchedCommand(
  launcher: Launcher,
  places: LaunchPlaces,
  command: string[],
  environment: Record<string, string> = {},
  remove = 'tensorrt-lens',
): string[] {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const needed = variables.length > 0 ? ['env', ...variables, ...command] : command;
  const guarded = launcher.guard === false ? needed : ['sh', '-c', guard, remove, ...needed];
  return launcher.command.flatMap((one) =>
    one === '{command}' ? guarded : [fill(one, { ...places, shell: quoteCommand(guarded) })],
  );
}

/** A file's path there: by the longest of the launcher's paths that covers it; undefined: none does. */
export function pathThere(launcher: Launcher, places: LaunchPlaces, path: string): string | undefined {
  const covering = (launcher.paths ?? [])
    .map(({ here, there }) => ({
      here: trimmed(fill(here, { ...places })),
      there: trimmed(fill(there, { ...places })),
    }))
    .filter(({ here }) => path === here || path.startsWith(`${here}/`) || path.startsWith(`${here}\\`))
    .toSorted((a, b) => b.here.length - a.here.length)[0];
  return covering && covering.there + path.slice(covering.here.length).replaceAll('\\', '/');
}

/**
 * Runs there, as `sh -c guard name program arguments`. The program gets a process group of its own, which ends when
 * this script is asked to, or when its stdin closes: then no one is left who wants the program to run. Job control
 * would give it that group, too, but not in every shell without a terminal; so only where `setsid` is missing. A name
 * that is a path is a folder to remove if no one is left.
 */
const guard = `g=setsid
command -v setsid >/dev/null 2>&1 || { g=; set -m 2>/dev/null; }
k() { kill "-$1" "-$2" 2>/dev/null || kill "-$1" "$2" 2>/dev/null; }
gone=
trap 'k TERM $p' TERM INT HUP
trap 'gone=1' USR1
trap : PIPE
exec 3<&0
$g "$@" <&3 & p=$!
{ cat <&3; kill -USR1 $$; k TERM $p; sleep 1; k KILL $p; } >/dev/null 2>&1 & w=$!
while :; do wait $p; s=$?; kill -0 $p 2>/dev/null || break; done
k KILL $p; k KILL $w
[ "$gone" ] || [ $s = 141 ] && case $0 in /*) rm -rf "$0";; esac
exit $s`;

const trimmed = (path: string): string => (path.length > 1 ? path.replace(/[\\/]+$/, '') : path);

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string' && !one.includes('\0'));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
