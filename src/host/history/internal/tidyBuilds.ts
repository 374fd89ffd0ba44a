import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Build } from '../../../builder/store/buildFolder.ts';
import { deleteBuild, listAllBuilds } from '../../../builder/store/buildHistory.ts';
import { showInformation, showWarning } from '../../platform/messages.ts';
import { overLimit, type SizedBuild } from './overLimit.ts';
import { counted, sizeText } from '../../../core/base/text.ts';
import { pickItem } from '../../platform/askUser.ts';

/**
 * Deletes the oldest builds of all models until they take no more than `limit` MiB; pinned ones and the newest of each model stay.
 * @returns how many were deleted
 */
export async function keepToLimit(limit: number): Promise<number> {
  const old = overLimit(await sizedBuilds(), limit * 2 ** 20);
  await Promise.all(old.map(deleteBuild));
  return old.length;
}

/** Asks which builds of all models should go, and deletes them. @returns whether any did */
export async function tidyBuilds(): Promise<boolean> {
  const all = await sizedBuilds();
  const ended = all.filter(({ build: { manifest } }) => manifest.result !== 'running' && manifest.pinned !== true);
  const pinned = all.some(({ build: { manifest } }) => manifest.pinned);
  const newest = new Set(overNewest(ended));
  const choices = [
    {
      label: 'Failed and cancelled builds',
      builds: ended.filter(({ build }) => build.manifest.result !== 'passed'),
    },
    { label: 'All but the newest build of each model', builds: ended.filter((one) => !newest.has(one)) },
    { label: pinned ? 'All builds that are not pinned' : 'All builds', builds: ended },
  ].filter(({ builds }) => builds.length > 0);
  if (choices.length === 0) {
    await showInformation('There are no builds to delete.');
    return false;
  }
  const items = choices.map(({ label, builds }) => ({ label, description: describe(builds), builds }));
  const picked = await pickItem(items, {
    placeHolder: `Select builds to delete (all models: ${describe(all)})`,
  });
  if (picked === undefined) return false;
  const yes = 'Delete';
  const question = `Delete ${picked.description}?`;
  const detail =
    'This includes their logs, layer info and engines. Engines that a task wrote to other folders are kept.';
  if ((await showWarning(question, { modal: true, detail }, yes)) !== yes) return false;
  await Promise.all(picked.builds.map(({ build }) => deleteBuild(build)));
  return true;
}

const describe = (builds: SizedBuild[]): string =>
  `${counted(builds.length, 'build')}, ${sizeText(builds.reduce((sum, { bytes }) => sum + bytes, 0))}`;

function overNewest(builds: SizedBuild[]): SizedBuild[] {
  const seen = new Set<string>();
  return builds.filter(({ build: { manifest } }) => {
    if (seen.has(manifest.model.file)) return false;
    seen.add(manifest.model.file);
    return true;
  });
}

/** Every build of every model, newest first, with what its folder takes. */
async function sizedBuilds(): Promise<SizedBuild[]> {
  return Promise.all((await listAllBuilds()).map(async (build) => ({ build, bytes: await sizeOf(build) })));
}

async function sizeOf({ folder }: Build): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
