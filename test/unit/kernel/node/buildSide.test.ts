import { copyFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fingerprint } from '../../../../src/kernel/node/files/fingerprint.ts';
import { readBuildSide } from '../../../../src/kernel/node/store/buildSide.ts';
import { UserError } from '../../../../src/kernel/node/files/userError.ts';
import type { BuildManifest } from '../../../../src/kernel/build/buildManifest.ts';

const examples = join(import.meta.dirname, '../../../../examples');
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'side-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('does not judge a build by another model than it was made from', async () => {
  const [build, model, kept] = ['build', 'net.onnx', 'kept.onnx'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await cp(join(examples, 'recorded/vit_tiny'), build, { recursive: true });
  await copyFile(join(examples, 'vit_tiny.onnx'), model);
  await copyFile(model, kept);
  const path = join(build, 'manifest.json');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as BuildManifest;
  const made = { ...manifest, model: { file: model, ...(await fingerprint(model)) }, started: '2020-01-01T00:00:00Z' };
  await writeFile(path, JSON.stringify(made));
  expect((await readBuildSide(build)).report.accounting.unknown).toBe(0);

  // Another export under the same name.
  const bytes = await readFile(model);
  await writeFile(model, Buffer.concat([bytes, Buffer.from([0x1a, 0x00])]));
  for (const given of [undefined, model]) {
    const reading = readBuildSide(build, given);
    await expect(reading).rejects.toThrow(UserError);
    await expect(reading).rejects.toThrow(/net\.onnx has changed since it was built in .*--onnx/);
  }
  expect((await readBuildSide(build, kept)).report.accounting.unknown).toBe(0);
});

it('refuses a damaged report, whatever is missing', async () => {
  const path = join(folder, 'report.json');
  const { report } = await readBuildSide(join(folder, 'build'), join(folder, 'kept.onnx'));
  await writeFile(path, JSON.stringify(report));
  expect((await readBuildSide(path)).report.nodes).toHaveLength(report.nodes.length);
  for (const damaged of [
    '[]',
    'null',
    '{"fusion": null, "schema": 1}',
    ...['schema', 'model', 'tensorrt', 'accounting', 'nodes', 'layers', 'foreignNodes', 'problems'].map((key) =>
      JSON.stringify({ ...report, [key]: undefined }),
    ),
    JSON.stringify({ ...report, nodes: [{}] }),
    JSON.stringify({ ...report, layers: [{ name: 'a', kind: 'single', nodes: [] }] }),
  ]) {
    // oxlint-disable-next-line no-await-in-loop -- a file after the other
    await writeFile(path, damaged);
    // oxlint-disable-next-line no-await-in-loop -- a file after the other
    await expect(readBuildSide(path)).rejects.toThrow('is not a fusion report');
  }
});
