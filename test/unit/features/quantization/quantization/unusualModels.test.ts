import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onnx } from 'onnx-proto';
import { expect, test } from 'vitest';
import { migrateCalibration } from '../../../../../src/features/quantization/node/migrateCalibration.ts';
import { readQuantization } from '../../../../../src/features/quantization/node/readQuantization.ts';
import { quantization } from '../../../../../src/features/quantization/node/cli/quantization.ts';
import { readModel } from '../../../../../src/kernel/read/onnx/readModel.ts';
import { rangeText } from '../../../../../src/kernel/quantization/quantization.ts';
import { bytesOf } from '../../../../../src/kernel/base/problem.ts';
import { temporaryFolder } from '../../../../support/rtx.ts';
import { runCommand } from '../../../shell/cli/runCommand.ts';

const folder = temporaryFolder();
let written = 0;

const node = (opType: string, input: string[], output: string, more: onnx.INodeProto = {}): onnx.INodeProto => ({
  opType,
  name: output,
  input,
  output: [output],
  ...more,
});
const floats = (name: string, dims: number[], values?: number[]): onnx.ITensorProto => ({
  name,
  dims,
  dataType: 1,
  floatData: values ?? Array.from({ length: dims.reduce((a, b) => a * b, 1) }, () => 0.5),
});
const bytes = (name: string, dims: number[], values: number[]): onnx.ITensorProto => ({
  name,
  dims,
  dataType: 3,
  rawData: Uint8Array.from(values),
});
const value = (name: string) => ({
  name,
  type: { tensorType: { elemType: 1, shape: { dim: [8, 8].map((dimValue) => ({ dimValue })) } } },
});

/** Writes a model of `x` → `y`. */
function model(
  nodes: onnx.INodeProto[],
  initializer: onnx.ITensorProto[] = [],
  functions: onnx.IFunctionProto[] = [],
  version = 19,
): string {
  const path = join(folder, `${written++}.onnx`);
  const graph = { name: 'g', node: nodes, input: [value('x')], output: [value('y')], initializer };
  const opsetImport = [
    { domain: '', version },
    { domain: 'f', version: 1 },
  ];
  writeFileSync(
    path,
    onnx.ModelProto.encode({ irVersion: 9, opsetImport, graph, functions } as onnx.IModelProto).finish(),
  );
  return path;
}

function cacheOf(text: string): string {
  const path = join(folder, `${written++}.cache`);
  writeFileSync(path, text);
  return path;
}

const out = (): string => join(folder, `${written++}-made.onnx`);
const scales = 'TRT-8601-EntropyCalibration2\nx: 3c23d70a\na: 3c23d70a\nr: 3c23d70a\n';

test('Q/DQ nodes in a local function are those of its calls', async () => {
  const body = {
    name: 'FakeQuantize',
    domain: 'f',
    input: ['a', 'scale', 'zero'],
    output: ['b'],
    node: [node('QuantizeLinear', ['a', 'scale', 'zero'], 'q'), node('DequantizeLinear', ['q', 'scale', 'zero'], 'b')],
    opsetImport: [{ domain: '', version: 19 }],
  };
  const call = (input: string, output: string) => node('FakeQuantize', [input, 's', 'z'], output, { domain: 'f' });
  const path = model(
    [call('x', 'xd'), call('w', 'wd'), node('MatMul', ['xd', 'wd'], 'y')],
    [floats('s', [], [0.1]), bytes('z', [], [0]), floats('w', [8, 8])],
    [body],
  );
  const { tensors, pairs, misplaced } = await readQuantization({ path });
  expect(misplaced).toEqual([]);
  expect(tensors.map(({ tensor, nodes }) => [tensor, nodes])).toEqual([
    ['x', ['0/FakeQuantize/0']],
    ['w', ['1/FakeQuantize/0']],
  ]);
  expect(pairs.map(({ constant, dequantize }) => [constant, dequantize])).toEqual([
    [false, ['0/FakeQuantize/1']],
    [true, ['1/FakeQuantize/1']],
  ]);
});

