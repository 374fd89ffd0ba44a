import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { bisectModel, type BisectRequest } from '../../src/features/bisect/node/bisectModel.ts';
import { Reference } from '../../src/features/bisect/node/reference.ts';
import { extractSubgraph } from '../../src/features/surgery/node/extractSubgraph.ts';
import { subgraphOf } from '../../src/features/surgery/extractModel.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { networkOf } from '../../src/kernel/network/network.ts';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';
import type { BisectResult } from '../../src/features/bisect/bisectReport.ts';
import { runProcess } from '../../src/kernel/node/tools/runProcess.ts';
import { type PythonTools, pythonForTests } from '../support/python.ts';
import { temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();
const models = join(folder, 'models');
const script = (name: string) => fileURLToPath(new URL(`../../src/driver/${name}`, import.meta.url));
const support = (name: string) => fileURLToPath(new URL(`../support/${name}`, import.meta.url));
let python: PythonTools;

/** How many random networks each fault is planted in. */
const COUNT = Number(process.env['BISECT_MODELS'] ?? 2);

beforeAll(async () => {
  python = await pythonForTests();
  mkdirSync(models);
  const { code } = await runProcess({
    program: python.runtime.python,
    args: [support('bisect_models.py'), models, String(COUNT), '1'],
    environment: python.runtime.environment,
  });
  expect(code).toBe(0);
});

const search = (number: number, fault: string, more: Partial<BisectRequest> = {}): Promise<BisectResult> =>
  bisectModel({
    ...requestFor(join(models, `${number}.onnx`), fault),
    out: join(folder, `${fault}-${number}`),
    ...more,
  });

function requestFor(model: string, fault: string): Omit<BisectRequest, 'out'> {
  return {
    options: { model, backend: 'python' } as BisectRequest['options'],
    inputs: [],
    tolerance: 1e-3,
    maxBuilds: 200,
    maxMinutes: 10,
    anonymize: false,
    worker: {
      python: python.runtime.python,
      environment: { ...python.runtime.environment, FAULT: fault, DRIVER: dirname(script('job.py')) },
      script: support('stand_in_engine_worker.py'),
      module: 'tensorrt',
      plugins: [],
    },
    runtime: python.runtime,
    script: script('bisect_reference.py'),
  };
}

const numbers = Array.from({ length: COUNT }, (_, number) => number);

/** Each planted fault, and the pattern that the piece shows; null: it depends on the network. */
const faults: [fault: string, pattern: object | null][] = [
  ['lost_mul', { kind: 'factor', value: expect.closeTo(1 / 0.6, 4) }],
  ['wrong_batch', { kind: 'batch', value: [1] }],
  ['dense_view', null],
  ['transposed', { kind: 'permuted-axis', value: [0, 2, 1] }],
  ['one_cumsum', null],
  ['overflow', null],
  ['hidden_by_marks', { kind: 'factor', value: expect.closeTo(2, 4) }],
  ['whole_only', null],
];

describe.each(faults)('%s', (fault, pattern) => {
  test.each(numbers)('network %i: the smallest piece, its pattern, within 60 builds', async (number) => {
    const result = await search(number, fault);
    expect(result).toMatchObject({ reason: 'wrong', repeatability: 'same' });
    if (pattern) expect(result.piece!.pattern).toMatchObject(pattern);
    expect(result.builds).toBeLessThanOrEqual(60);
    expect(await needless(number, fault, result)).toEqual([]);
    if (fault === 'lost_mul') {
      const { error, change, model } = result.fix!;
      expect(change).toBe('scale one input of the product instead of both');
      expect(error).toBeLessThan(1e-5);
      expect(model).toBe(join(folder, `${fault}-${number}`, 'fixed.onnx'));
    }
  });
});

/** Nodes of a piece without which it is still wrong: by an engine that is asked about each, apart from the search. */
async function needless(number: number, fault: string, { piece }: BisectResult): Promise<string[]> {
  const { value: model } = await readModel(bytesOf(readFileSync(join(models, `${number}.onnx`))));
  const graph = networkOf(model!);
  const found: string[] = [];
  for (const id of piece!.nodes) {
    if (graph.nodes[graph.indexOfId.get(id)!]!.op === 'Constant') continue;
    const nodes = piece!.nodes.filter((other) => other !== id);
    if (nodes.length > 0 && (await isWrongAlone(number, fault, nodes))) found.push(id);
  }
  return found;
}

async function isWrongAlone(number: number, fault: string, nodes: readonly string[]): Promise<boolean> {
  const out = join(folder, 'oracle.onnx');
  await extractSubgraph({
    path: join(models, `${number}.onnx`),
    pick: (graph) =>
      subgraphOf(
        graph,
        nodes.map((id) => graph.indexOfId.get(id)!),
        null,
      ),
    out,
    weights: 'embed',
    anyRank: true,
  });
  const compared = await bisectModel({ ...requestFor(out, fault), out: join(folder, 'oracle'), compareOnly: true });
  return compared.reason === 'wrong';
}

test.each(numbers)('a right engine of network %i', async (number) => {
  const { reason, outputs, piece } = await search(number, '');
  expect({ reason, piece, wrong: outputs.filter(({ wrong }) => wrong) }).toEqual({
    reason: 'right',
    piece: null,
    wrong: [],
  });
});

test.each(['nondeterministic', 'remembers'])('an engine that is %s is no fault of single nodes', async (fault) => {
  expect(await search(0, fault)).toMatchObject({ reason: fault, piece: null });
});

test('what shows the fault to others: the piece, its inputs, both outputs, a script; names on request only', async () => {
  const { piece } = await search(0, 'lost_mul', { out: join(folder, 'anonymous'), anonymize: true });
  expect(readdirSync(join(folder, 'anonymous')).toSorted()).toEqual(
    ['README.md', 'engine.npz', 'expected.npz', 'fixed.onnx', 'inputs.npz', 'model.onnx', 'show.py'].toSorted(),
  );
  const { value } = await readModel(bytesOf(readFileSync(piece!.model)));
  expect(value!.nodes.map(({ name }) => name).filter((name) => !/^node\d+$/.test(name))).toEqual([]);
});

test('outputs of another program: a wrong export is the answer', async () => {
  const other = join(folder, 'other-outputs');
  const right = await search(1, '', { expected: undefined });
  expect(right.reason).toBe('right');
  const session = new Reference(python.runtime, script('bisect_reference.py'));
  try {
    const declared = [{ name: 'x', type: 'float', shape: [2, 6, 8], random: { shape: [2, 6, 8], values: 'normal' } }];
    const [inputs] = await session.inputs([], declared as never, 0, other);
    await session.run(join(models, '0.onnx'), inputs!, `${other}.npz`);
    const wrong = await search(1, '', { inputs: [inputs!], expected: `${other}.npz` }).catch((error: unknown) => error);
    // Names of another network's outputs are no reference.
    expect(wrong).toBeInstanceOf(Error);
    await session.run(join(models, '1.onnx'), inputs!, `${other}.npz`);
    expect((await search(1, '', { inputs: [inputs!], expected: `${other}.npz` })).reason).toBe('right');
  } finally {
    await session.close();
  }
});
