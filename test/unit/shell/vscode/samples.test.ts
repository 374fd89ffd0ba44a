import { copyFile, mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeTree } from '../../../../src/kernel/node/files/persist.ts';
import { importBuild } from '../../../../src/kernel/node/run/importBuild.ts';
import { loadBuild, loadFiles } from '../../../../src/kernel/node/store/loadBuild.ts';
import { samples } from '../../../../src/shell/vscode/walkthrough/internal/samples.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
// @ts-expect-error -- the script is plain JavaScript
import * as script from '../../../../scripts/samples.mjs';

const writeSamples = script.writeSamples as (to: string) => Promise<void>;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tensorrt-lens-'));
  await writeSamples(join(folder, 'samples'));
});
afterAll(() => removeTree(folder));

const recorded = Object.entries(samples).filter(([, { build }]) => build !== undefined);

it('five recorded builds ship, in 80 KB', async () => {
  expect(recorded.map(([name]) => name)).toEqual([
    'vit_tiny',
    'convnext_tiny',
    'yolo_like',
    'resnet_int8',
    'unsupported_op',
  ]);
  expect(await readdir(join(folder, 'samples'))).toEqual(expect.arrayContaining(Object.keys(samples)));
  const packed = await Promise.all(
    recorded.map(async ([name, { build }]) => {
      const there = [...build!.files, `${name}.onnx`];
      const bytes = await Promise.all(there.map((file) => readFile(join(folder, 'samples', name, file))));
      return bytes.reduce((sum, one) => sum + gzipSync(one, { level: 9 }).length, 0);
    }),
  );
  expect(packed.reduce((sum, one) => sum + one, 0)).toBeLessThan(80_000);
});

/** As the command does it: the model's only build, from what ships. */
async function opened(name: string) {
  const { files, known } = samples[name]!.build!;
  const model = join(folder, `${name}.onnx`);
  await copyFile(join(folder, 'samples', name, `${name}.onnx`), model);
  const pieces = await Promise.all(
    files.map(async (file) => ({ text: await readFile(join(folder, 'samples', name, file), 'utf8') })),
  );
  return importBuild({ model, pieces, known, cache: join(folder, 'cache') });
}

it.each(recorded.slice(0, -1))('%s accounts for every node, as its description says', async (name, { detail }) => {
  const build = await opened(name);
  expect(build.manifest).toMatchObject({ origin: 'recorded', result: 'passed' });
  const { report } = await loadBuild(build);
  const { total, foreign, unknown } = report.accounting;
  expect(unknown).toBe(0);
  expect(detail).toContain(`${foreign} of ${total} nodes`);
  const groups = report.foreignNodes.length;
  expect(detail).toContain(groups === 1 ? 'one ForeignNode' : `${groups} ForeignNodes`);
  expect(detail.includes('with times')).toBe(report.layers.some(({ averageMs }) => averageMs !== null));
  expect(report.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
});

it('the failed build names its node', async () => {
  const { manifest } = await opened('unsupported_op');
  expect(manifest).toMatchObject({ origin: 'recorded', result: 'failed', gpu: 'NVIDIA H200' });
  expect(manifest.error).toContain('/custom/MyCustomOp');
});

it('equal weights change nothing in the report', async () => {
  const given = {
    layers: fixturePath('captures/tensorrt-10.6.0/vit_tiny.fp16/layers.json'),
    profile: fixturePath('captures/tensorrt-10.6.0/vit_tiny.fp16/profile.json'),
  };
  const [original, sample] = await Promise.all(
    [modelPath('vit_tiny'), join(folder, 'samples/vit_tiny/vit_tiny.onnx')].map((onnx) =>
      loadFiles({ ...given, onnx }),
    ),
  );
  expect(sample!.report.nodes).toEqual(original!.report.nodes);
  expect(sample!.report.layers).toEqual(original!.report.layers);
});
