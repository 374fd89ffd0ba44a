import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reduceModel, type ReduceRequest } from '../../../src/builder/run/reduceModel.ts';
import { readModel } from '../../../src/core/onnx/readModel.ts';
import { bytesOf } from '../../../src/core/text/byteSource.ts';
import { fakeTool } from '../../support/fakeTool.ts';
import { captureText, modelPath } from '../../support/fixtures.ts';
import { temporaryFolder } from '../../support/rtx.ts';

const folder = temporaryFolder();
const cache = join(folder, 'cache');
const core = ['/blocks/blocks.3/attn/Softmax', '/blocks/blocks.4/attn/Softmax'];
const foreign = `{ForeignNode[${core.join('...')}]}`;

/** A trtexec without an implementation for a network that has both nodes, and with another trouble for a lone one. */
function trtexec(): string {
  writeFileSync(join(folder, 'help'), captureText('tensorrt-10.6.0/cli.help/log.txt')!);
  const failed = '[11/21/2026-10:00:00] [E] Error[10]: IBuilder::buildSerializedNetwork: Error Code 10: Internal Error';
  const body = `
    const { readFileSync, writeFileSync } = require('fs');
    if (args[0] === '--help') { process.stdout.write(readFileSync(${JSON.stringify(join(folder, 'help'))})); return; }
    const value = (flag) => args.find((arg) => arg.startsWith('--' + flag + '='))?.slice(flag.length + 3);
    const model = readFileSync(value('onnx'));
    // The field of a node's name: tensors are called alike.
    const found = ${JSON.stringify(core)}.filter((name) =>
      model.includes(Buffer.concat([Buffer.from([0x1a, name.length]), Buffer.from(name)])));
    console.log('&&&& RUNNING TensorRT.trtexec [TensorRT v100600] # trtexec ' + args.join(' '));
    if (found.length === 0) writeFileSync(value('saveEngine'), 'engine');
    else {
      const why = found.length === 2 ? ${JSON.stringify(`Could not find any implementation for node ${foreign}.`)} : 'out of memory';
      console.log(${JSON.stringify(failed)} + ' (' + why + ')');
      console.log('&&&& FAILED TensorRT.trtexec');
      process.exitCode = 1;
    }`;
  return fakeTool(folder, 'trtexec', body);
}

const tool = trtexec();
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

test('two nodes that TensorRT cannot compile together; another failure of one of them does not count', async () => {
  const sizes: number[] = [];
  const found = await reduceModel(request('foreign'), (nodes) => sizes.push(nodes));
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
  const found = await reduceModel(request('stopped', { maxMinutes: 0 }));
  expect(found).toMatchObject({ stopped: true, code: 'no-implementation' });
  expect(found.to).toBe(found.from);
});

test('cancelling ends the search and leaves no result', async () => {
  const cancel = new AbortController();
  const running = reduceModel(request('cancelled'), () => cancel.abort(), cancel.signal);
  await expect(running).rejects.toThrow('cancelled');
  expect(readdirSync(folder)).not.toContain('cancelled');
  expect(readdirSync(join(cache, 'reduce'))).toEqual([]);
});
