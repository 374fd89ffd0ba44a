import type { AccuracyReport } from '../../src/kernel/simulation/simulated.ts';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onnx } from 'onnx-proto';
import { expect, test } from 'vitest';
import { type AccuracyRequest, lowOutputs, withReference } from '../../src/features/accuracy/node/judgeAccuracy.ts';
import { accuracyDocument } from '../../src/features/accuracy/accuracyDocument.ts';
import { accuracyVerdict, passesTolerance } from '../../src/features/accuracy/accuracyReport.ts';
import { renderText } from '../../src/kernel/document/render.ts';
import { fixturePath } from '../support/fixtures.ts';
import { forkedScripts } from '../support/forkedScripts.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { judge, runtimeForTests } from '../support/runtime.ts';

/** What an accuracy report promises of the engine that a user builds. */

const folder = temporaryFolder();
const text = (report: AccuracyReport) => renderText(accuracyDocument(report, { title: 'm' }));

type Attributes = Record<string, number | number[]>;
const node = (opType: string, input: string[], output: string | string[], attributes: Attributes = {}) => ({
  opType,
  name: [output].flat()[0]!,
  input,
  output: [output].flat(),
  attribute: Object.entries(attributes).map(([name, one]) =>
    Array.isArray(one) ? { name, type: 7, ints: one } : { name, type: 2, i: one },
  ),
});
const value = (name: string, dims: number[]) => ({
  name,
  type: { tensorType: { elemType: 1, shape: { dim: dims.map((dimValue) => ({ dimValue })) } } },
});
const floats = (name: string, dims: number[], values: ArrayLike<number>) => ({
  name,
  dims,
  dataType: 1,
  rawData: new Uint8Array(Float32Array.from(values).buffer),
});

function write(name: string, graph: onnx.IGraphProto, opset = 13): string {
  const path = join(folder, `${name}.onnx`);
  const model = { irVersion: 9, opsetImport: [{ domain: '', version: opset }], graph: { name: 'g', ...graph } };
  writeFileSync(path, onnx.ModelProto.encode(model).finish());
  return path;
}

/** An input as a file of raw bytes. */
function input(name: string, values: ArrayLike<number>): string {
  const path = join(folder, `${name}.bin`);
  writeFileSync(path, new Uint8Array(Float32Array.from(values).buffer));
  return `x:${path}`;
}

const wave = (count: number, scale: number) => Array.from({ length: count }, (_, i) => scale * Math.sin(i * 1.7 + 1));
const eye = (size: number) => Array.from({ length: size * size }, (_, i) => (i % (size + 1) === 0 ? 1 : 0));

/** Two products behind pairs whose scale is far too small; `apart`: nodes between a Q and its DQ. */
function quantized(name: string, dataType: number, apart: number): string {
  const chain = Array.from({ length: apart }, (_, i) => node('Neg', [i === 0 ? 'x' : `c${i - 1}`], `c${i}`));
  const side = apart === 0 ? 'x' : `c${apart - 1}`;
  return write(
    name,
    {
      node: [
        node('QuantizeLinear', ['x', 's', 'z'], 'q0'),
        ...chain,
        node('DequantizeLinear', ['q0', 's', 'z'], 'd0'),
        node('MatMul', ['d0', 'w'], 'first'),
        node('QuantizeLinear', ['first', 's', 'z'], 'q1'),
        node('DequantizeLinear', ['q1', 's', 'z'], 'd1'),
        node('MatMul', ['d1', 'w'], 'second'),
        node('Add', ['second', side], 'y'),
      ],
      input: [value('x', [4, 8])],
      output: [value('y', [4, 8])],
      initializer: [
        floats('w', [8, 8], wave(64, 0.5)),
        floats('s', [], [0.005]),
        { name: 'z', dims: [], dataType, rawData: Uint8Array.of(0) },
      ],
    },
    19,
  );
}

