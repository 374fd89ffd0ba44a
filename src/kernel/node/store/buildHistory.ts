import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildManifest } from '../../build/buildManifest.ts';
import type { Backend } from '../../build/buildOptions.ts';
import { type Build, buildsFolder, readBuildFolder, writeManifest } from './buildFolder.ts';
import { cacheFolder } from '../files/cacheFolder.ts';
import { removeTree } from '../files/persist.ts';

/**
 * The builds of a model, newest first. A build whose process is gone without a warning is given as cancelled. Never
 * rejects.
 * @param options.folder the parent of its build folders, where it is not the usual one
 */
export async function listBuilds(model: string, options: { folder?: string; cache?: string } = {}): Promise<Build[]> {
  return readAll(options.folder ?? buildsFolder(model, options.cache));
}

/** The builds of every model in the cache, newest first. */
export async function listAllBuilds(cache = cacheFolder()): Promise<Build[]> {
  const parents = await foldersIn(join(cache, 'builds'));
  const all = await Promise.all(parents.map(readAll));
  return all.flat().sort(newestFirst);
}

/** Deletes a build's folder. An engine that was placed elsewhere stays. */
export const deleteBuild = ({ folder }: Build): Promise<void> => removeTree(folder);

/**
 * Names or pins a build, or takes that back: a name of '' is none.
 * @returns the build as it is now; undefined: it was deleted
 */
export async function nameBuild(folder: string, name: string): Promise<Build | undefined> {
  const build = await readBuildFolder(folder);
  if (build === undefined) return undefined;
  const { manifest } = build;
  if (name === '') delete manifest.name;
  else manifest.name = name;
  await writeManifest(build);
  return build;
}

/**
 * Deletes the oldest builds of a model, all but `keep`; running ones stay.
 * @returns how many were deleted
 */
export async function trimBuilds(builds: Build[], keep: number): Promise<number> {
  const old = builds.slice(keep).filter(({ manifest }) => manifest.result !== 'running');
  for (const build of old) await deleteBuild(build);
  return old.length;
}

/**
 * Removes what builds whose process is gone left half written in their folders, and notes in their manifests how they
 * ended.
 * @param halfWritten names of such files and folders, in addition to those that end in `.tmp`
 * @returns the builds of that folder, newest first
 */
export async function removeCutOff(parent: string, halfWritten: readonly string[]): Promise<Build[]> {
  const builds = await readAll(parent);
  for (const { folder, manifest } of builds) {
    if (manifest.pid === undefined || manifest.result !== 'cancelled') continue;
    for (const name of await readdir(folder).catch(() => []))
      if (halfWritten.includes(name) || name.endsWith('.tmp')) await removeTree(join(folder, name));
    const { pid: _, ...ended } = manifest;
    // A folder that cannot be written to says the same when it is read.
    await writeManifest({ folder, manifest: ended }).catch(() => {});
  }
  return builds;
}

/** How long the newest build of this model with the same options took; null: there was none that passed. */
export function expectedSeconds(
  builds: Build[],
  model: string,
  backend: Backend,
  options: BuildManifest['options'],
): number | null {
  const wanted = JSON.stringify(options);
  const same = builds.find(
    ({ manifest }) =>
      manifest.result === 'passed' &&
      manifest.model.file === model &&
      manifest.backend === backend &&
      JSON.stringify(manifest.options) === wanted,
  );
  return same?.manifest.seconds ?? null;
}

async function readAll(parent: string): Promise<Build[]> {
  const builds = await Promise.all((await foldersIn(parent)).map(readBuildFolder));
  return builds.filter((build) => build !== undefined).sort(newestFirst);
}

const newestFirst = (a: Build, b: Build): number =>
  b.manifest.started.localeCompare(a.manifest.started) || b.manifest.id.localeCompare(a.manifest.id);

async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
  } catch {
    // Nothing was built yet, or nothing that can be read.
    return [];
  }
}
