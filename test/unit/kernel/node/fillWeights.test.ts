import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { onnx } from 'onnx-proto';
import { beforeAll, expect, test, vi } from 'vitest';
import { fillWeights } from '../../../../src/kernel/node/files/fillWeights.ts';
import { randomBytesOf } from '../../../../src/kernel/node/files/internal/randomWeights.ts';
import { Cancelled } from '../../../../src/kernel/node/files/userError.ts';
import { modelPath } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const folder = temporaryFolder();
const cache = join(folder, 'cache');
const models = JSON.parse(readFileSync(join(dirname(modelPath('x')), 'models.json'), 'utf8')) as Record<
  string,
  { weights_bin_bytes: number }
>;

interface External {
  location: string;
  offset?: string;
  length?: string;
}

/** A model of one initializer whose data is external. */
function modelWith(name: string, external: External, dims = [4], dataType = 1): string {
  const entries = Object.entries(external).map(([key, value]) => ({ key, value: value as string }));
  const bytes = onnx.ModelProto.encode({
    irVersion: 8,
    opsetImport: [{ version: 17 }],
    graph: {
      name: 'g',
      node: [{ opType: 'Add', input: ['x', 'w'], output: ['y'] }],
      initializer: [{ name: 'w', dims, dataType, dataLocation: 1, externalData: entries }],
      input: [{ name: 'x' }],
      output: [{ name: 'y' }],
    },
  }).finish();
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return path;
}

test.each(['resnet18', 'resnet18_fp16', 'vit_tiny', 'loop_if', 'unnamed'])(
  '%s: the size that its entries say, the model as it was',
  async (name) => {
    const path = await fillWeights(modelPath(name), cache);
    expect(readFileSync(path)).toEqual(readFileSync(modelPath(name)));
    expect(statSync(join(dirname(path), 'weights.bin')).size).toBe(models[name]!.weights_bin_bytes);
    expect(readdirSync(dirname(path)).sort()).toEqual([`${name}.onnx`, 'weights.bin']);
  },
);

test('the same model gives the same bytes, anywhere and packed too', async () => {
  const digest = async (model: string, into: string) =>
    createHash('sha256')
      .update(readFileSync(join(dirname(await fillWeights(model, into)), 'weights.bin')))
      .digest('hex');
  const packed = join(folder, 'unnamed.onnx.gz');
  writeFileSync(packed, gzipSync(readFileSync(modelPath('unnamed'))));
  const first = await digest(modelPath('unnamed'), join(folder, 'one'));
  expect(await digest(modelPath('unnamed'), join(folder, 'two'))).toBe(first);
  expect(await digest(packed, join(folder, 'three'))).toBe(first);
});

test('a model without external data is used as it is', async () => {
  expect(await fillWeights(modelPath('fp16_overflow'), cache)).toBe(modelPath('fp16_overflow'));
});

test('two at once give one result', async () => {
  const both = await Promise.all([0, 1].map(() => fillWeights(modelPath('lstm_gru'), join(folder, 'both'))));
  expect(both[0]).toBe(both[1]);
  expect(readdirSync(join(folder, 'both', 'random-weights'))).toHaveLength(1);
});

test.each([
  ['above', { location: '../escape.bin' }],
  ['hidden', { location: 'a/../../escape.bin' }],
  ['backslashes', { location: 'a\\..\\..\\escape.bin' }],
  ['absolute', { location: '/tmp/escape.bin' }],
  ['drive', { location: 'C:\\escape.bin' }],
  ['none', { location: '' }],
])('never writes outside its folder: %s', async (name, external) => {
  await expect(fillWeights(modelWith(`${name}.onnx`, external), cache)).rejects.toThrow(
    /tensor "w" is outside the model's folder/,
  );
});

test('says when an entry cannot be right', async () => {
  await expect(fillWeights(modelWith('self.onnx', { location: 'SELF.onnx' }), cache)).rejects.toThrow(
    'is in the model file itself',
  );
  await expect(fillWeights(modelWith('length.onnx', { location: 'w', length: '15' }), cache)).rejects.toThrow(
    'has 15 bytes, but its type and shape need 16',
  );
  await expect(fillWeights(modelWith('offset.onnx', { location: 'w', offset: '-4' }), cache)).rejects.toThrow(
    'invalid byte offset "-4"',
  );
  await expect(fillWeights(modelWith('type.onnx', { location: 'w' }, [4], 8), cache)).rejects.toThrow(
    /the type string, whose size is unknown/,
  );
  await expect(fillWeights(modelWith('huge.onnx', { location: 'w' }, [2 ** 40, 2 ** 10]), cache)).rejects.toThrow(
    /random weights need .* GiB/,
  );
});

test('a file that is no model is said to be none', async () => {
  writeFileSync(join(folder, 'text.onnx'), 'hello\n');
  await expect(fillWeights(join(folder, 'text.onnx'), cache)).rejects.toThrow(/text\.onnx: /);
});

test('weights in a folder below the model', async () => {
  const path = await fillWeights(modelWith('deep.onnx', { location: 'a/b/w.bin', offset: '8' }), cache);
  expect(statSync(join(dirname(path), 'a/b/w.bin')).size).toBe(24);
});

let values: number[];
beforeAll(() => {
  const bytes = Buffer.concat([...randomBytesOf('float', 4_000_000, 7)]);
  values = Array.from({ length: 1_000_000 }, (_, index) => bytes.readFloatLE(4 * index));
});

test('floats are spread like weights', () => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  expect(Math.abs(mean)).toBeLessThan(1e-4);
  expect(deviation).toBeCloseTo(0.02, 4);
  expect(new Set(values).size).toBeGreaterThan(900_000);
});

test('half precision holds the same values, cut off', () => {
  const bytes = Buffer.concat([...randomBytesOf('float16', 2000, 7)]);
  for (let index = 0; index < 1000; index += 1) {
    const bits = bytes.readUInt16LE(2 * index);
    const exponent = (bits >> 10) & 0x1f;
    const value = exponent === 0 ? 0 : (bits & 0x8000 ? -1 : 1) * 2 ** (exponent - 15) * (1 + (bits & 0x3ff) / 1024);
    expect(Math.abs(value - values[index]!)).toBeLessThan(Math.abs(values[index]!) / 1000 + 2 ** -14);
  }
});

test('the right number of bytes of every type', () => {
  for (const type of ['float', 'double', 'bfloat16', 'int8', 'int64', 'uint4', 'bool'])
    for (const length of [0, 1, 3, 8, 3_000_001])
      expect([...randomBytesOf(type, length, 1)].reduce((sum, { length: part }) => sum + part, 0)).toBe(length);
  expect(Buffer.concat([...randomBytesOf('int64', 64, 1)])).toEqual(Buffer.alloc(64));
});

test('can be cancelled, and leaves nothing', async () => {
  const own = join(folder, 'cancelled');
  // A gigabyte that a cancel must not wait for.
  const model = modelWith('cancelled.onnx', { location: 'w.bin' }, [2.5e8]);
  const abort = new AbortController();
  const made = fillWeights(model, own, abort.signal);
  const begun = () => expect(readdirSync(join(own, 'random-weights'), { recursive: true })).toHaveLength(2);
  await vi.waitFor(begun, { timeout: 20_000, interval: 5 });
  abort.abort();
  await expect(made).rejects.toThrow(Cancelled);
  expect(readdirSync(join(own, 'random-weights'))).toEqual([]);
});