test.each([
  ['int8', 3, 0],
  ['int8', 3, 40],
  ['fp8', 17, 0],
  ['fp8', 17, 40],
] as const)(
  '%s (type %i, %i nodes between Q and DQ): its own fix passes, and rules for one node help that one',
  async (low, type, apart) => {
    const model = quantized(`${low}${apart}`, type, apart);
    const inputs = [input('values', wave(32, 3))];
    const report = await judge(model, inputs, { low });
    expect(report.fix!.names).toEqual(['first', 'second']);
    const fixed = await judge(model, inputs, { low, rules: report.fix!.rules });
    expect([fixed.outputs[0]!.error, fixed.fix!.nodes]).toEqual([0, []]);
    // What is left of the error is that of the other node alone.
    const part = await judge(model, inputs, { low, rules: 'base keep\nfirst fp32\n' });
    expect(part.fix!.names).toEqual(['second']);
    expect(part.outputs[0]!.error).toBeCloseTo(report.nodes.find(({ name }) => name === 'second')!.alone!, 6);
  },
);

test('a fix keeps a margin, while rules that are passed are checked against the tolerance itself', async () => {
  const model = fixturePath('faults/gram_large_k/model.onnx');
  const inputs = [fixturePath('faults/gram_large_k/inputs.npz')];
  const fault = await judge(model, inputs);
  const { error } = fault.fix!;
  // With the fix that is just enough for this tolerance, nothing is left to do: it is not held to the margin.
  const tolerance = error * 1.1;
  const barely = await judge(model, inputs, { tolerance, rules: fault.fix!.rules });
  expect([passesTolerance(barely), barely.fix!.nodes]).toEqual([true, []]);
  const [safe, least] = [await judge(model, inputs, { tolerance }), await judge(model, inputs, { tolerance, aim: 1 })];
  expect(least.fix!.error).toBeGreaterThan(0.8 * tolerance);
  expect(safe.fix!.error).toBeLessThanOrEqual(0.8 * tolerance);
  expect(safe.fix!.nodes.length).toBeGreaterThan(least.fix!.nodes.length);
  expect(text(safe)).toMatch(/A fix aims at an error of [\d.e-]+, below the tolerance/);
  expect(safe.fix!.rules).toMatch(/\(tolerance [\d.e-]+, aimed at [\d.e-]+\)/);
});

test.each([
  ['Gather', [3], 'idx=4096'],
  ['GatherElements', [3, 1], 'Out of range'],
  ['GatherND', [3, 1], 'index = 4096'],
] as const)('%s with an index that rounding moves past its table: nothing is predicted', async (op, shape, why) => {
  const model = write(`past${op}`, {
    node: [
      node('Add', ['x', 'third'], 'moved'),
      node('Cast', ['moved'], 'index', { to: 7 }),
      node(op, ['t', 'index'], 'y'),
    ],
    input: [value('x', [...shape])],
    output: [value('y', [3, 1])],
    initializer: [floats('t', [4096, 1], wave(4096, 1)), floats('third', [], [0.3])],
  });
  const report = await judge(model, [input('places', [5, 100, 4095.2])]);
  expect(report.outputs[0]!.outside).toContain(why);
  expect(report.outputs[0]!.outside).toMatch(/^ONNX Runtime cannot run node "y" \(\w+\): [^/]*$/);
  expect(accuracyVerdict(report)).toMatch(/^In FP16 an index leaves its table, so no error is predicted; with 1 node/);
  expect(report.fix!.names).toEqual(['moved']);
  expect(text(report)).not.toMatch(/Its outputs count as not finite/);
});

test('a model that is a symbolic link into a folder of files with other names, as in a cache of Hugging Face', async () => {
  const weights = wave(64 * 64, 0.1);
  const graph = (initializer: onnx.ITensorProto) => ({
    node: [node('MatMul', ['x', 'w'], 'y')],
    input: [value('x', [2, 64])],
    output: [value('y', [2, 64])],
    initializer: [initializer],
  });
  mkdirSync(join(folder, 'blobs'));
  mkdirSync(join(folder, 'snapshot'));
  writeFileSync(join(folder, 'blobs', 'data'), new Uint8Array(Float32Array.from(weights).buffer));
  const external = [{ key: 'location', value: 'weights.bin' }];
  write('blobs/inside', graph(floats('w', [64, 64], weights)));
  write('blobs/outside', graph({ name: 'w', dims: [64, 64], dataType: 1, dataLocation: 1, externalData: external }));
  const inputs = [input('vector', wave(128, 1))];
  symlinkSync('../blobs/data', join(folder, 'snapshot', 'weights.bin'));
  for (const name of ['inside', 'outside']) {
    const link = join(folder, 'snapshot', `${name}.onnx`);
    symlinkSync(`../blobs/${name}.onnx`, link);
    const report = await judge(link, inputs);
    expect([name, passesTolerance(report), report.nodes.length]).toEqual([name, true, 1]);
  }
  // Data that is elsewhere is not read.
  mkdirSync(join(folder, 'elsewhere'));
  symlinkSync('../blobs/outside.onnx', join(folder, 'elsewhere', 'model.onnx'));
  symlinkSync('/etc/hostname', join(folder, 'elsewhere', 'weights.bin'));
  await expect(judge(join(folder, 'elsewhere', 'model.onnx'), inputs)).rejects.toThrow('is a symbolic link');
});

