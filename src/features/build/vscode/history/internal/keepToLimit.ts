import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Build } from '../../../../../kernel/node/store/buildFolder.ts';
import { deleteBuild, listAllBuilds } from '../../../../../kernel/node/store/buildHistory.ts';
import { overLimit, type SizedBuild } from './overLimit.ts';

/**
 * Deletes the oldest builds of all models until they take no more than `limit` MiB; the newest of each model stays.
 * @returns how many were deleted
 */
export async function keepToLimit(limit: number): Promise<number> {
  const old = overLimit(await sizedBuilds(), limit * 2 ** 20);
  await Promise.all(old.map(deleteBuild));
  return old.length;
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
