import { access, constants, stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { inspectFile } from '../../core/inspect/inspectFile.ts';
import { withFile } from './fileSource.ts';
import { ParsedFiles } from './parsedFiles.ts';
import { fileTrouble, UserError } from '../userError.ts';
import { externalLocations } from './writeModel.ts';

/**
 * Makes sure, before any work is done, that a file can be written to `out`, and that it takes the place of none that
 * the same command uses. Its folder may be missing: who writes makes it.
 * @param used files that are read or written next to it; a missing name is not a file
 * @throws {UserError} if it cannot be written, or is one of those, whatever the two names are (links, other spellings)
 */
export async function checkOutput(out: string, used: readonly (string | undefined)[]): Promise<void> {
  await checkName(out, used);
  await checkFolder(out);
}

/**
 * The same for a cache, which is read where it exists: then its folder may be one that cannot be written to.
 * @throws {UserError} also if it is another kind of file
 */
export async function checkCache(
  cache: string,
  wanted: 'timing-cache' | 'calibration-cache',
  used: readonly (string | undefined)[],
): Promise<void> {
  if (!(await checkName(cache, used))) return checkFolder(cache);
  await withFile(cache, async (source) => {
    const { kind, summary } = await inspectFile(source);
    if (kind !== wanted && kind !== 'unknown')
      throw new UserError(
        `${cache} would be overwritten but is not a ${wanted.replace('-', ' ')}: ${summary}. Choose another file`,
      );
  });
}

/** Whether the file already exists. */
async function checkName(out: string, used: readonly (string | undefined)[]): Promise<boolean> {
  if (out === '' || out.endsWith(sep) || out.endsWith('/'))
    throw new UserError(`'${out}' is not a file name. Pass the file to write`);
  const target = await existing(out);
  if (target?.isDirectory()) throw new UserError(`${out} is a folder. Pass the file to write`);
  // What is written takes the name: of /dev/null nothing would be left.
  if (target && !target.isFile()) throw new UserError(`${out} is not a regular file. Choose another file`);
  for (const file of used) {
    if (file === undefined) continue;
    const status = target && (await stat(file).catch(() => undefined));
    if (resolve(file) === resolve(out) || (status && status.dev === target.dev && status.ino === target.ino))
      throw new UserError(`${out} would overwrite the input ${file}. Choose another file`);
  }
  return target !== undefined;
}

/** The files that a model consists of: itself, and those of its weights, as far as it can be read. */
export async function filesOfModel(path: string): Promise<string[]> {
  const model = await new ParsedFiles().model(path).catch(() => undefined);
  return [path, ...(model ? weightFiles(path, externalLocations(model.value)) : [])];
}

/** Paths of a model's weights by the names that it has for them. */
export const weightFiles = (model: string, locations: Iterable<string>): string[] =>
  [...locations].map((location) => resolve(dirname(model), location));

async function existing(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fileTrouble(path, error);
  }
}

/** The folder, or the nearest one above it that is there, must be one to write to. */
async function checkFolder(out: string): Promise<void> {
  for (let folder = dirname(resolve(out)); ; folder = dirname(folder)) {
    // oxlint-disable-next-line no-await-in-loop -- the next one counts only where this one is missing
    const status = await existing(folder);
    if (!status) continue;
    if (!status.isDirectory()) throw new UserError(`${folder} is a file, not a folder`);
    return access(folder, constants.W_OK).catch((error: unknown) => {
      throw fileTrouble(folder, error);
    });
  }
}
