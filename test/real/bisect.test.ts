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
import { cacheFolder } from '../../src/kernel/node/files/cacheFolder.ts';
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
    maxSeconds: 600,
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
  test.each(numbers)('network %i: the smallest piece, its pattern, in few builds', async (number) => {
    const result = await search(number, fault);
    expect(result).toMatchObject({ reason: 'wrong', repeatability: 'same' });
    if (pattern) expect(result.piece!.pattern).toMatchObject(pattern);
    // Twelve nodes of any kind have to stay of the last, and each is tried alone.
    expect(result.builds).toBeLessThanOrEqual(fault === 'whole_only' ? 70 : 60);
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
  const { value: model } = await readModel(bytesOf(readFileSync(piece!.model)));
  const { nodes } = networkOf(model!);
  const found: string[] = [];
  for (const [left, { id, op }] of nodes.entries()) {
    // Identity stands where a node only passes its input on.
    if (op === 'Constant' || op === 'Identity' || nodes.length === 1) continue;
    if (
      await isWrongAlone(
        piece!.model,
        fault,
        [...nodes.keys()].filter((node) => node !== left),
      )
    )
      found.push(`${id} ${op} of ${number}`);
  }
  return found;
}

async function isWrongAlone(path: string, fault: string, nodes: readonly number[]): Promise<boolean> {
  const out = join(folder, 'oracle.onnx');
  await extractSubgraph({
    path,
    pick: (graph) => subgraphOf(graph, nodes, null),
    out,
    weights: 'embed',
    anyRank: true,
  });
  // One build compares, and none is left to search.
  const compared = await bisectModel({ ...requestFor(out, fault), out: join(folder, 'oracle'), maxBuilds: 1 });
  return compared.reason === 'budget';
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

test('a search that is stopped goes on, and a cancel keeps the smallest piece', async () => {
  const out = join(folder, 'stopped');
  const whole = await search(0, 'lost_mul');
  const first = await search(0, 'lost_mul', { out, maxBuilds: 20 });
  expect(first).toMatchObject({ reason: 'budget', fix: null });
  expect(first.piece!.nodes.length).toBeGreaterThan(whole.piece!.nodes.length);
  const abort = new AbortController();
  let builds = 0;
  const status = (text: string) => {
    if (text.includes(' nodes, ') && (builds += 1) === 25) abort.abort();
  };
  const request = { ...requestFor(join(models, '0.onnx'), 'lost_mul'), out };
  expect(await bisectModel(request, { status }, abort.signal)).toMatchObject({ reason: 'cancelled', fix: null });
  const last = await bisectModel(request);
  expect(last).toMatchObject({ reason: 'wrong', piece: { nodes: whole.piece!.nodes }, steps: whole.steps });
  expect(last.builds).toBeLessThan(whole.builds - 20);
  expect(readdirSync(out)).not.toContain('search.jsonl');
});

test('through launchers: the worker stays open, and the piece is built at each place', async () => {
  const { worker, ...request } = requestFor(join(models, 'dynamic.onnx'), 'lost_mul');
  const { python: program, environment, script: standIn, ...place } = worker!;
  const placed = (fault: string, more: object) => {
    const variables = Object.entries({ ...environment, FAULT: fault }).map(([name, value]) => `${name}='${value}'`);
    // The stand-in takes the place of the worker; other programs, which make folders, run as they are.
    const worked = `exec env ${variables.join(' ')} ${program} -B ${standIn}`;
    const shell = `case "$*" in *engine_worker.py*) ${worked};; *) exec "$@";; esac`;
    const launcher = { command: ['sh', '-c', shell, 'sh', '{command}'], guard: false, ...more };
    return { ...place, python: 'python3', script: script('engine_worker.py'), launcher };
  };
  const shared = {
    paths: [folder, cacheFolder(), dirname(script('job.py'))].map((path) => ({ here: path, there: path })),
  };
  const there = join(folder, 'there-{id}');
  const copies = { folder: there, copyTo: ['cp', '{here}', '{there}'], copyBack: ['cp', '{there}', '{here}'] };
  const result = await bisectModel({
    ...request,
    out: join(folder, 'launched'),
    worker: placed('lost_mul', copies),
    others: [placed('', shared), placed('lost_mul', shared)],
  });
  expect(result).toMatchObject({ reason: 'wrong', elsewhere: [{ wrong: false }, { wrong: true }] });
  // The inputs are as small as they can be.
  expect(result.piece!.output!.shape![0]).toBe(1);
  expect(readdirSync(folder).filter((name) => name.startsWith('there-'))).toEqual([]);
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

test('a comparison of numbers that are as good as equal is noise: in FP64 it comes out as on an H200, not as in FP32', async () => {
  const near = fileURLToPath(new URL('../fixtures/near_tie/', import.meta.url));
  const result = await bisectModel({
    ...requestFor(join(near, 'model.onnx'), ''),
    inputs: [join(near, 'inputs.npz')],
    expected: join(near, 'h200.npz'),
    out: join(folder, 'near-tie'),
  });
  expect(result).toMatchObject({ reason: 'right', reference: { noise: expect.closeTo(0.2271, 3) } });
});
