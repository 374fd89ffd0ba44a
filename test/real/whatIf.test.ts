import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type BuildOptions, runBuild } from '../../src/builder/run/runBuild.ts';
import { whatIf } from '../../src/builder/run/whatIf.ts';
import { readModel } from '../../src/core/onnx/readModel.ts';
import { bytesOf } from '../../src/core/text/byteSource.ts';
import { modelPath } from '../support/fixtures.ts';
import { driverPath, rtxForTests, temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();
const options: BuildOptions = {
  model: modelPath('fp16_overflow_fp16'),
  backend: 'rtx',
  randomWeights: true,
  driver: driverPath,
  confirm: () => Promise.resolve(true),
};
let base: string;

beforeAll(async () => {
  await rtxForTests();
  const build = await runBuild({ ...options, folder: join(folder, 'base') });
  expect(build.manifest.error).toBeNull();
  base = build.folder;
});

test('an output inside an attention dissolves just this one', async () => {
  const { diff } = await whatIf({
    options,
    changed: { outputs: ['/layers.1/attn/qk/MatMul_output_0'] },
    change: null,
    base,
  });
  expect(diff.b).toMatchObject({ product: 'tensorrt-rtx' });
  expect(diff.totals.states).toMatchObject({ split: 4, merged: 0, moved: 0, same: diff.matched.byName - 4 });
  const [split] = diff.changes.filter(({ kind }) => kind === 'split');
  expect(split).toMatchObject({ exact: true, a: expect.stringContaining('_gemm_mha_v2') as string });
});

test('a cut leaves both halves, and a node that was taken out is gone', async () => {
  const cut = await whatIf({ options, changed: {}, change: { cut: '/layers.1/add_ffn/Add_output_0' }, base });
  expect(cut.diff.matched).toMatchObject({ onlyA: [], onlyB: [] });

  const without = await whatIf({ options, changed: {}, change: { remove: await softmaxOf('/layers.1/') }, base });
  expect(without.diff.changes.length).toBeGreaterThan(0);
  await expect(whatIf({ options, changed: {}, change: { remove: '9999' }, base })).rejects.toThrow(
    'There is no node 9999',
  );
});

async function softmaxOf(module: string): Promise<string> {
  const { value } = await readModel(bytesOf(readFileSync(options.model)));
  return value!.nodes.find(({ op, name }) => op === 'Softmax' && name.startsWith(module))!.id;
}
