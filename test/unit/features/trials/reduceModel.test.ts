import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reduceModel, type ReduceRequest } from '../../../../src/features/trials/node/reduceModel.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { failingTrtexec } from '../../../support/failingTrtexec.ts';
import { fakeTool } from '../../../support/fakeTool.ts';
import { captureText, modelPath } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';
import { unzipped } from '../../../support/unzipped.ts';

const folder = temporaryFolder();
const cache = join(folder, 'cache');
const core = ['/blocks/blocks.3/attn/Softmax', '/blocks/blocks.4/attn/Softmax'];
const foreign = `{ForeignNode[${core.join('...')}]}`;

/** Gets a dot for each build. */
const calls = join(folder, 'calls');
/** One without an implementation for a network that has both nodes, and with another trouble for a lone one. */
const tool = failingTrtexec(
  folder,
  'trtexec',
  `[${JSON.stringify(`Could not find any implementation for node ${foreign}.`)}, 'out of memory', ''][
    ${JSON.stringify(core)}.filter((name) => !has(0x1a, name)).length]`,
);
const softmaxTool = failingTrtexec(folder, 'trtexec-softmax', `has(0x22, 'Softmax') ? 'out of memory' : ''`);
const request = (out: string, more: Partial<ReduceRequest> = {}): ReduceRequest => ({
  options: {
    model: modelPath('vit_tiny'),
    randomWeights: true,
    backend: 'trtexec',
    trtexec: tool,
    driver: 'unused',
    cache,
    confirm: () => Promise.reject(new Error('asked')),
  },
  out: join(folder, out),
  ...more,
});

const sizes: number[] = [];
let searched: ReturnType<typeof reduceModel> | undefined;
/** The whole search for two nodes that TensorRT cannot compile together, made once. */
const search = () => (searched ??= reduceModel(request('foreign'), (nodes) => sizes.push(nodes)));

test('two nodes that TensorRT cannot compile together; another failure of one of them does not count', async () => {
  const found = await search();
  expect(found).toMatchObject({ code: 'no-implementation', operator: null, to: 2, assumed: [], stopped: false });
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
  expect(found.builds).toBeLessThanOrEqual(60);
  const { value } = await readModel(bytesOf(readFileSync(found.model)));
  expect(value!.nodes.map(({ name }) => name)).toEqual(core);
  expect(readFileSync(join(folder, 'foreign/build.log'), 'utf8')).toContain(foreign);
  expect(readFileSync(join(folder, 'foreign/command.txt'), 'utf8')).toContain('--onnx=model.onnx');
  // Nothing else is left, neither here nor among the builds of the user.
  expect(readdirSync(join(cache, 'reduce'))).toEqual([]);
  expect(readdirSync(join(cache, 'builds'))).toEqual([]);
});

test('when the time is up, the smallest part so far is the result', async () => {
  const found = await reduceModel(request('stopped', { maxSeconds: 0 }));
  expect(found).toMatchObject({ stopped: true, code: 'no-implementation' });
  expect(found.to).toBe(found.from);
});

test('cancelling ends the search; the same request continues it without building anything twice', async () => {
  const whole = await search();
  const cancel = new AbortController();
  let count = 0;
  const running = reduceModel(request('cancelled'), () => (++count === 2 ? cancel.abort() : undefined), cancel.signal);
  await expect(running).rejects.toThrow('cancelled');
  expect(readdirSync(join(folder, 'cancelled'))).toEqual(['reduce.state']);
  expect(readdirSync(join(cache, 'reduce'))).toEqual([]);
  const before = readFileSync(calls, 'utf8').length;
  const found = await reduceModel(request('cancelled'));
  const built = readFileSync(calls, 'utf8').slice(before).length;
  expect(found).toMatchObject({ to: 2, builds: whole.builds, stopped: false });
  expect(built).toBeLessThan(whole.builds);
  expect(readdirSync(join(folder, 'cancelled')).toSorted()).toEqual(['build.log', 'command.txt', 'model.onnx']);
});

