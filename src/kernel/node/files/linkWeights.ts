import { lstat, mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { OnnxModel } from '../../read/onnx/onnxModel.ts';
import { externalPath } from './externalFile.ts';
import { readModel } from '../../read/onnx/readModel.ts';
import { cacheFolder } from './cacheFolder.ts';
import { type FileSource, isGzip, withFile } from './fileSource.ts';
import { linkOrCopy, removeTree } from './persist.ts';
import { externalLocations } from './writeModel.ts';

/**
 * Puts a model and the files of its weights into a folder, without copying them if that is possible.
 * @param source the model's content
 * @returns path of the model there
 */
export async function linkWeights(path: string, model: OnnxModel, source: FileSource, folder: string): Promise<string> {
  const own = join(folder, unpackedName(path));
  if (await isGzip(path)) await writeFile(own, await source.read(0, source.size));
  else await linkFile(path, own);
  const home = dirname(await realpath(path));
  for (const location of externalLocations(model)) {
    const [from, to] = [await externalPath(dirname(path), location, home), await externalPath(folder, location)];
    await mkdir(dirname(to), { recursive: true });
    await linkFile(from, to);
  }
  return own;
}

export const unpackedName = (model: string): string => basename(model).replace(/\.gz$/i, '');

/** A weights file that is missing stays missing: that may be the failure. A link to a symbolic link would be as relative. */
const linkFile = async (from: string, to: string): Promise<void> => {
  await realpath(from)
    .then((real) => linkOrCopy(real, to))
    .catch(() => {});
};

/**
 * Calls `work` with a path of the model that is no symbolic link: ONNX Runtime reads weights only from the folder in which
 * a model really is, and in a cache of Hugging Face a model and its data are links to files with other names.
 */
export async function withoutLinks<Result>(path: string, work: (path: string) => Promise<Result>): Promise<Result> {
  const status = await lstat(path).catch(() => undefined);
  if (!status?.isSymbolicLink()) return work(path);
  const parent = join(cacheFolder(), 'repair');
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, 'try-'));
  try {
    return await withFile(path, async (source) => {
      const { value: model } = await readModel(source);
      return work(model ? await linkWeights(path, model, source, folder) : path);
    });
  } finally {
    await removeTree(folder);
  }
}
