import type { CheckFinding } from '../../build/diagnosis.ts';
import { lstat, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { errorText } from '../../base/problem.ts';
import { counted, thousands } from '../../base/text.ts';
import { byteLength, modelTensors, type OnnxModel } from '../../read/onnx/onnxModel.ts';
import { type FileSource, openFile } from './fileSource.ts';
import { fileTrouble, UserError } from './userError.ts';

/**
 * Path of a file of external data that a model names, inside the model's folder and nowhere else: a model that came
 * from someone else must not make us read or write other files. The file itself need not be there.
 * @param home for reading: a folder into which symbolic links may lead, which is where the model itself really is (in a
 * cache of Hugging Face, every file is such a link)
 * @throws {UserError} for absolute paths, `..`, and other symbolic links on the way
 */
export async function externalPath(folder: string, location: string, home?: string): Promise<string> {
  const parts = location.replaceAll('\\', '/').split('/');
  const steps = parts.filter((part) => part !== '' && part !== '.');
  const what = `The model's external data "${location}"`;
  if (isAbsolute(location) || parts[0] === '' || /^[A-Za-z]:/.test(location) || location.includes('\0'))
    throw new UserError(`${what} is not inside the model's folder. Save the model with its data next to it.`);
  if (steps.length === 0 || steps.includes('..'))
    throw new UserError(`${what} points outside the model's folder. Save the model with its data next to it.`);
  let path = folder;
  for (const step of steps) {
    path = join(path, step);
    const status = await lstat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw fileTrouble(path, error);
    });
    if (status?.isSymbolicLink() && !(await leadsInto(path, home)))
      throw new UserError(`${path} is a symbolic link, which is not followed. Replace it with the file.`);
  }
  return path;
}

async function leadsInto(link: string, home: string | undefined): Promise<boolean> {
  if (home === undefined) return false;
  const end = await realpath(link).catch(() => '');
  return end.startsWith(join(home, sep));
}

/**
 * Opens a file of external data, as it is on disk.
 * @throws {UserError} if it is outside the model's folder, is missing or no file
 */
export async function openExternal(folder: string, location: string): Promise<FileSource> {
  const path = await externalPath(folder, location);
  const status = await lstat(path).catch((error: unknown) => {
    const { message } = fileTrouble(path, error);
    throw new UserError(`${message}. The new model needs these weights.`);
  });
  if (!status.isFile()) throw new UserError(`${path}: the external data of the model is not a regular file`);
  return openFile(path, { unpack: false });
}

/** What a build will miss of a model's external data: files that are missing or too short, by their sizes alone. */
export async function missingData(path: string, model: OnnxModel): Promise<CheckFinding[]> {
  /** By file: the tensor that ends last in it, and where. */
  const ends = new Map<string, { tensor: string; end: number }>();
  for (const { name, type, shape, data } of modelTensors(model)) {
    if (!data || !('external' in data)) continue;
    const { location = '', offset = '0', length = byteLength(type, shape) } = data.external;
    const end = Number(offset) + Number(length);
    if (!((ends.get(location)?.end ?? -1) >= end)) ends.set(location, { tensor: name, end });
  }
  const found: CheckFinding[] = [];
  for (const [location, { tensor, end }] of ends) {
    const base = { code: 'weights-missing', nodes: [], tensors: [tensor] };
    try {
      // oxlint-disable-next-line no-await-in-loop -- a few files
      const file = await externalPath(dirname(path), location);
      // oxlint-disable-next-line no-await-in-loop -- a few files
      const status = await lstat(file).catch(() => undefined);
      // A model may be checked without its weights; a file that is cut off is of no use.
      if (status === undefined)
        found.push({
          ...base,
          severity: 'warning',
          message: `The external data ${location} is missing.`,
          advice: 'Put it next to the model, or build with --random-weights.',
        });
      else if (status.size < end)
        found.push({
          ...base,
          severity: 'error',
          message: `The external data ${location} has ${counted(status.size, 'byte')}, and tensor ${tensor} ends at ${thousands(end)}.`,
          advice: 'Download or export it again.',
        });
    } catch (error) {
      found.push({
        ...base,
        severity: 'unknown',
        message: `Whether the external data ${location} is complete is not known.`,
        advice: errorText(error),
      });
    }
  }
  return found;
}
