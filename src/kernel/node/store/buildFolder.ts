import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type BuildManifest, type BuiltShape, programFailure } from '../../build/buildManifest.ts';
import { cacheFolder } from '../files/cacheFolder.ts';
import { isStillAlive } from '../files/folderLock.ts';
import { writeWhole } from '../files/writeWhole.ts';
import { fileTrouble, UserError } from '../files/userError.ts';
import { isFile } from '../files/exists.ts';
import { pathKey } from '../files/pathKey.ts';

/** One build on disk: its folder, and what `manifest.json` in it says. */
export interface Build {
  folder: string;
  manifest: BuildManifest;
}

/** The folder with the builds of a model, one subfolder per build id. The same path always gives the same folder, however it is spelled. */
export function buildsFolder(model: string, cache = cacheFolder()): string {
  const path = resolve(model);
  const name = basename(path)
    .replace(/(\.onnx)?(\.gz)?$/i, '')
    .replace(/[^\w.-]/g, '_')
    .slice(0, 60);
  return join(cache, 'builds', `${name}-${createHash('sha256').update(pathKey(path)).digest('hex').slice(0, 16)}`);
}

/** Makes a new build folder. Its id is the time, to the second, and a number where that is taken: ids sort by time. */
export async function newBuildFolder(parent: string, started: Date): Promise<{ id: string; folder: string }> {
  await mkdir(parent, { recursive: true }).catch((error: unknown) => {
    throw fileTrouble(parent, error);
  });
  const time = started.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
  for (let number = 0; ; number += 1) {
    const id = `${time}-${String(number).padStart(2, '0')}`;
    const folder = join(parent, id);
    try {
      await mkdir(folder);
      return { id, folder };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw fileTrouble(folder, error);
    }
  }
}

/** Writes `manifest.json` into the build's folder. */
export const writeManifest = ({ folder, manifest }: Build): Promise<void> =>
  writeWhole(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);

/**
 * The build in a folder; undefined if it contains none that can be read. A build whose process is gone without a word
 * is given as cancelled.
 */
export async function readBuildFolder(folder: string): Promise<Build | undefined> {
  try {
    const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as BuildManifest;
    return manifest.schema === 1 && isWhole(manifest) ? { folder, manifest: await ended(manifest) } : undefined;
  } catch {
    return undefined;
  }
}

async function ended(manifest: BuildManifest): Promise<BuildManifest> {
  const { result, pid, started } = manifest;
  if (result !== 'running' || (pid !== undefined && (await isStillAlive(pid, new Date(started))))) return manifest;
  const message = 'interrupted: the program that ran the build is gone';
  return { ...manifest, result: 'cancelled', error: message, failure: programFailure('interrupted', message) };
}

/** It may have been written by hand, or by someone else. */
const isWhole = ({ id, model, files, tensorrt, command, shapes }: Partial<BuildManifest>): boolean =>
  typeof id === 'string' &&
  typeof model?.file === 'string' &&
  [files, tensorrt].every((part) => typeof part === 'object' && part !== null) &&
  Array.isArray(command) &&
  (shapes === undefined || (Array.isArray(shapes) && shapes.every(isProfile)));

const isProfile = (profile: unknown): boolean =>
  Array.isArray(profile) &&
  profile.every((shape: Partial<BuiltShape> | null) =>
    [shape?.input, shape?.min, shape?.opt, shape?.max].every((text) => typeof text === 'string'),
  );

/**
 * The same where there must be one.
 * @throws {UserError} if the folder contains none that can be read
 */
export async function requireBuild(folder: string): Promise<Build> {
  const build = await readBuildFolder(folder);
  if (!build) throw new UserError(`${folder} is not a build folder: manifest.json is missing or damaged`);
  return build;
}

/** Paths of what a build folder keeps, the engine's also where it is elsewhere. */
export const filesOfBuild = ({ folder, manifest }: Build): string[] =>
  ['manifest.json', 'overrides.json', ...Object.values(manifest.files)]
    .filter((name) => typeof name === 'string')
    .map((name) => resolve(folder, name));

/**
 * Path of a build's engine.
 * @throws {UserError} if it has none
 */
export async function engineOf({ folder, manifest }: Build): Promise<string> {
  const { engine } = manifest.files;
  const path = engine === null ? null : resolve(folder, engine);
  if (path === null || !(await isFile(path)))
    throw new UserError(`${folder}: this build has no engine (result: ${manifest.result}). Build it again`);
  return path;
}