test('answers to another question do not count', async () => {
  await reduceModel(request('question', { maxSeconds: 0 }));
  expect(readdirSync(join(folder, 'question'))).toContain('reduce.state');
  const other = reduceModel(request('question', { code: 'out-of-memory' }));
  await expect(other).rejects.toThrow('does not fail with out-of-memory');
});

test('a state file that was cut off', async () => {
  await reduceModel(request('cut', { maxSeconds: 0 }));
  const state = join(folder, 'cut/reduce.state');
  writeFileSync(state, `${readFileSync(state, 'utf8')}{"part":"12`);
  expect(await reduceModel(request('cut'))).toMatchObject({ to: 2 });
});

test('a zip file without names and without weights', async () => {
  const out = join(folder, 'failure.zip');
  const found = await reduceModel(
    request('failure.zip', {
      anonymize: true,
      withoutWeights: true,
      code: 'out-of-memory',
      options: { ...request('').options, trtexec: softmaxTool },
    }),
  );
  expect(found.model).toBe(out);
  const files = await unzipped(out);
  expect([...files.keys()]).toEqual(['failure/build.log', 'failure/command.txt', 'failure/model.onnx']);
  const { value } = await readModel(bytesOf(files.get('failure/model.onnx')!));
  expect(value!.nodes.map(({ name, op }) => [name, op])).toEqual([['node0', 'Softmax']]);
  expect(value!.graph.inputs.map(({ name }) => name)).toEqual(['tensor0']);
  const texts = [...files.values()].map((bytes) => bytes.toString('latin1')).join('');
  expect(texts).not.toContain('blocks');
  expect(texts).not.toContain(folder);
  expect(files.get('failure/command.txt')!.toString()).toMatch(
    /^# The weights are not included\..*\n\S*trtexec\S* --onnx=model.onnx /,
  );
});

/**
 * What TensorRT 10.6 said of fp16_overflow with every tensor an output and --fp16, for each network that has both of the
 * operators from which the region that fails is made here: on a GPU, such a build takes minutes.
 */
test('the failure of a build with every tensor an output, replayed', async () => {
  const log = join(folder, 'markall');
  writeFileSync(log, captureText('tensorrt-10.6.0/fp16_overflow.poly_markall/log0.txt')!);
  const polygraphy = fakeTool(
    folder,
    'polygraphy',
    `
    const { readFileSync, writeFileSync } = require('fs');
    if (args[0] === '--version') { console.log('Polygraphy | Version: 0.49.14'); return; }
    if (args.includes('--help')) return;
    const after = (flag) => args[args.indexOf(flag) + 1];
    const model = readFileSync(args[1]);
    const has = (op) => model.includes(Buffer.concat([Buffer.from([0x22, op.length]), Buffer.from(op)]));
    const all = args.includes('--trt-outputs') && after('--trt-outputs') === 'mark' && args.includes('--fp16');
    if (all && has('ReduceMean') && has('Pow')) {
      process.stdout.write(readFileSync(${JSON.stringify(log)}));
      process.exitCode = 1;
    } else writeFileSync(after('-o'), 'engine');`,
  );
  const found = await reduceModel({
    options: {
      model: modelPath('fp16_overflow'),
      backend: 'polygraphy',
      polygraphy,
      precision: 'fp16',
      outputs: 'all',
      driver: 'unused',
      cache,
      confirm: () => Promise.reject(new Error('asked')),
    },
    out: join(folder, 'markall-reduced'),
  });
  expect(found).toMatchObject({ code: 'type-mismatch', operator: null, to: 3, stopped: false });
  const { value } = await readModel(bytesOf(readFileSync(found.model)));
  expect(value!.nodes.map(({ op }) => op).toSorted()).toEqual(['Constant', 'Pow', 'ReduceMean']);
  expect(readFileSync(join(folder, 'markall-reduced/command.txt'), 'utf8')).toContain('--trt-outputs mark all');
});
