import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { RuntimeUsed } from '../../base/runtimeUsed.ts';
import { errorText } from '../../base/problem.ts';
import { cacheFolder } from '../files/cacheFolder.ts';
import { withFolderLock } from '../files/folderLock.ts';
import { Cancelled, stopIfCancelled, UserError } from '../files/userError.ts';
import { findPython, type Python } from './findPython.ts';
import { readInventory, whatDiffers, writeInventory } from './internal/inventory.ts';
import { type PackageSet, packageSets, type PackageSetName } from './packageSets.ts';
import { interpreterIn, makeEnvironment, type Pip, quietPip, siteIn } from './internal/privateEnvironment.ts';
import { offlineAdvice } from './offlineAdvice.ts';
import { runProcess } from './runProcess.ts';
import { exists } from '../files/exists.ts';
import { removeTree } from '../files/persist.ts';

/** A package set that is ready to use. */
export interface Installed {
  folder: string;
  /** The interpreter to run scripts with. */
  python: string;
  /** What has to be in its environment. */
  environment: Record<string, string>;
  version: string;
  /** Of the sets with ONNX Runtime: what reports say of it. */
  used?: RuntimeUsed;
}

export interface SetUpOptions {
  /** Asks before anything is downloaded. Not called when everything already exists. */
  confirm: (text: string) => Promise<boolean>;
  /** One line for the user at a time. */
  progress?: (line: string) => void;
  signal?: AbortSignal | undefined;
  /** The interpreter to use; if omitted, one is searched for. */
  python?: string | undefined;
  /** Default: `cacheFolder()`. */
  cache?: string | undefined;
  /** Also import the packages that already exist: finds damage that leaves the sizes of all files as they were. */
  tryImport?: boolean;
}

/** Consent was requested and not given. */
export class NotConfirmed extends UserError {}

/**
 * Sets a package set up for the user alone, once, and says where it is. It comes as ready-made wheels through pip, with
 * the user's own pip configuration, into a virtual environment of its own or, where Python has none, a plain folder.
 * Two at a time wait for each other; a set-up that was cut off, or whose files were damaged since, is done again from
 * the start.
 * @throws {NotConfirmed} if `confirm` says no
 * @throws {UserError} if this machine cannot run it or the wheels is not available, with what to do
 */
export async function ensurePackages(name: PackageSetName, options: SetUpOptions): Promise<Installed> {
  const set = packageSets[name];
  const python = await findPython({ chosen: options.python, reject: set.reject, advice: set.advice });
  const folder = folderOf(name, python, options.cache);
  const find = () => findWhole(set, folder, python, options);
  const ready = await find();
  if (typeof ready === 'object') return ready;
  if (ready !== undefined)
    options.progress?.(`Reinstalling ${set.title} because the installation in ${folder} is damaged: ${ready}`);
  if (!(await options.confirm(consentText(set, folder))))
    throw new NotConfirmed(`${set.title} was not installed: not confirmed`);
  const waiting = () => options.progress?.(`Waiting for another installation of ${set.title} to finish …`);
  const work = async () => {
    const made = await find();
    return typeof made === 'object' ? made : install(set, python, folder, options);
  };
  return withFolderLock(folder, work, { waiting, signal: options.signal });
}

/** A package set that is set up already and whole, without asking or downloading anything. */
export async function findPackages(
  name: PackageSetName,
  options: Pick<SetUpOptions, 'python' | 'cache'> = {},
): Promise<Installed | undefined> {
  const set = packageSets[name];
  const python = await findPython({ chosen: options.python, reject: set.reject, advice: set.advice });
  const found = await findWhole(set, folderOf(name, python, options.cache), python, {});
  return typeof found === 'object' ? found : undefined;
}

const folderOf = (name: PackageSetName, python: Python, cache = cacheFolder()): string =>
  resolve(cache, `${name}-${packageSets[name].version}-${python.tag}-${python.platform}`);

/** What is downloaded, how much, from where, under which license and where to. */
const consentText = (set: PackageSet, folder: string): string => [...set.consent, folder].join('\n');

/**
 * The installation in a folder, or what is wrong with it; undefined: there is none, or half of one (the inventory is
 * written last). Environments of earlier versions have no list of their files: they are imported once, then listed.
 */
