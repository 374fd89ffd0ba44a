import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { fusion } from '../../../../src/kernel/node/cli/fusion.ts';
import { loadFiles } from '../../../../src/kernel/node/store/loadBuild.ts';
import { estimateMemory } from '../../../../src/kernel/report/internal/memoryDocument.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { logsOf106, reportOnBuild } from '../../../support/hardModels/builtModels.ts';
import { readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { runCommand } from '../../shell/cli/runCommand.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import { engineLayer, layerInfo } from './buildEngine.ts';
import { buildModel } from './buildModel.ts';

const capture = (name: string): string => fixturePath(`captures/tensorrt-${name}`);

// Of each kind that there is among all captures with a recorded total; reportText.long.test.ts counts them.
test.each([
  ['10.6.0/vit_tiny.fp16', 'vit_tiny', true, 1],
  ['10.6.0/resnet18.fp32', 'resnet18', false, 1],
  ['10.6.0/unnamed.fp32', 'unnamed', false, 1],
  ['8.6.1/two_inputs_multi_out.fp32', 'two_inputs_multi_out', false, 1],
  ['10.6.0/lstm_gru.fp32', 'lstm_gru', false, 1],
  // The parts of a Concat share its memory.
  ['10.6.0/two_inputs_multi_out.fp32', 'two_inputs_multi_out', false, 1.33],
] as const)('%s %s (%s, layer info %s) is %s times what TensorRT recorded', async (folder, model, hasLayers, ratio) => {
  const log = `${capture(folder)}/log.txt.gz`;
  const layers = hasLayers ? `${capture(folder)}/layers.json` : undefined;
  const build = await loadFiles({ onnx: modelPath(model), log, layers });
  const text = gunzipSync(readFileSync(log)).toString();
  const recorded = Number([...text.matchAll(/Total Activation Memory: (\d+)/g)].at(-1)![1]);
  expect(build.log!.memory.activation).toBe(recorded);
  const { total } = estimateMemory(build.report, build.log);
  if (ratio === 1) expect(total).toBe(recorded);
  else expect(total / recorded).toBeCloseTo(ratio, 1);
});

// A node that is a constant is a weight like others; an output that is never read is written all the same.
test.each(['eye_like', 'constant_topk'])('%s is what TensorRT recorded', async (name) => {
  const text = logsOf106()[name]!;
  const log = readBuildLog(text).value;
  expect(log.memory.activation).toBeGreaterThan(0);
  expect(estimateMemory(await reportOnBuild(name, text), log).total).toBe(log.memory.activation);
});

describe('fusion --memory', () => {
  it('says what is recorded, where the peak is, and how far the estimate reaches', async () => {
    const folder = capture('10.6.0/vit_tiny.fp16');
    const files = ['--log', `${folder}/log.txt.gz`, '--layers', `${folder}/layers.json`];
    const { out } = await runCommand(fusion, '--onnx', modelPath('vit_tiny'), ...files, '--memory');
    // Of the log: 680448 bytes of activations, of which the ForeignNode's scratch is 605184.
    expect(out).toContain('Activation: 665 KiB');
    expect(out).toMatch(/591 KiB\s+scratch of blocks\.0–11 .* \(ForeignNode 0\)\s+this layer only/);
    expect(out).toContain('665 KiB, just what TensorRT recorded.');
  });

  it('asks for what is missing', async () => {
    const layers = ['--layers', `${capture('10.6.0/vit_tiny.fp16')}/layers.json`];
    const { out } = await runCommand(fusion, '--onnx', modelPath('vit_tiny'), ...layers, '--memory');
    expect(out).toContain('pass the verbose log of the build with --log');
    expect(out).toContain('The log records no total to compare with.');
  });
});

const model = () =>
  buildModel({
    inputs: { x: ['n', 8] },
    outputs: ['y'],
    initializers: ['w'],
    nodes: [
      ['left', 'Mul', ['x', 'w'], ['a']],
      ['right', 'Relu', ['x'], ['b']],
      ['join', 'Concat', ['a', 'b'], ['c']],
      ['if', 'If', ['c'], ['d'], { then_branch: { outputs: ['e'], nodes: [['inner', 'Neg', ['c'], ['e']]] } }],
      ['plugin', 'Plugin', ['d', 'd'], ['y']],
    ],
  });

describe('the estimate of the activation memory', () => {
  const tensors = (names: string[]) => names.map((name) => ({ name, dims: [4, 64], type: 'Float', format: 'Float' }));
  type Row = [type: string, inputs: string[], outputs: string[], foreignNode?: number];
  /** What it counts, with the steps that each lives in; layers with a number are kernels of that ForeignNode. */
  const counted = (...rows: Row[]) => {
    const layers = rows.map(([type, inputs, outputs], i) => ({
      ...engineLayer(`layer ${i}`, { type }),
      inputs: tensors(inputs),
      outputs: tensors(outputs),
    }));
    const report = createReport({ model: model(), modelFile: 'model.onnx', layerInfo: layerInfo(layers) });
    for (const [i, [, , , foreign]] of rows.entries()) report.layers[i]!.foreignNode = foreign ?? null;
    const ids = [...new Set(rows.flatMap(([, , , foreign]) => foreign ?? []))];
    report.foreignNodes = ids.map(
      (id) => ({ id, name: `{ForeignNode[${id}]}` }) as (typeof report.foreignNodes)[number],
    );
    return estimateMemory(report, null).tenants.map(({ tensor, from, to }) => [tensor, from, to]);
  };

  it('leaves constants out: they are weights', () => {
    expect(counted(['Constant', [], ['c']], ['PointWise', ['x', 'c'], ['y']])).toEqual([]);
  });

  it('counts what a NoOp reads and writes once, as long as either is read', () => {
    expect(counted(['Conv', ['x'], ['h']], ['NoOp', ['h'], ['i']], ['Conv', ['i'], ['y']])).toEqual([['h', 0, 2]]);
  });

  it('keeps names apart that several ForeignNodes use inside', () => {
    expect(
      counted(
        ['kgen', ['x'], ['__mye5'], 0],
        ['gemm', ['__mye5'], ['a'], 0],
        ['kgen', ['a'], ['__mye5'], 1],
        ['gemm', ['__mye5'], ['y'], 1],
      ),
    ).toEqual([['a', 0, 1]]);
  });
});

const tensorsOf = (layers = [engineLayer('left', { inputs: ['x'], outputs: ['a'] })]) =>
  createReport({ model: model(), modelFile: 'model.onnx', layerInfo: layerInfo(layers) }).tensors;

test('producer, consumers, type and shape of every tensor but the weights', () => {
  const plain = tensorsOf().map(({ name, producer, consumers, type, shape }) => [
    name,
    producer,
    consumers,
    type,
    shape,
  ]);
  expect(plain).toEqual([
    ['x', null, ['0', '1'], 'float', ['n', 8]],
    ['a', '0', ['2'], 'float', ['n', 8]],
    ['b', '1', ['2'], 'float', ['n', 8]],
    // The branch reads it, and with it the node that has the branch.
    ['c', '2', ['3', '3/then_branch/0'], 'float', [null, 8]],
    ['d', '3', ['4'], 'float', null],
    ['y', '4', [], 'float', null],
    ['e', '3/then_branch/0', [], 'float', [null, 8]],
  ]);
});

test('the layers that write a tensor: parts of a Concat, not the copy for another profile, none inside of a layer', () => {
  const layers = [
    engineLayer('left', { inputs: ['x'], outputs: ['c'] }),
    engineLayer('right', { inputs: ['x'], outputs: ['c'] }),
    engineLayer('if', { inputs: ['c'], outputs: ['Reformatted Output Tensor 0 to if'] }),
    engineLayer('Reformatting CopyNode for Output Tensor 0 to if', {
      inputs: ['Reformatted Output Tensor 0 to if'],
      outputs: ['d'],
    }),
    engineLayer('plugin', { inputs: ['d'], outputs: ['y'] }),
    engineLayer('plugin [profile 1]', { inputs: ['d [profile 1]'], outputs: ['y [profile 1]'] }),
  ];
  expect(Object.fromEntries(tensorsOf(layers).map((tensor) => [tensor.name, tensor.layers]))).toEqual({
    x: [],
    a: [],
    b: [],
    c: [0, 1],
    d: [3],
    y: [4],
    e: [],
  });
});
