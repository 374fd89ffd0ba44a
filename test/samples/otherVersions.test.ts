import { describe, expect, it } from 'vitest';
import { readBuildLog } from '../../src/kernel/read/tensorrt/readBuildLog.ts';
import { readLayerInfo } from '../../src/kernel/read/tensorrt/readLayerInfo.ts';
import type { FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import { createReport } from '../../src/kernel/fusion/createReport.ts';
import { sampleText } from '../support/samples.ts';
import { buildModel } from '../unit/kernel/fusion/buildModel.ts';

/** The small convolutional net of the samples' 10.16 builds, as their logs parse it. */
const net = buildModel({
  inputs: { x: ['batch', 1, 28, 28] },
  outputs: ['y', 'z'],
  initializers: [
    'conv1.weight',
    'conv1.bias',
    'conv2.weight',
    'conv2.bias',
    'gemm1.weight',
    'gemm1.bias',
    'gemm2.weight',
    'gemm2.bias',
    'val_5',
  ],
  nodes: [
    ['node_conv2d', 'Conv', ['x', 'conv1.weight', 'conv1.bias'], ['conv2d']],
    ['node_relu', 'Relu', ['conv2d'], ['relu']],
    ['node_max_pool2d', 'MaxPool', ['relu'], ['max_pool2d']],
    ['node_conv2d_1', 'Conv', ['max_pool2d', 'conv2.weight', 'conv2.bias'], ['conv2d_1']],
    ['node_relu_1', 'Relu', ['conv2d_1'], ['relu_1']],
    ['node_max_pool2d_1', 'MaxPool', ['relu_1'], ['max_pool2d_1']],
    ['node_view', 'Reshape', ['max_pool2d_1', 'val_5'], ['view']],
    ['node_linear', 'Gemm', ['view', 'gemm1.weight', 'gemm1.bias'], ['linear']],
    ['node_relu_2', 'Relu', ['linear'], ['relu_2']],
    ['node_linear_1', 'Gemm', ['relu_2', 'gemm2.weight', 'gemm2.bias'], ['y']],
    ['node_softmax', 'Softmax', ['y'], ['softmax']],
    ['node_argmax', 'ArgMax', ['softmax'], ['z']],
  ],
});
const tail = ['6', '7', '8', '9', '10', '11'];

describe('builds of other versions', () => {
  it('10.16 with two profiles: a report is on one, whose kernels are a ForeignNode of its own', () => {
    const log = readBuildLog(sampleText('logs/cookbook_py_10.16.1_ProfilingVerbosity.log.gz')).value;
    const input = { model: net, modelFile: 'net.onnx', log };
    const report = createReport(input);
    const foreign = ({ foreignNodes }: FusionReport) =>
      foreignNodes.map(({ name, nodes, exact, layers }) => [name, nodes, exact, layers.length]);
    expect(foreign(report)).toEqual([['{ForeignNode[gemm1.weight...ONNXTRT_castHelper_9]}', tail, true, 6]]);
    const second = createReport({ ...input, optimizationProfile: 1 });
    expect(foreign(second)).toEqual([
      ['{ForeignNode[gemm1.weight...ONNXTRT_castHelper_9]} [profile 1]', tail, false, 6],
    ]);
    expect(second.optimizationProfile).toEqual({ shown: 1, of: 2 });
    expect(report.accounting).toMatchObject({ foreign: 6, fused: 4, single: 2, unknown: 0 });
    // The cookbook's program builds the same network once for each verbosity.
    expect(report.problems.map(({ code }) => code)).toEqual(['several-builds', 'several-profiles']);
  });

  it('10.16 with several backend strategies: the last one is told', () => {
    const log = readBuildLog(sampleText('logs/cookbook_trtexec_10.16.1_r02.log.gz')).value;
    const report = createReport({ model: net, modelFile: 'net.onnx', log });
    const stages = report.funnel.map(({ stage }) => stage);
    expect(stages.filter((stage) => stage === 'After Myelin optimization')).toHaveLength(1);
    expect(report.foreignNodes.map(({ nodes, exact }) => [nodes, exact])).toEqual([
      [['0', '1'], true],
      [['3', '4'], true],
      [tail, true],
    ]);
    expect(report.accounting.unknown).toBe(0);
  });

  it('10.16 by its layer info alone: the reshape that no kernel names is derived', () => {
    const layerInfo = readLayerInfo(sampleText('layerinfo/cookbook_mnist_10.16.1.layerinfo.json')).value;
    const report = createReport({ model: net, modelFile: 'net.onnx', layerInfo });
    expect(report.foreignNodes.map(({ nodes, exact }) => [nodes, exact])).toEqual([[tail, false]]);
    expect(report.nodes[6]).toMatchObject({ fate: 'foreign', exact: false, layers: [] });
    expect(report.nodes[9]!.layers.length).toBeGreaterThan(1);
    expect(report.problems.map(({ code }) => code)).toEqual(['unnamed-foreign-node']);
  });

  it('files of another model say so, whatever their version', () => {
    for (const name of ['cookbook_8.2_dynamic_names_only', 'cookbook_8.4.1_names_only', 'trex_resnet_a100_qat']) {
      const file = name.startsWith('trex') ? `${name}.graph.json` : `${name}.layerinfo.json`;
      const report = createReport({
        model: net,
        modelFile: 'net.onnx',
        layerInfo: readLayerInfo(sampleText(`layerinfo/${file}`)).value,
      });
      expect(
        report.problems.map(({ code }) => code),
        name,
      ).toContain('other-model');
      expect(report.accounting.unknown, name).toBe(12);
    }
  });
});
