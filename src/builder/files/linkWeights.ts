import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { OnnxModel } from '../../core/formats/onnx/onnxModel.ts';
import { externalPath } from './externalFile.ts';
import { type FileSource, isGzip } from './fileSource.ts';
import { linkOrCopy } from './persist.ts';
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
  for (const location of externalLocations(model)) {
    const [from, to] = [await externalPath(dirname(path), location), await externalPath(folder, location)];
    await mkdir(dirname(to), { recursive: true });
    await linkFile(from, to);
  }
  return own;
}

export const unpackedName = (model: string): string => basename(model).replace(/\.gz$/i, '');

/** A weights file that is missing stays missing: that may be the failure. */
const linkFile = (from: string, to: string): Promise<void> => linkOrCopy(from, to).catch(() => {});
