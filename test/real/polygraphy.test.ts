import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { fillWeights } from '../../src/kernel/node/files/fillWeights.ts';
import { loadBuild } from '../../src/kernel/node/store/loadBuild.ts';
import { type BuildEvents, type BuildOptions, runBuild } from '../../src/kernel/node/run/runBuild.ts';
import { modelPath } from '../support/fixtures.ts';
import { driverPath, rtxForTests, temporaryFolder } from '../support/rtx.ts';
import { runningWith } from '../support/runningWith.ts';

const folder = temporaryFolder();
const cache = join(folder, 'cache');
let tool: Pick<BuildOptions, 'polygraphy' | 'python' | 'environment'>;

beforeAll(async () => {
  const rtx = await rtxForTests();
  const site = join(folder, 'site');
  const install = ['-m', 'pip', 'install', '-q', '--target', site, 'polygraphy==0.53.6', 'numpy'];
  // A private environment that was made without pip has the one of the interpreter behind it.
  const made = spawnSync(rtx.python, install, { stdio: 'inherit' });
  if (made.status !== 0 && spawnSync('python3', install, { stdio: 'inherit' }).status !== 0)
    throw new Error('Polygraphy cannot be installed: is the package index within reach?');
  const paths = [site, rtx.environment['PYTHONPATH']].filter(Boolean).join(':');
  tool = {
    polygraphy: join(site, 'bin/polygraphy'),
    python: rtx.python,
    environment: { POLYGRAPHY_USE_TENSORRT_RTX: '1', PYTHONPATH: paths },
  };
});

const build = async (model: string, more: Partial<BuildOptions> = {}, events: BuildEvents = {}, signal?: AbortSignal) =>
  runBuild(
    {
      model: await fillWeights(modelPath(model), cache),
      backend: 'polygraphy',
      driver: driverPath,
      cache,
      confirm: () => Promise.resolve(false),
      ...tool,
      ...more,
    },
    events,
    signal,
  );

test('a build by Polygraphy and TensorRT-RTX gives an engine, and every node has its fate', async () => {
  const made = await build('vit_tiny', { computeCapability: ['8.9'], workspace: 512, optimizationLevel: 3 });
  expect(made.manifest).toMatchObject({
    result: 'passed',
    error: null,
    backend: 'polygraphy',
    tensorrt: { product: 'tensorrt-rtx', version: expect.stringMatching(/^1\.7\.1/) as string },
  });
  expect(made.manifest.command).toContain('--compute-capabilities');
  expect(readFileSync(join(made.folder, 'model.engine')).length).toBeGreaterThan(1_000_000);
  const { report } = await loadBuild(made);
  const { total, ...fates } = report.accounting;
  expect(total).toBe(636);
  expect(Object.values(fates).reduce((sum, count) => sum + count)).toBe(total);
  expect(report.foreignNodes).toHaveLength(1);
  expect(report.accounting.foreign).toBeGreaterThan(400);
});

test('what fails says why, by TensorRT’s own cause', async () => {
  const { manifest } = await build('unsupported_op');
  expect(manifest).toMatchObject({ result: 'failed', files: { engine: null } });
  expect(manifest.error).toMatch(/MyCustomOp/);
});

test('what it cannot do is refused before it begins', async () => {
  await expect(build('unnamed', { precision: 'fp16' })).rejects.toThrow(/only strongly typed networks/);
  await expect(build('unnamed', { extraArguments: ['--disable-mha'] })).rejects.toThrow(/does not list it/);
});

test('a cancel leaves nothing', async () => {
  const abort = new AbortController();
  const { manifest, folder: made } = await build(
    'deep_encoder_11k',
    {},
    { log: (line) => line.includes('ONNX') && abort.abort() },
    abort.signal,
  );
  expect(manifest.result).toBe('cancelled');
  expect(readdirSync(made).sort()).toEqual(['build.log', 'manifest.json']);
  expect(existsSync(join(made, 'model.engine'))).toBe(false);
  expect(runningWith(made)).toEqual([]);
});