interface Measured {
  x: number[][];
  networks: { network: string; type: 'fp32' | 'fp16' | 'bf16'; y: (number | string)[] }[];
}

const measured = JSON.parse(readFileSync(fixturePath('logSumExp.json'), 'utf8')) as Measured;

/** A network of the fixture with an output for each row. */
function networkOf(steps: string): string {
  const operators = steps.split(' -> ').slice(1);
  const rows = measured.x.map((_, row) => `y${row}`);
  const named = (at: number) => (at < 0 ? 'x' : `${operators[at]}`);
  const attributes = (op: string): Attributes =>
    op.startsWith('Reduce') ? { axes: [-1], keepdims: 1 } : op.endsWith('oftmax') ? { axis: -1 } : {};
  const width = operators.at(-1)!.startsWith('Reduce') ? 1 : 8;
  return write(operators.join('_'), {
    node: [
      ...operators.map((op, at) =>
        node(op, op === 'MatMul' ? [named(at - 1), 'w'] : [named(at - 1)], named(at), attributes(op)),
      ),
      node('Split', [named(operators.length - 1)], rows, { axis: 0 }),
    ],
    input: [value('x', [measured.x.length, 8])],
    output: rows.map((row) => value(row, [1, width])),
    initializer: [floats('w', [8, 8], eye(8))],
  });
}

/** In FP16, a kernel of its own keeps exponentials in FP32; what is predicted is that of a fused one. */
const compared = measured.networks.filter(
  ({ network, type }) => !(network === 'x -> ReduceLogSumExp' && type === 'fp16'),
);

test.each(compared)(
  '$network in $type: not finite in those rows in which TensorRT 10.6 was',
  async ({ network, type, y }) => {
    const runtime = await runtimeForTests();
    const script = join(await forkedScripts(runtime, ['onnxruntime']), 'simulate.py');
    const limits = { tolerance: 0.01, maxRuns: 0, maxSeconds: 0, modelLine: '' };
    const inputs = [input('rows', measured.x.flat())];
    const request: AccuracyRequest = { ...limits, model: networkOf(network), inputs, runtime, script };
    let outputs: Awaited<ReturnType<typeof lowOutputs>> = [];
    if (type === 'fp32') await withReference(request, async (run) => void (outputs = run.exact));
    else outputs = await lowOutputs({ ...request, low: type });
    // Kernels differ in whether they keep exponentials below 1.2e-38.
    const rows = measured.x.flatMap(([largest = 0], row) =>
      largest < -86 && largest > -105 ? [] : [{ largest, row }],
    );
    const found = rows.map(({ largest, row }) => ({ largest, finite: outputs[row]!.finite }));
    expect(found).toEqual(rows.map(({ largest, row }) => ({ largest, finite: typeof y[row] === 'number' })));
  },
);

test('an operator that overflows in FP32, too, has no fix by nodes in FP32', async () => {
  const report = await judge(networkOf('x -> ReduceLogSumExp'), [input('rows', measured.x.flat())]);
  expect(report.fix).toBeNull();
  expect(report.unscaled).toEqual({ names: ['ReduceLogSumExp'], exact: null });
  expect(text(report)).toContain('Subtract the maximum in the model (ReduceMax, Sub, ReduceLogSumExp, Add)');
  const small = measured.x.flat().map((one) => Math.max(-80, Math.min(80, one)));
  const repaired = await judge(networkOf('x -> ReduceLogSumExp'), [input('small', small)]);
  expect(repaired.fix!.names).toEqual(['ReduceLogSumExp']);
});
