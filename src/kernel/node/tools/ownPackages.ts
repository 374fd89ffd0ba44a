import { dirname } from 'node:path';
import { before, parseVersion } from '../../build/trtexecFlags.ts';
import { errorText } from '../../base/problem.ts';
import { findPython, programOf, type Python } from './findPython.ts';
import type { PackageSetName } from './packageSets.ts';
import { runProcess } from './runProcess.ts';
import { Cancelled, stopIfCancelled, UserError } from '../files/userError.ts';
import { ensurePackages, findPackages, type Installed, type SetUpOptions } from './ensurePackages.ts';

/** Lowest versions of modules in an interpreter of the user's: those that the tests run. */
const accepted = { onnxruntime: '1.21', numpy: '1.21', onnx: '1.16' } as const;
export type PackageModule = keyof typeof accepted;

/** An interpreter of the user's that has modules. */
export interface OwnPackages {
  /** How to start it. */
  python: string;
  /** Its own path. */
  path: string;
  versions: Record<string, string>;
}

/** What the sets are for. */
export const modulesOf = {
  onnxruntime: ['onnxruntime', 'numpy'],
  calibration: ['onnxruntime', 'numpy', 'onnx'],
} as const satisfies Partial<Record<PackageSetName, readonly PackageModule[]>>;

/**
 * The first interpreter that has modules, each in a version that is tested: the chosen one, otherwise one on the PATH.
 * @throws {UserError} naming each interpreter that was tried and what is wrong with it; then `advice`
 */
export async function findOwnPackages(
  modules: readonly PackageModule[],
  options: { python?: string | undefined; signal?: AbortSignal | undefined; advice?: string },
): Promise<OwnPackages> {
  let versions: Record<string, string> = {};
  const python = await findPython({
    chosen: options.python,
    reject: async (found) => {
      const answer = await askModules(found, modules, options.signal);
      if (typeof answer === 'string') return answer;
      versions = answer;
      return undefined;
    },
    advice: options.advice ?? '',
  });
  return { python: programOf(python), path: python.path, versions };
}

export interface UseOptions extends SetUpOptions {
  /** The interpreter of a build: used if it has the packages. */
  buildPython?: string | undefined;
}

/**
 * A set that is ready to use: that of the chosen interpreter, the private copy, that of an interpreter on the PATH, or a
 * private copy that is made now. `trtlens setup` makes one at any time: it goes before what happens to be on the PATH.
 * @throws what `ensurePackages` throws
 */
export async function usePackages(name: keyof typeof modulesOf, options: UseOptions): Promise<Installed> {
  const { python, buildPython, signal } = options;
  const find = (chosen?: string) => findOwnPackages(modulesOf[name], { python: chosen, signal });
  const preferred = python ?? buildPython;
  const chosen = preferred === undefined ? undefined : await find(preferred).catch(passOn);
  if (chosen && !(chosen instanceof UserError)) return installedIn(chosen);
  const whole = await findPackages(name, options).catch(passOn);
  if (whole && !(whole instanceof UserError)) return whole;
  const found = chosen && python !== undefined ? chosen : await find().catch(passOn);
  if (!(found instanceof UserError)) return installedIn(found);
  if (python !== undefined) options.progress?.(`A private copy is needed. ${found.message}`);
  return ensurePackages(name, options);
}

const installedIn = ({ python, path, versions }: OwnPackages): Installed => ({
  folder: dirname(path),
  python,
  environment: {},
  version: versions['onnxruntime']!,
  used: { python: path, onnxruntime: versions['onnxruntime']!, numpy: versions['numpy']!, isPrivate: false },
});

function passOn(error: unknown): UserError {
  if (error instanceof UserError && !(error instanceof Cancelled)) return error;
  throw error;
}

/** Versions of modules, or why they do not do. Imported, since a module may not fit another one that is there. */
export async function askModules(
  python: Python,
  modules: readonly PackageModule[],
  signal?: AbortSignal,
): Promise<Record<string, string> | string> {
  const missing = modules.filter((name) => !python.modules.includes(name));
  if (missing.length > 0) return `it has no ${missing.join(', no ')}`;
  const lines: string[] = [];
  const errors: string[] = [];
  const program = `import json, ${modules.join(', ')}; print(json.dumps({m.__name__: m.__version__ for m in (${modules.join(', ')},)}))`;
  try {
    const { code } = await runProcess({
      program: programOf(python),
      args: ['-c', program],
      environment: { PYTHONHOME: undefined },
      stdout: (line) => lines.push(line),
      stderr: (line) => errors.push(line),
      ...(signal && { signal }),
    });
    stopIfCancelled(signal);
    if (code !== 0) return `its ${modules.join(' or ')} does not load: ${errors.at(-1) ?? `exit status ${code}`}`;
    const versions = JSON.parse(lines.at(-1) ?? '') as Record<string, string>;
    const isOld = (name: PackageModule) => {
      const version = parseVersion(versions[name]!);
      return !version || before(version, parseVersion(accepted[name])!);
    };
    const old = modules.find(isOld);
    return old === undefined ? versions : `its ${old} ${versions[old]} is older than ${accepted[old]}`;
  } catch (error) {
    if (error instanceof Cancelled) throw error;
    return errorText(error);
  }
}