async function findWhole(
  set: PackageSet,
  folder: string,
  python: Python,
  { tryImport = false, signal }: Pick<SetUpOptions, 'tryImport' | 'signal'>,
): Promise<Installed | string | undefined> {
  const inventory = await readInventory(folder);
  if (inventory === undefined) return undefined;
  const found = await locate(set, folder, python);
  if (found === undefined) return 'its Python interpreter is missing';
  const unlisted = inventory === 'unlisted';
  const differs = unlisted ? undefined : await whatDiffers(folder, inventory);
  if (differs !== undefined) return differs;
  if (!tryImport && !unlisted) return found;
  const why = await whyNotImported(set, found, signal);
  if (why !== undefined) return why;
  if (unlisted) await writeInventory(folder);
  return found;
}

/** undefined: an environment whose base interpreter was removed. */
async function locate({ version, wheels }: PackageSet, folder: string, python: Python): Promise<Installed | undefined> {
  const own = interpreterIn(folder);
  const site = siteIn(folder);
  const used = (program: string) => usedOf(wheels, program);
  if (await exists(own)) return { folder, python: own, environment: {}, version, ...used(own) };
  if (!(await exists(site))) return undefined;
  return { folder, python: python.path, environment: { PYTHONPATH: site }, version, ...used(python.path) };
}

function usedOf(wheels: readonly string[], python: string): { used?: RuntimeUsed } {
  const pinned = new Map(wheels.map((wheel) => wheel.split('==') as [string, string]));
  const [onnxruntime, numpy] = [pinned.get('onnxruntime'), pinned.get('numpy')];
  return onnxruntime !== undefined && numpy !== undefined
    ? { used: { python, onnxruntime, numpy, isPrivate: true } }
    : {};
}

async function install(set: PackageSet, python: Python, folder: string, options: SetUpOptions): Promise<Installed> {
  const { progress = () => {}, signal } = options;
  const { title, version, wheels, optional } = set;
  await removeTree(folder);
  await mkdir(folder, { recursive: true });
  try {
    progress(`Installing ${title} ${version} with ${python.path} (Python ${python.version.join('.')}) in ${folder}`);
    const pip = await makeEnvironment(python, folder, progress, signal);
    progress('Downloading the wheels …');
    const arguments_ = ['--no-deps', '--only-binary=:all:', ...wheels];
    await runPip(pip, arguments_, `the wheels of ${title}`, progress, signal).catch((error: unknown) => {
      if (!(error instanceof UserError) || error instanceof Cancelled) throw error;
      throw new UserError(`${error.message} ${offlineAdvice(wheels, python, set.usesOwn ? 'pip' : 'again')}`);
    });
    if (optional !== undefined)
      await runPip(pip, ['--no-deps', optional.package], optional.package, progress, signal).catch((error: unknown) => {
        if (error instanceof Cancelled) throw error;
        progress(`Could not install ${optional.package}: ${optional.without}.`);
      });
    const installed = (await locate(set, folder, python))!;
    const why = await whyNotImported(set, installed, signal);
    if (why !== undefined) throw new UserError(`${title} was installed but does not load: ${why}`);
    await writeInventory(folder);
    progress(`${title} ${version} is ready.`);
    return installed;
  } catch (error) {
    await removeTree(folder);
    throw error;
  }
}

async function runPip(
  pip: Pip,
  packages: string[],
  what: string,
  progress: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const lines: string[] = [];
  const keep = (line: string) => {
    lines.push(line);
    if (/^(Collecting|Downloading|Installing|Successfully|  Downloading|Using cached)/.test(line))
      progress(line.trim());
  };
  const end = await runProcess({
    program: pip.program,
    args: [...pip.args, ...packages],
    environment: pip.environment,
    stdout: keep,
    stderr: keep,
    ...(signal && { signal }),
  });
  stopIfCancelled(signal);
  if (end.code === 0) return;
  const reason = lines.filter((line) => /error/i.test(line)).at(-1) ?? lines.at(-1) ?? `exit status ${end.code}`;
  throw new UserError(
    `Could not install ${what}: ${reason.trim()}. Check that the network is up and that your package index has it. Behind a proxy or mirror, configure pip (pip config set global.index-url …) and try again.`,
  );
}

/** The last line of the error; undefined: it imports. An old C library or a missing libstdc++ shows here, not later. */
async function whyNotImported(
  { check }: PackageSet,
  { python, environment }: Installed,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const lines: string[] = [];
  try {
    const { code } = await runProcess({
      program: python,
      args: ['-c', check],
      environment: { ...quietPip, ...environment },
      stderr: (line) => lines.push(line),
      ...(signal && { signal }),
    });
    stopIfCancelled(signal);
    return code === 0 ? undefined : (lines.at(-1) ?? `exit status ${code}`);
  } catch (error) {
    if (error instanceof Cancelled) throw error;
    return errorText(error);
  }
}
