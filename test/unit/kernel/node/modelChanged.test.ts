import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fingerprint } from '../../../../src/kernel/node/files/fingerprint.ts';
import { ParsedFiles } from '../../../../src/kernel/node/files/parsedFiles.ts';
import { modelChanged } from '../../../../src/kernel/node/store/modelChanged.ts';
import { buildManifest } from '../../../support/buildManifest.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'changed-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('compares sizes, then times, then contents', async () => {
  const path = join(folder, 'net.onnx');
  const files = new ParsedFiles();
  await writeFile(path, 'one');
  const model = { file: path, ...(await fingerprint(path)) };
  const before = '2020-01-01T00:00:00Z';
  const changed = (started: string) => modelChanged(path, buildManifest({ model, started }), files);
  expect(await changed(before)).toBe(false);
  await writeFile(path, 'two');
  expect(await changed(before)).toBe(true);
  // Its last change was before the build, so it is not read.
  expect(await changed('2100-01-01T00:00:00Z')).toBe(false);
  await writeFile(path, 'three');
  expect(await changed('2100-01-01T00:00:00Z')).toBe(true);
  await writeFile(path, 'one');
  expect(await changed(before)).toBe(false);
  expect(await modelChanged(path, buildManifest({ model: { ...model, sha256: null } }), files)).toBe(false);
  await rm(path);
  expect(await changed(before)).toBe(false);
});
