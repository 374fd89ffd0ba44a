import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { writeZip } from '../../../../src/kernel/node/files/writeZip.ts';
import { Cancelled } from '../../../../src/kernel/node/files/userError.ts';
import { unzipped } from '../../../support/unzipped.ts';

const folder = mkdtempSync(join(tmpdir(), 'tensorrt-lens-zip-'));
const content = join(folder, 'content');
const made = join(folder, 'made');
beforeEach(() => {
  for (const path of [content, made]) {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
  }
  writeFileSync(join(content, 'b.txt'), 'b'.repeat(100_000));
  writeFileSync(join(content, 'ä.txt'), '');
  mkdirSync(join(content, 'folder'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('files in order, by any name, under the given folder', async () => {
  const out = join(made, 'x.zip');
  await writeZip(content, 'root', out);
  const files = [...(await unzipped(out))].map(([name, bytes]) => [name, bytes.length]);
  expect(files).toEqual([
    ['root/b.txt', 100_000],
    ['root/ä.txt', 0],
  ]);
});

test('cancelled: nothing is left', async () => {
  await expect(writeZip(content, 'root', join(made, 'x.zip'), AbortSignal.abort())).rejects.toThrow(Cancelled);
  expect(readdirSync(made)).toEqual([]);
});

// Windows removes no folder with an open file.
test.runIf(process.platform === 'linux')('cancelled at any time: no file stays open', async () => {
  writeFileSync(join(content, 'b.txt'), randomBytes(8_000_000));
  for (const pauseMs of [0, 1, 2, 4, 8]) {
    await writeZip(content, 'root', join(made, 'x.zip'), AbortSignal.timeout(pauseMs)).catch(() => {});
    expect(openFiles().filter((path) => path.startsWith(folder))).toEqual([]);
  }
});

/** Paths of this process's open files. */
const openFiles = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return [];
    }
  });

test('a place that cannot be written, a folder that is missing', async () => {
  await expect(writeZip(content, 'root', join(made, 'none/x.zip'))).rejects.toThrow(/x\.zip: no such file or folder/);
  await expect(writeZip(join(folder, 'none'), 'root', join(made, 'x.zip'))).rejects.toThrow(/x\.zip: no such/);
  expect(readdirSync(made)).toEqual([]);
});
