import { createHash } from 'node:crypto';
import { copyFile, type FileHandle, mkdir, mkdtemp, open, readdir, statfs, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize, resolve } from 'node:path';
import { byteLength, modelTensors, type OnnxTensor } from '../../read/onnx/onnxModel.ts';
import { readModel } from '../../read/onnx/readModel.ts';
import { fingerprint } from './fingerprint.ts';
import { isAlive } from './folderLock.ts';
import { cacheFolder } from './cacheFolder.ts';
import { isGzip, readWhole, withFile } from './fileSource.ts';
import { randomBytesOf } from './internal/randomWeights.ts';
import { fileTrouble, stopIfCancelled, UserError } from './userError.ts';
import { sizeText } from '../../base/text.ts';
import { exists } from './exists.ts';
import { removeTree, renamePersistently } from './persist.ts';

/**
 * Makes a copy of a model whose external weights are random, always the same for the same model, and returns its path:
 * what TensorRT fuses depends on structure, shapes and types, so a model can be studied without its weights. The
 * model's own weights are neither read nor changed. Kept in the cache.
 * @throws {UserError} if the model cannot be read, or its external data has no such place or length
 * @throws {Cancelled} through `signal`; then nothing is left
 */
export async function fillWeights(model: string, cache = cacheFolder(), signal?: AbortSignal): Promise<string> {
  const { sha256 } = await fingerprint(model);
  const name = basename(model).replace(/\.gz$/i, '');
  const folder = join(cache, 'random-weights', sha256.slice(0, 32));
  const path = join(folder, name);
  if (await exists(path)) return path;

  const places = await externalPlaces(model);
  if (places.length === 0 && !(await isGzip(model))) return resolve(model);
  await mkdir(dirname(folder), { recursive: true });
  await removeAbandoned(dirname(folder));
  const temporary = await mkdtemp(`${folder}.tmp-${process.pid}-`);
  try {
    await checkSpace(temporary, places);
    await writeWeights(temporary, places, signal);
    await copyUnpacked(model, join(temporary, name));
    // Another process may have made the same in the meantime; the same name of the same content may differ only in
    // letters.
    await renamePersistently(temporary, folder).catch(async () => {
      if (await exists(path)) return;
      await copyFile(join(temporary, name), path);
    });
    return path;
  } catch (error) {
    throw error instanceof UserError ? error : fileTrouble(folder, error);
  } finally {
    await removeTree(temporary);
  }
}

/** Copies that a program began to write which is gone: they are as large as the weights. */
async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = /\.tmp-(\d+)-[^-]*$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await removeTree(join(parent, name));
  }
}

/** External data of one tensor: where in which file, how long. */
interface Place {
  tensor: OnnxTensor;
  file: string;
  offset: number;
  length: number;
}

async function externalPlaces(path: string): Promise<Place[]> {
  return withFile(path, async (source) => {
    const { value, problems } = await readModel(source);
    const broken = problems.find(({ severity }) => severity === 'error');
    if (!value || broken) throw new UserError(`${path}: ${broken?.message ?? 'cannot be read as an ONNX model'}`);
    return modelTensors(value).flatMap((tensor) => externalPlace(path, tensor));
  });
}

function externalPlace(path: string, tensor: OnnxTensor): Place[] {
  if (tensor.data === null || !('external' in tensor.data)) return [];
  const { location = '', offset = '0', length } = tensor.data.external;
  const file = normalize(location.replaceAll('\\', '/'));
  const what = `${path}: the external data of tensor "${tensor.name}"`;
  // A model must not make us write anywhere but into the folder of its copy.
  const own = basename(path).replace(/\.gz$/i, '').toLowerCase();
  if (file.toLowerCase() === own)
    throw new UserError(`${what} is in the model file itself, so random weights cannot replace it`);
  if (location === '' || isAbsolute(file) || /^[A-Za-z]:/.test(file) || file.split(/[/\\]/).includes('..'))
    throw new UserError(`${what} is outside the model's folder ("${location}"), so random weights cannot replace it`);
  const size = byteLength(tensor.type, tensor.shape);
  if (size === undefined) throw new UserError(`${what} has the type ${tensor.type}, whose size is unknown`);
  if (length !== undefined && Number(length) !== size)
    throw new UserError(`${what} has ${length} bytes, but its type and shape need ${size}`);
  if (!/^\d{1,15}$/.test(offset)) throw new UserError(`${what} has the invalid byte offset "${offset}"`);
  return [{ tensor, file, offset: Number(offset), length: size }];
}

async function checkSpace(folder: string, places: Place[]): Promise<void> {
  const ends = new Map<string, number>();
  for (const { file, offset, length } of places) ends.set(file, Math.max(ends.get(file) ?? 0, offset + length));
  const needed = [...ends.values()].reduce((sum, end) => sum + end, 0);
  const { bavail, bsize } = await statfs(folder);
  if (needed > bavail * bsize)
    throw new UserError(
      `${folder}: random weights need ${sizeText(needed)}, but only ${sizeText(bavail * bsize)} are free`,
    );
}

async function writeWeights(folder: string, places: Place[], signal: AbortSignal | undefined): Promise<void> {
  const files = new Map<string, FileHandle>();
  try {
    for (const { tensor, file, offset, length } of places) {
      let handle = files.get(file);
      if (!handle) {
        await mkdir(dirname(join(folder, file)), { recursive: true });
        handle = await open(join(folder, file), 'w');
        files.set(file, handle);
      }
      let written = 0;
      for (const chunk of randomBytesOf(tensor.type, length, seedOf(`${tensor.name}@${offset}`))) {
        stopIfCancelled(signal);
        await handle.write(chunk, 0, chunk.length, offset + written);
        written += chunk.length;
      }
    }
  } finally {
    for (const handle of files.values()) await handle.close();
  }
}

const seedOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32LE(0);

async function copyUnpacked(from: string, to: string): Promise<void> {
  await writeFile(to, await readWhole(from));
}