test('zero points of many channels are read, and named where they are not 0', async () => {
  const channels = 100;
  const zeros = (last: number) => bytes('z', [channels], [...Array<number>(channels - 1).fill(0), last]);
  const pathOf = (last: number) =>
    model(
      [
        node('DequantizeLinear', ['w', 's', 'z'], 'wd', { attribute: [{ name: 'axis', type: 2, i: 1 }] }),
        node('MatMul', ['x', 'wd'], 'y'),
      ],
      [bytes('w', [8, channels], Array<number>(8 * channels).fill(1)), floats('s', [channels]), zeros(last)],
    );
  const good = await readQuantization({ path: pathOf(0) });
  expect(good.tensors.map(rangeText)).toEqual(['-64 to 63.5 as int8']);
  expect(good.misplaced.map(({ code }) => code)).toEqual(['float-input']);
  const bad = await readQuantization({ path: pathOf(3) });
  expect(bad.tensors.map(rangeText)).toEqual(['']);
  expect(bad.misplaced.map(({ code }) => code)).toEqual(['asymmetric', 'float-input']);
});

test('FP4 has a range; a negative scale is named with few digits, and a name with a line break in one line', async () => {
  const attribute = [{ name: 'output_dtype', type: 2, i: 23 }];
  const path = model(
    [
      node('QuantizeLinear', ['x', 's'], 'q', { name: 'a\nb', attribute }),
      node('DequantizeLinear', ['q', 's'], 'd'),
      node('Relu', ['d'], 'y'),
    ],
    [floats('s', [], [0.5])],
    [],
    23,
  );
  expect((await readQuantization({ path })).tensors.map(rangeText)).toEqual(['-3 to 3 as float4e2m1']);
  const negative = model(
    [
      node('QuantizeLinear', ['x', 's', 'z'], 'q', { name: 'a\nb' }),
      node('DequantizeLinear', ['q', 's', 'z'], 'd'),
      node('Relu', ['d'], 'y'),
    ],
    [floats('s', [], [-0.1]), bytes('z', [], [0])],
  );
  expect((await readQuantization({ path: negative })).misplaced.map(({ message }) => message)).toEqual([
    'QuantizeLinear "a b" has a scale of -0.1, which is not a positive finite number.',
  ]);
});

test('a cache is migrated for weights of Constant nodes and on the left, not for weights that are not finite', async () => {
  const constant = node('Constant', [], 'w', { attribute: [{ name: 'value', type: 4, t: floats('', [8, 8]) }] });
  const cases: [string, onnx.INodeProto[], onnx.ITensorProto[]][] = [
    ['a Constant', [constant, node('MatMul', ['x', 'w'], 'y')], []],
    ['on the left', [node('MatMul', ['w', 'x'], 'y')], [floats('w', [8, 8])]],
  ];
  for (const [name, nodes, initializer] of cases) {
    const path = out();
    const made = await migrateCalibration({ path: model(nodes, initializer), cache: cacheOf(scales), out: path });
    expect([made.activations, made.weights], name).toEqual([['x'], ['w']]);
    const { value: read } = await readModel(bytesOf(readFileSync(path)));
    const names = read!.nodes.map((one) => one.name);
    expect(names.indexOf('w_QuantizeLinear'), name).toBeGreaterThan(names.indexOf('w'));
    const { misplaced, tensors } = await readQuantization({ path });
    expect(misplaced, name).toEqual([]);
    expect(tensors.map(({ count }) => count).toSorted((a, b) => a! - b!)).toEqual([1, 8]);
  }
  const weights = [...Array<number>(63).fill(0.5), Infinity];
  const infinite = model([node('MatMul', ['x', 'w'], 'y')], [floats('w', [8, 8], weights)]);
  await expect(migrateCalibration({ path: infinite, cache: cacheOf(scales), out: out() })).rejects.toThrow(
    'the weights "w" cannot be read as finite floats',
  );
});

