import { resolve } from 'node:path';
import type { BuildFilePaths } from './internal/buildFilePaths.ts';
import type { EngineOptions } from '../../build/buildOptions.ts';
import { isFile } from '../files/exists.ts';

/** Options with full paths: the program may start in another folder. */
export async function absoluteOptions(options: EngineOptions): Promise<EngineOptions> {
  const full: EngineOptions = { ...options, model: resolve(options.model) };
  for (const name of ['timingCache', 'calibrationCache'] as const)
    if (full[name] !== undefined) full[name] = resolve(full[name]);
  // A bare name is searched for where the system keeps libraries.
  if (full.plugins) full.plugins = full.plugins.map((library) => (/[\\/]/.test(library) ? resolve(library) : library));
  if (full.extraArguments) full.extraArguments = await Promise.all(full.extraArguments.map(absoluteArgument));
  return full;
}

export const absoluteFiles = (files: BuildFilePaths): BuildFilePaths =>
  Object.fromEntries(
    Object.entries(files).map(([name, path]) => [name, path && resolve(path as string)]),
  ) as BuildFilePaths;

/** An argument that names a file here, as `loader.py` or `--loader=loader.py`, with its full path. */
async function absoluteArgument(argument: string): Promise<string> {
  const [, flag, path] = /^(-[^=]*=)?(.*)$/s.exec(argument)!;
  return (await isFile(path!)) ? `${flag ?? ''}${resolve(path!)}` : argument;
}
