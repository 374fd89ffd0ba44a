import { describe, expect, it } from 'vitest';
import { readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { readLayerInfo } from '../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import type { FusionReport } from '../../../../src/kernel/fusion/fusionReport.ts';
import { printMetadata } from '../../../../src/kernel/network/layerName.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { captureText } from '../../../support/fixtures.ts';
import { recordedLog, reportOnBuild } from '../../../support/hardModels/builtModels.ts';
import { hard, w, x } from '../../../support/hardModels/hardModel.ts';
import type { Graph, Node } from '../../../support/hardModels/onnxWriter.ts';
import { engineLayer, layerInfo } from './buildEngine.ts';
import { modelOf } from './loadCapture.ts';

/** The recorded build is of Transpose, Transpose, Relu. */
const built: Node[] = [
  ['t0', 'Transpose', ['x'], ['a'], { perm: [1, 0] }],
  ['t1', 'Transpose', ['a'], ['b'], { perm: [1, 0] }],
  ['relu', 'Relu', ['b'], ['y']],
];

async function reportOn(nodes: Node[], more: Partial<Graph> = {}): Promise<FusionReport> {
  const { value: model } = await readModel(bytesOf(hard('model', nodes, more).bytes));
  return createReport({ model: model!, modelFile: 'm', log: readBuildLog(recordedLog('transpose_pair')).value });
}

const problemsOf = ({ problems }: FusionReport, code: string) =>
  problems.filter((problem) => problem.code === code).map(({ message }) => message);

describe('a model that is not quite the one that was built', () => {
  it('is not warned of where it is', async () => {
    expect((await reportOn(built)).problems).toEqual([]);
  });

  it('has a node more: it is unknown, and a warning names it', async () => {
    const report = await reportOn([
      ...built.slice(0, 2),
      ['more', 'Exp', ['b'], ['c']],
      ['relu', 'Relu', ['c'], ['y']],
    ]);
    expect(problemsOf(report, 'model-differs')).toEqual([
      expect.stringContaining('1 node of the model is not in the log (the first is "more")'),
    ]);
    expect(report.nodes.find(({ name }) => name === 'more')).toMatchObject({
      fate: 'unknown',
      reason: expect.stringContaining('does not parse it') as string,
    });
  });

  it('has a node less', async () => {
    const report = await reportOn([built[0]!, ['relu', 'Relu', ['a'], ['y']]]);
    expect(problemsOf(report, 'model-differs')).toEqual([
      expect.stringContaining('1 node in the log is not in the model (the first is "t1")'),
    ]);
  });

  it('has another operator of the same name', async () => {
    const log = recordedLog('attention').replaceAll('scale [Div]', 'scale [Mul]');
    const report = await reportOnBuild('attention', log);
    expect(problemsOf(report, 'model-differs')).toEqual([expect.stringContaining('"scale", Mul there and Div here')]);
    expect(report.nodes.find(({ name }) => name === 'scale')!.fate).toBe('unknown');
    expect(report.accounting).toMatchObject({ total: 6, foreign: 5 });
  });

  it('has another shape', async () => {
    const report = await reportOn(built, { inputs: [['x', 'float', 4, 16]], outputs: [['y', 'float', 4, 16]] });
    expect(problemsOf(report, 'model-differs')).toEqual([
      expect.stringContaining('"x", 4×8 in the engine and 4×16 in the model'),
    ]);
  });

  it('has another input', async () => {
    const report = await reportOn([...built.slice(0, 2), ['relu', 'Relu', ['b'], ['z']]], {
      inputs: [x],
      outputs: [['z', 'float', 4, 8]],
    });
    expect(problemsOf(report, 'model-differs')).toEqual([
      expect.stringContaining('1 of the engine\'s 2 inputs and outputs is not in the model (the first is "y")'),
    ]);
  });
});

describe('layers of another network', () => {
  const nodes: Node[] = [
    ['conv1', 'Relu', ['x'], ['a']],
    ['conv2', 'MatMul', ['a', 'w'], ['y']],
  ];
  const layersOn = async (layers: Parameters<typeof layerInfo>[0], bindings: string[] = []) => {
    const { value: model } = await readModel(bytesOf(hard('model', nodes, { weights: [w] }).bytes));
    return createReport({ model: model!, modelFile: 'm', layerInfo: layerInfo(layers, bindings) });
  };
  const layer = (name: string, type: string, input: string, output: string) =>
    engineLayer(name, { type, inputs: [input], outputs: [output], metadata: printMetadata([name]) });

  it('are found out by the tensors at the border, though names of nodes are the same', async () => {
    const report = await layersOn(
      [layer('conv1', 'PointWiseV2', 'image', 'f'), layer('conv2', 'PointWiseV2', 'f', 'scores')],
      ['image', 'scores'],
    );
    expect(problemsOf(report, 'other-model')).toEqual([expect.stringContaining('(the first is "image")')]);
    expect(report.accounting).toMatchObject({ unknown: 2 });
  });

  it('are found out by what they compute', async () => {
    const report = await layersOn([
      layer('conv1', 'CaskConvolution', 'x', 'a'),
      layer('conv2', 'CaskPooling', 'a', 'y'),
    ]);
    expect(problemsOf(report, 'other-model')).toEqual([
      expect.stringContaining('"conv1", a CaskConvolution of Relu "conv1"'),
    ]);
  });

  it('are taken where nothing contradicts', async () => {
    const report = await layersOn(
      [layer('conv1', 'PointWiseV2', 'x', 'a'), layer('conv2', 'CaskGemmConvolution', 'a', 'y')],
      ['x', 'y'],
    );
    expect(report.problems).toEqual([]);
    expect(report.accounting).toMatchObject({ single: 2 });
  });
});

it('an input that is an output, too, is one of the model: the parser reads it as `__x`', async () => {
  const y: typeof x = ['y', 'float', 4, 8];
  const differences = async (outputs: (typeof x)[]) => {
    const { value: model } = await readModel(
      bytesOf(hard('model', [['relu', 'Relu', ['x'], ['y']]], { outputs }).bytes),
    );
    const relu = engineLayer('relu', {
      type: 'kgen',
      inputs: ['__x'],
      outputs: outputs.map(([name]) => name),
      metadata: printMetadata(['relu']),
    });
    const bindings = ['__x', ...outputs.map(([name]) => name)];
    return problemsOf(
      createReport({ model: model!, modelFile: 'm', layerInfo: layerInfo([relu], bindings) }),
      'model-differs',
    );
  };
  expect(await differences([y, x])).toEqual([]);
  expect(await differences([y])).toEqual([expect.stringContaining('(the first is "__x")')]);
});

it('layers of one build with the log of another: the log is not used', async () => {
  const both = (log: string, layers: string) =>
    modelOf('vit_tiny').then((model) =>
      createReport({
        model: model!,
        modelFile: 'm',
        log: readBuildLog(captureText(`${log}/log.txt`)!).value,
        layerInfo: readLayerInfo(captureText(`${layers}/layers.json`)!).value,
      }),
    );
  const mixed = await both('tensorrt-10.6.0/vit_tiny.fp32', 'tensorrt-10.6.0/vit_tiny.fp16');
  expect(problemsOf(mixed, 'other-build')).toHaveLength(1);
  expect(mixed.tensorrt).toEqual({ product: null, version: null });
  expect(mixed.funnel).toEqual([]);
  const right = await both('tensorrt-10.6.0/vit_tiny.fp16', 'tensorrt-10.6.0/vit_tiny.fp16');
  expect(problemsOf(right, 'other-build')).toEqual([]);
});

describe('layer info that breaks off', () => {
  it('is left out where the log says more', async () => {
    const { value: model } = await readModel(bytesOf(hard('model', built).bytes));
    const log = readBuildLog(recordedLog('transpose_pair')).value;
    const { value: cut } = readLayerInfo('{"Layers": [ {"Name": "a');
    const whole = createReport({ model: model!, modelFile: 'm', log });
    const report = createReport({ model: model!, modelFile: 'm', log, layerInfo: cut });
    expect(problemsOf(report, 'layer-info-damaged')).toEqual([
      'The layer info is damaged after 1 layer, so the report uses the layers that the log lists. Export it again.',
    ]);
    expect(report.nodes).toEqual(whole.nodes);
    expect(report.tensorrt.version).toBe('1.7.1');
  });
});
