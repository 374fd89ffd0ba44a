// `node:fs/promises` over the editor's file systems: what the viewing path uses of it. A path is that of a URI.
import * as vscode from 'vscode';
import { sizeText } from '../../../../core/base/text.ts';
import { fileUri } from '../fileUri.ts';
import { opened } from './openFiles.ts';

const fs = vscode.workspace.fs;

/** A file is read whole: these file systems have no random access. */
const largest = 512 * 2 ** 20;

const codes: Record<string, string> = {
  FileNotFound: 'ENOENT',
  EntryNotFound: 'ENOENT',
  FileExists: 'EEXIST',
  EntryExists: 'EEXIST',
  FileNotADirectory: 'ENOTDIR',
  EntryNotADirectory: 'ENOTDIR',
  FileIsADirectory: 'EISDIR',
  EntryIsADirectory: 'EISDIR',
  NoPermissions: 'EACCES',
};

const failure = (code: string, path: string): Error => Object.assign(new Error(`${code}: ${path}`), { code });

/** With Node's codes of errors. */
async function asked<T>(path: string, answer: Thenable<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const code = error instanceof vscode.FileSystemError ? codes[error.code] : undefined;
    throw code === undefined ? error : failure(code, path);
  }
}

export async function stat(path: string) {
  const { type, size, mtime, ctime } = await asked(path, fs.stat(fileUri(path)));
  return {
    size,
    mtime: new Date(mtime),
    mtimeMs: mtime,
    mtimeNs: mtime,
    ctime: new Date(ctime),
    ctimeNs: ctime,
    ino: 0,
    isFile: () => (type & vscode.FileType.File) !== 0,
    isDirectory: () => (type & vscode.FileType.Directory) !== 0,
    isSymbolicLink: () => false,
    isCharacterDevice: () => false,
    isBlockDevice: () => false,
    isFIFO: () => false,
  };
}
export const lstat = (path: string) => stat(path);
export const realpath = (path: string): Promise<string> => stat(path).then(() => path);
export const access = async (path: string): Promise<void> => void (await stat(path));

async function bytesAt(path: string): Promise<Uint8Array> {
  const { size } = await stat(path);
  if (size > largest)
    throw new Error(`it has ${sizeText(size)}, which is too large for the browser. Open it in VS Code on a computer`);
  return asked(path, fs.readFile(fileUri(path)));
}

export function readFile(path: string): Promise<Uint8Array>;
export function readFile(path: string, encoding: 'utf8'): Promise<string>;
export async function readFile(path: string, encoding?: 'utf8'): Promise<Uint8Array | string> {
  const bytes = await bytesAt(path);
  return encoding === undefined ? bytes : new TextDecoder().decode(bytes);
}

export const writeFile = (path: string, content: string | Uint8Array): Promise<void> =>
  asked(path, fs.writeFile(fileUri(path), typeof content === 'string' ? new TextEncoder().encode(content) : content));

export async function mkdir(path: string, { recursive = false } = {}): Promise<string | undefined> {
  if (
    !recursive &&
    (await stat(path).then(
      () => true,
      () => false,
    ))
  )
    throw failure('EEXIST', path);
  await asked(path, fs.createDirectory(fileUri(path)));
  return undefined;
}

export async function mkdtemp(prefix: string): Promise<string> {
  const path = `${prefix}${crypto.randomUUID().slice(0, 8)}`;
  await mkdir(path, { recursive: true });
  return path;
}

export async function readdir(path: string, { withFileTypes = false } = {}) {
  const entries = await asked(path, fs.readDirectory(fileUri(path)));
  if (!withFileTypes) return entries.map(([name]) => name);
  return entries.map(([name, type]) => ({
    name,
    parentPath: path,
    isFile: () => (type & vscode.FileType.File) !== 0,
    isDirectory: () => (type & vscode.FileType.Directory) !== 0,
  }));
}

export async function rm(path: string, { force = false } = {}): Promise<void> {
  await asked(path, fs.delete(fileUri(path), { recursive: true })).catch((error: unknown) => {
    if (!force || (error as { code?: string }).code !== 'ENOENT') throw error;
  });
}

export const rename = (from: string, to: string): Promise<void> =>
  asked(from, fs.rename(fileUri(from), fileUri(to), { overwrite: true }));

/** @param mode 1: not over another file (`COPYFILE_EXCL`) */
export const copyFile = (from: string, to: string, mode = 0): Promise<void> =>
  asked(to, fs.copy(fileUri(from), fileUri(to), { overwrite: (mode & 1) === 0 }));

export const readlink = (path: string): Promise<string> => Promise.reject(failure('EINVAL', path));

const noLinks = (_: string, to: string): Promise<void> => Promise.reject(failure('EPERM', to));
export { noLinks as link, noLinks as symlink };

/** Opens a file for reading. */
export async function open(path: string) {
  const bytes = await bytesAt(path);
  const fd = opened.add(bytes);
  return {
    fd,
    stat: () => stat(path),
    readFile: () => Promise.resolve(bytes),
    read: (into: Uint8Array, offset: number, length: number, position: number) => {
      const part = bytes.subarray(position, position + length);
      into.set(part, offset);
      return Promise.resolve({ bytesRead: part.length, buffer: into });
    },
    close: () => {
      opened.remove(fd);
      return Promise.resolve();
    },
  };
}
