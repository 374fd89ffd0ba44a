import { lstat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { type FileSource, openFile } from './fileSource.ts';
import { fileTrouble, UserError } from '../userError.ts';

/**
 * Path of a file of external data that a model names, inside the model's folder and nowhere else: a model that came
 * from someone else must not make us read or write other files. The file itself need not be there.
 * @throws {UserError} for absolute paths, `..`, and symbolic links on the way
 */
export async function externalPath(folder: string, location: string): Promise<string> {
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
    if (status?.isSymbolicLink())
      throw new UserError(`${path} is a symbolic link, which is not followed. Replace it with the file.`);
  }
  return path;
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
