import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeWhole } from '../../../../src/kernel/node/files/writeWhole.ts';
import { moveAtomically } from '../../../../src/kernel/node/files/writeWhole.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const folder = temporaryFolder();

test('several files that move to one place at once: one of them is there, nobody fails, nothing is left', async () => {
  const place = join(folder, 'moved');
  const contents = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((letter) => letter.repeat(1000));
  const files = contents.map((content, index) => join(folder, String(index)));
  files.forEach((file, index) => writeFileSync(file, contents[index]!));
  await Promise.all(files.map((file) => moveAtomically(file, join(place, 'cache'))));
  expect(readdirSync(place)).toEqual(['cache']);
  expect(contents).toContain(readFileSync(join(place, 'cache'), 'utf8'));
});

test('several texts that are written to one place at once, as well', async () => {
  const place = join(folder, 'written');
  mkdirSync(place);
  const contents = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((letter) => letter.repeat(1000));
  await Promise.all(contents.map((content) => writeWhole(join(place, 'file'), content)));
  expect(readdirSync(place)).toEqual(['file']);
  expect(contents).toContain(readFileSync(join(place, 'file'), 'utf8'));
});