test('with layer info of an implicit INT8 build, pairs are where that computes in INT8', async () => {
  const path = model(
    [node('MatMul', ['x', 'w'], 'a'), node('Relu', ['a'], 'r'), node('MatMul', ['r', 'v'], 'y')],
    [floats('w', [8, 8]), floats('v', [8, 8])],
  );
  const layer = (Name: string, from: string, to: string, type: string) => ({
    Name,
    LayerType: 'CaskGemmMatrixMultiply',
    Inputs: [{ Name: from, Dimensions: [8, 8], 'Format/Datatype': type }],
    Outputs: [{ Name: to, Dimensions: [8, 8], 'Format/Datatype': 'Row major linear FP32' }],
  });
  const layersOf = (first: string, second: string): string => {
    const file = join(folder, `${written++}.json`);
    const Layers = [layer('a + r', 'x', 'r', first), layer('y', 'r', 'y', second)];
    writeFileSync(file, JSON.stringify({ Layers, Bindings: ['x', 'y'] }));
    return file;
  };
  const half = layersOf('Row major linear FP32', 'Thirty-two wide channel vectorized row major Int8 format');
  const ran = await runCommand(
    quantization,
    'migrate',
    path,
    '--calibration-cache',
    cacheOf(scales),
    '--layers',
    half,
    '-o',
    out(),
  );
  expect(ran.out).toContain('1 activation and 1 weight tensor have Q/DQ nodes now.');
  expect(ran.out).toContain('In floating point, as in the engine: a.\n');
  const float = layersOf('Row major linear FP32', 'Row major linear FP16');
  const refused = runCommand(
    quantization,
    'migrate',
    path,
    '--calibration-cache',
    cacheOf(scales),
    '--layers',
    float,
    '-o',
    out(),
  );
  await expect(refused).rejects.toThrow('Pass the layer info of a build with --int8');
  const untyped = join(folder, `${written++}.json`);
  writeFileSync(untyped, JSON.stringify({ Layers: ['a + r', 'y'], Bindings: ['x', 'y'] }));
  const names = runCommand(
    quantization,
    'migrate',
    path,
    '--calibration-cache',
    cacheOf(scales),
    '--layers',
    untyped,
    '-o',
    out(),
  );
  await expect(names).rejects.toThrow('--profilingVerbosity=detailed');
});

test('a model with a cycle, and one without a product, are refused', async () => {
  const cycle = model([node('Relu', ['b'], 'a'), node('Relu', ['a'], 'b'), node('MaxPool', ['b'], 'y')]);
  for (const path of [cycle, model([node('Relu', ['x'], 'y')])])
    await expect(migrateCalibration({ path, cache: cacheOf(scales), out: out() })).rejects.toThrow(
      'has no node that TensorRT computes in INT8: no Conv, ConvTranspose, Gemm or MatMul',
    );
});

test('what in a cache has no effect is said', async () => {
  const path = model([node('MatMul', ['x', 'w'], 'y')], [floats('w', [8, 8])]);
  const odd = cacheOf('TRT-8601-EntropyCalibration2\nx: 3c23d70a\nbad: 7fc00000\n\nr: 3c23\nx: 00000000\n');
  expect((await readQuantization({ path, cache: odd })).notes).toEqual([
    'The calibration cache has no positive finite scale for "bad".',
    'Line 5 of the calibration cache is not a tensor with its scale. Write the cache again if it was cut off.',
  ]);
  expect((await migrateCalibration({ path, cache: odd, out: out() })).notes).toHaveLength(2);
  const own = 'TRT-8601-EntropyCalibration2\nx: 3c23d70a\n(Unnamed Layer* 1) [Constant]_output: 3c23d70a\n';
  expect(await readQuantization({ path, cache: cacheOf(own) })).not.toHaveProperty('notes');
  const stale = ['a', 'b', 'c', 'd'].map((name) => `old_${name}: 3c23d70a\n`).join('');
  expect((await readQuantization({ path, cache: cacheOf(own + stale) })).notes).toEqual([
    'The model has no tensor for 4 scales of the calibration cache: "old_a", "old_b", "old_c", and 1 more. If these are no names that TensorRT made, the cache is of another export of the model: calibrate again.',
  ]);
});
