import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { onnx } from 'onnx-proto';
import { beforeAll, expect, test } from 'vitest';
import { reduceModel, type ReducedModel } from '../../src/features/trials/node/reduceModel.ts';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { modelPath } from '../support/fixtures.ts';
import { plantedChain } from '../support/plantedChain.ts';
import { driverPath, rtxForTests, temporaryFolder } from '../support/rtx.ts';
import { randomFrom } from '../unit/kernel/fusion/randomEngine.ts';

const folder = temporaryFolder();

beforeAll(async () => {
  await rtxForTests();
});

const reduced = (model: string, out: string, more: object = {}): Promise<ReducedModel> =>
  reduceModel({
    options: {
      model,
      backend: 'rtx',
      driver: driverPath,
      confirm: () => Promise.reject(new Error('asked')),
      ...more,
    },
    out: join(folder, out),
  });

const opsOf = async (path: string) =>
  (await readModel(bytesOf(readFileSync(path)))).value!.graph.nodes.map(({ op }) => op);

const random = randomFrom(16);

test('an operator that TensorRT lacks, in a network with weights in a file of their own', async () => {
  const found = await reduced(modelPath('unsupported_op'), 'unsupported', { randomWeights: true });
  expect(found).toMatchObject({ from: 25, to: 1, code: 'unsupported-op', operator: 'MyCustomOp', stopped: false });
  const scripts = ['build_engine.py', 'job.py', 'network_options.py', 'trt_binding.py'];
  expect(readdirSync(join(folder, 'unsupported')).toSorted()).toEqual(
    ['build.log', 'command.txt', 'model.onnx', ...scripts].toSorted(),
  );
  expect(await opsOf(found.model)).toEqual(['MyCustomOp']);
  const command = readFileSync(join(folder, 'unsupported/command.txt'), 'utf8');
  // It runs where the recipient is: no path of this computer is in it, and what it runs is in the folder.
  expect(command).toMatch(
    /^python3 -B build_engine\.py --module tensorrt_rtx --onnx model\.onnx --engine model\.engine/,
  );
  expect(command).not.toContain(folder);
  // It runs without a caller that keeps its input open.
  expect(command).not.toContain('stdin');
  const { python } = await rtxForTests();
  const args = command.trim().split(' ').slice(1);
  const { status, stdout } = spawnSync(python, args, { cwd: join(folder, 'unsupported'), encoding: 'utf8' });
  expect([status, stdout]).toEqual([1, expect.stringContaining('MyCustomOp')]);
});

test('planted in 14,163 nodes', async () => {
  const at = Math.floor(random() * 14_000);
  const model = plantedChain(folder, 'large', 14_163, at, { opType: 'Frobnicate', domain: 'com.acme' }, []);
  const found = await reduced(model, 'large-reduced');
  expect(found).toMatchObject({ from: 14_163, code: 'unsupported-op', operator: 'Frobnicate' });
  expect(await opsOf(found.model)).toEqual(['Frobnicate']);
  expect(found.builds).toBeLessThanOrEqual(120);
});

const planted: { op: onnx.INodeProto; weights?: onnx.ITensorProto[]; code: string }[] = [
  { op: { opType: 'Frobnicate', domain: 'com.acme' }, code: 'unsupported-op' },
  {
    op: { opType: 'MatMul', input: ['w'] },
    weights: [{ name: 'w', dims: [7, 9], dataType: 1, floatData: Array<number>(63).fill(1) }],
    code: 'shape-mismatch',
  },
  {
    op: { opType: 'Concat', input: ['w'], attribute: [{ name: 'axis', type: 2, i: 0 }] },
    weights: [{ name: 'w', dims: [4, 9], dataType: 1, floatData: Array<number>(36).fill(1) }],
    code: 'shape-mismatch',
  },
  { op: { opType: 'NoSuchPlugin_TRT', attribute: [{ name: 'mode', type: 1, f: 0.5 }] }, code: 'plugin-missing' },
];

test('planted in random places, each kind twice', async () => {
  for (let round = 0; round < 2 * planted.length; round += 1) {
    const { op, weights = [], code } = planted[round % planted.length]!;
    const model = plantedChain(folder, `random-${round}`, 60, Math.floor(random() * 60), op, weights);
    const profiles = [{ t0: { min: '1x8', opt: '4x8', max: '8x8' } }];
    // oxlint-disable-next-line no-await-in-loop -- each search builds two at a time
    const found = await reduced(model, `random-${round}`, { profiles });
    expect(found, `round ${round}`).toMatchObject({ from: 60, to: 1, code, operator: op.opType });
    expect(found.builds).toBeLessThanOrEqual(20);
  }
});

test('the smallest part that breaks a rule', async () => {
  const weights = [{ name: 'w', dims: [8, 8], dataType: 1, floatData: Array<number>(64).fill(1) }];
  const at = 5 + Math.floor(random() * 30);
  const model = plantedChain(folder, 'rule', 40, at, { opType: 'MatMul', input: ['w'] }, weights);
  const options = {
    model,
    backend: 'rtx',
    driver: driverPath,
    confirm: () => Promise.reject(new Error('asked')),
  } as const;
  const profiles = [{ t0: { min: '8x8', opt: '8x8', max: '8x8' } }];
  const found = await reduceModel({
    options: { ...options, profiles },
    out: join(folder, 'rule'),
    until: 'kernels: 1',
  });
  expect(found).toMatchObject({ from: 40, code: null, operator: null, until: 'kernels: 1' });
  expect(found.to).toBeLessThanOrEqual(3);
  expect(await opsOf(found.model)).toContain('MatMul');
  const request = { options: { ...options, profiles }, out: join(folder, 'none') };
  await expect(reduceModel({ ...request, until: 'kernels: 1000' })).rejects.toThrow('keeps to the rule');
  await expect(reduceModel({ ...request, until: 'attention: fused' })).rejects.toThrow('the rule cannot be judged');
  await expect(reduceModel({ ...request, until: 'kernels: +5%' })).rejects.toThrow('needs a baseline');
  await expect(reduceModel({ ...request, until: 'kernel: 5' })).rejects.toThrow('not a rule to search with');
});

test('a shape error in a network with a symbolic dimension and profiles', async () => {
  const weights = [{ name: 'w', dims: [7, 9], dataType: 1, floatData: Array<number>(63).fill(1) }];
  const model = plantedChain(
    folder,
    'shapes',
    300,
    40 + Math.floor(random() * 200),
    { opType: 'MatMul', input: ['w'] },
    weights,
  );
  const shape = { min: '1x8', opt: '4x8', max: '8x8' };
  const found = await reduced(model, 'shapes-reduced', { profiles: [{ t0: shape }] });
  expect(found).toMatchObject({ from: 300, to: 1, code: 'shape-mismatch', operator: 'MatMul' });
});

test('a model that builds, and a failure that it does not have', async () => {
  const fine = plantedChain(folder, 'fine', 6, -9, {}, []);
  await expect(reduced(fine, 'none')).rejects.toThrow('builds with these options: there is no failure to reduce');
  const broken = plantedChain(folder, 'broken', 6, 2, { opType: 'Frobnicate', domain: 'com.acme' }, []);
  const other = reduceModel({
    options: { model: broken, backend: 'rtx', driver: driverPath, confirm: () => Promise.resolve(false) },
    out: join(folder, 'other'),
    code: 'out-of-memory',
  });
  await expect(other).rejects.toThrow('does not fail with out-of-memory; its errors are unsupported-op');
});
