import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { readModel } from '../../../../../src/kernel/read/onnx/readModel.ts';
import type { InlineData, OnnxModel, OnnxTensor } from '../../../../../src/kernel/read/onnx/onnxModel.ts';
import { bytesOf, type ByteSource, type Problem } from '../../../../../src/kernel/base/problem.ts';
import { fixturePath, modelPath } from '../../../../support/fixtures.ts';
import { mutate, mutation } from '../../../../support/mutations.ts';
import { int, len, model, node } from '../../../../support/wire.ts';

// Thousands of files; a machine with other work must not make it fail.
vi.setConfig({ testTimeout: 120_000 });

const whole = readFileSync(modelPath('loop_if'));
const built = (name: string): Uint8Array => readFileSync(fixturePath(`builds/${name}/model.onnx`));
/** Subgraphs, constants in attributes, local functions, nested loops. */
const seeds = [whole, built('if_const2'), built('functions2'), built('loop_nested')];

/** Counts what the reader asks for: it must end after a bounded number of reads of bounded size. */
function counted(bytes: Uint8Array): ByteSource & { reads: number; bytesRead: number } {
  return {
    size: bytes.length,
    reads: 0,
    bytesRead: 0,
    read(offset, length) {
      this.reads++;
      this.bytesRead += length;
      return Promise.resolve(bytes.subarray(offset, offset + length));
    },
  };
}

/** Whatever comes in: an answer, well-formed, and no bigger than the input allows. */
async function survives(bytes: Uint8Array): Promise<{ value: OnnxModel | undefined; problems: Problem[] }> {
  const source = counted(bytes);
  const { value, problems } = await readModel(source, { spans: true });
  expect(source.reads).toBeLessThanOrEqual(2 + bytes.length / 64);
  expect(source.bytesRead).toBeLessThanOrEqual(8192 + 4 * bytes.length);
  expect(value !== undefined || problems.length > 0).toBe(true);
  expect(problems.length).toBeLessThan(30);
  for (const { severity, code, message, offset } of problems) {
    expect(['error', 'warning']).toContain(severity);
    expect(code).toMatch(/^[a-z-]+$/);
    expect(message.length).toBeGreaterThan(10);
    expect(message.length).toBeLessThan(3000);
    if (offset !== undefined) expect(offset).toBeLessThanOrEqual(bytes.length);
  }
  const nodes = value?.nodes ?? [];
  expect(nodes.length).toBeLessThanOrEqual(bytes.length / 2);
  expect(new Set(nodes.map(({ span }) => span!.at)).size).toBe(nodes.length);
  return { value, problems };
}

describe('a model cut off at every byte', () => {
  test('gives the nodes before the cut and says that it is cut off', async () => {
    const { value: complete } = await readModel(bytesOf(whole));
    const names = complete!.nodes.map(({ name }) => name);
    const silent: number[] = [];
    for (let length = 0; length < whole.length; length++) {
      // eslint-disable-next-line no-await-in-loop -- one after the other, so that a failure names its length
      const { value, problems } = await survives(whole.subarray(0, length));
      if (problems.length === 0) silent.push(length);
      const found = value?.nodes.map(({ name }) => name) ?? [];
      // The last one may have been cut before its name.
      expect(found.slice(0, -1)).toEqual(names.slice(0, Math.max(0, found.length - 1)));
    }
    expect(silent).toEqual([]);
  });

  test.each([1, 2, 3])('seed %i never throws', async (index) => {
    const seed = seeds[index]!;
    await Promise.all(Array.from({ length: seed.length }, (_, length) => survives(seed.subarray(0, length))));
  });
});

describe('damaged files', () => {
  test('mutated models', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...seeds),
        fc.array(mutation, { minLength: 1, maxLength: 6 }),
        async (seed, changes) => {
          await survives(changes.reduce<Uint8Array>(mutate, seed));
        },
      ),
      { numRuns: 1500 },
    );
  });

  test('whoever only counts gets as many nodes and the same problems', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...seeds), fc.array(mutation, { maxLength: 6 }), async (seed, changes) => {
        const bytes = changes.reduce<Uint8Array>(mutate, seed);
        const [whole, counted] = [await readModel(bytesOf(bytes)), await readModel(bytesOf(bytes), { counting: true })];
        expect(counted.problems).toEqual(whole.problems);
        expect(counted.value?.nodes.length).toBe(whole.value?.nodes.length);
      }),
      { numRuns: 300 },
    );
  });

  test('random bytes, alone and behind a real beginning', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.nat(400), async (bytes, keep) => {
        await survives(bytes);
        await survives(Buffer.concat([whole.subarray(0, keep), bytes]));
      }),
      { numRuns: 1500 },
    );
  });

  test('a source that serves few bytes at a time, or fails midway, gives a problem and no exception', async () => {
    const bytes = readFileSync(modelPath('unnamed'));
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length), async (limit) => {
        const source: ByteSource = {
          size: bytes.length,
          read: (offset, length) =>
            offset + length > limit
              ? Promise.reject(new Error('gone'))
              : Promise.resolve(bytes.subarray(offset, offset + length)),
        };
        const { value, problems } = await readModel(source);
        if (value === undefined) expect(problems).toMatchObject([{ code: 'unreadable' }]);
      }),
      { numRuns: 50 },
    );
  });
});

test('the windows never show: a model with holes in its nodes, and one cut at any place by windows, read alike', async () => {
  const filler = (bytes: number): Uint8Array =>
    len(5, len(1, 'value'), int(20, 4), len(5, int(2, 1), len(9, new Uint8Array(bytes))));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(30_000), { maxLength: 12 }), async (sizes) => {
      const nodes = sizes.map((bytes, index) =>
        node(
          'Constant',
          [],
          [`output ${index}`],
          len(3, `name ${index}`),
          filler(bytes),
          filler(bytes % 999),
          len(7, 'ai.acme'),
        ),
      );
      const { value, problems } = await readModel(bytesOf(model(...nodes, len(12, len(1, 'y')))));
      expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
      expect(value!.nodes.map(({ name, outputs, domain }) => [name, outputs[0], domain])).toEqual(
        sizes.map((_, index) => [`name ${index}`, `output ${index}`, 'ai.acme']),
      );
      const lengths = value!.nodes.map(({ attributes }) =>
        attributes.map(({ value: tensor }) => ((tensor as OnnxTensor).data as { inline: InlineData }).inline.length),
      );
      expect(lengths).toEqual(sizes.map((bytes) => [bytes, bytes % 999]));
    }),
    { numRuns: 60 },
  );
});
