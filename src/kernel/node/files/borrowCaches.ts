import { copyFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Backend, EngineOptions } from '../../build/buildOptions.ts';
import { moveAtomically } from './writeWhole.ts';
import { fileTrouble } from './userError.ts';

/** Copies of the user's cache files that a program may write, while the files themselves stay whole. */
export interface BorrowedCaches {
  /** The options with the copies in place of the files. */
  options: Pick<EngineOptions, 'timingCache' | 'calibrationCache'>;
  /** Puts the copies where the files are: once the build has passed. */
  giveBack: () => Promise<void>;
}

/** A process that is killed while writing in place leaves half a file, and a build whose cache cannot be written is lost. */
const written = (backend: Backend): ('timingCache' | 'calibrationCache')[] =>
  backend === 'polygraphy' ? ['timingCache', 'calibrationCache'] : ['timingCache'];

/**
 * Copies the caches that this backend writes into the build's folder, where a name that ends in `.tmp` says that they
 * go with the build. A cache that is not there yet is none.
 */
export async function borrowCaches(options: EngineOptions, backend: Backend, folder: string): Promise<BorrowedCaches> {
  const borrowed: { file: string; copy: string }[] = [];
  const replaced: BorrowedCaches['options'] = {};
  for (const kind of written(backend)) {
    const file = options[kind] === undefined ? undefined : resolve(options[kind]);
    if (file === undefined) continue;
    const copy = join(folder, `${kind}.tmp`);
    await copyFile(file, copy).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw fileTrouble(file, error);
    });
    borrowed.push({ file, copy });
    replaced[kind] = copy;
  }
  return {
    options: replaced,
    giveBack: async () => {
      for (const { file, copy } of borrowed) await moveAtomically(copy, file);
    },
  };
}
