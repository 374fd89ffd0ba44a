import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withFolderLock } from '../../../../src/kernel/node/files/folderLock.ts';
import { Cancelled, UserError } from '../../../../src/kernel/node/files/userError.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const folder = temporaryFolder();

test('one at a time, and nothing is left', async () => {
  const target = join(folder, 'a');
  let inside = 0;
  let most = 0;
  const waited: number[] = [];
  const work = async (index: number) =>
    withFolderLock(
      target,
      async () => {
        inside += 1;
        most = Math.max(most, inside);
        // Until the others have come and wait.
        await expect.poll(() => waited.length).toBe(2);
        inside -= 1;
      },
      { waiting: () => waited.push(index) },
    );
  await Promise.all([0, 1, 2].map(work));
  expect(most).toBe(1);
  expect(waited).toHaveLength(2);
  expect(readdirSync(folder)).toEqual([]);
});

test('is free again after a failure', async () => {
  const target = join(folder, 'b');
  await expect(withFolderLock(target, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(withFolderLock(target, () => Promise.resolve(1))).resolves.toBe(1);
});

test('a place that cannot be made is said with its name', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const tried = withFolderLock(join(file, 'deep', 'c'), () => Promise.resolve(1));
  await expect(tried).rejects.toThrow(new UserError(`${join(file, 'deep')}: a component of the path is not a folder`));
  rmSync(file);
});

test('a lock whose owner is gone counts for nothing', async () => {
  const gone = spawnSync(process.execPath, ['-e', '0']).pid;
  for (const content of [String(gone), '', 'nonsense']) {
    writeFileSync(join(folder, 'c.lock'), content);
    // An empty one may be about to be written for a second.
    utimesSync(join(folder, 'c.lock'), 1, 1);
    await expect(withFolderLock(join(folder, 'c'), () => Promise.resolve(1))).resolves.toBe(1);
  }
});

test('waiting for a living owner can be cancelled', async () => {
  writeFileSync(join(folder, 'd.lock'), String(process.pid));
  const abort = new AbortController();
  const waiting = withFolderLock(join(folder, 'd'), () => Promise.resolve(1), {
    waiting: () => abort.abort(),
    signal: abort.signal,
  });
  await expect(waiting).rejects.toThrow(Cancelled);
  expect(existsSync(join(folder, 'd.lock'))).toBe(true);
});
