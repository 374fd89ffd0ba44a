import { describe, expect, test } from 'vitest';
import type { BuildLog } from '../../src/kernel/read/tensorrt/buildOutput.ts';
import { readBuildLog } from '../../src/kernel/read/tensorrt/readBuildLog.ts';
import { readLayerInfo, readProfile, readTiming } from '../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { samplesIn, sampleText } from '../support/samples.ts';

const sample = (name: string): BuildLog => readBuildLog(sampleText(name)).value;

describe('profiles and times', () => {
  test("other people's profiles, and what only looks like one", () => {
    const rows: Record<string, number | undefined> = {};
    for (const name of samplesIn('profile')) rows[name] = readProfile(sampleText(`profile/${name}`)).value?.rows.length;
    expect(Object.fromEntries(Object.entries(rows).filter(([, count]) => count !== undefined))).toEqual({
      'fuzzylabs_alexnet_fp16.profile.json': 14, 'fuzzylabs_resnet18_fp16.profile.json': 26, 'trex_mobilenet_qat.profile.json': 73,
      'trex_resnet_a100_fp16.profile.json': 36, 'trex_resnet_a100_qat.profile.json': 37, 'trex_resnet_a100_qat_residual.profile.json': 26,
      'trex_tfresnet_3090_fp32.profile.json': 103, 'trex_tfresnet_3090_qat.profile.json': 63,
    }); // oxfmt-ignore
    const excerpt = readProfile(sampleText('issues/profile_foreignnode_8.4_2308.txt'));
    expect(excerpt.value!.rows.map(({ name, averageMs }) => [name, averageMs])).toEqual([
      ['{ForeignNode[ReduceMean_4492...Mul_4557]}', 37.2837],
      ['{ForeignNode[ReduceMean_699...Mul_764]}', 37.2825],
    ]);
  });

  test('one row per inference', () => {
    const rows: Record<string, number> = {};
    for (const name of samplesIn('timing')) rows[name] = readTiming(sampleText(`timing/${name}`)).value!.rows.length;
    expect(rows).toEqual({
      'fuzzylabs_alexnet_fp16.timing.json.gz': 6039, 'fuzzylabs_resnet18_fp16.timing.json.gz': 10742, 'trex_mobilenet_qat.timing.json.gz': 8945,
      'trex_resnet_a100_fp16.timing.json.gz': 3698, 'trex_resnet_a100_qat.timing.json.gz': 3614, 'trex_resnet_a100_qat_residual.timing.json.gz': 5833,
      'trex_tfresnet_3090_fp32.timing.json': 263, 'trex_tfresnet_3090_qat.timing.json.gz': 1456,
    }); // oxfmt-ignore
    const [first] = readTiming(sampleText('timing/trex_tfresnet_3090_fp32.timing.json')).value!.rows;
    expect(Object.values(first!).every((value) => typeof value === 'number')).toBe(true);
  });
});

describe('layer information', () => {
  test('every sample is read: 8.2 to 10.16, Torch-TensorRT too', () => {
    const layers: Record<string, number> = {};
    for (const name of samplesIn('layerinfo')) {
      const { value } = readLayerInfo(sampleText(`layerinfo/${name}`));
      if (value !== undefined) layers[name] = value.layers.length;
    }
    expect(layers).toEqual({
      'cookbook_8.2_dynamic_names_only.layerinfo.json': 12, 'cookbook_8.4.1_names_only.layerinfo.json': 12,
      'cookbook_mnist_10.16.1.layerinfo.json': 9, 'fuzzylabs_alexnet_fp16.graph.json': 14, 'fuzzylabs_onnx_alexnet.engine_info.json': 17,
      'fuzzylabs_onnx_mobilenet_v2.engine_info.json.gz': 59, 'fuzzylabs_resnet18_fp16.graph.json': 26,
      'fuzzylabs_torchtrt_alexnet.engine_info.json': 20, 'fuzzylabs_torchtrt_resnet18.engine_info.json': 26, 'trex_mobilenet_qat.graph.json': 73,
      'trex_resnet_a100_fp16.graph.json': 36, 'trex_resnet_a100_qat.graph.json': 37, 'trex_resnet_a100_qat_residual.graph.json': 26,
      'trex_tfresnet_3090_fp32.graph.json': 103, 'trex_tfresnet_3090_qat.graph.json': 63,
    }); // oxfmt-ignore
  });

  test('keys and types that this reader does not know are kept and counted', () => {
    const { value } = readLayerInfo(sampleText('layerinfo/trex_resnet_a100_qat_residual.graph.json'));
    expect(value!.unknownKeys).toMatchObject({ ConvKernel: 1, PoolingWindowSize: 1 });
    expect(value!.layers.find(({ extra }) => 'ConvKernel' in extra)!.extra['ConvKernel']).toEqual([7, 7]);
    const torch = readLayerInfo(sampleText('layerinfo/fuzzylabs_torchtrt_alexnet.engine_info.json')).value!;
    expect(torch.layers[1]!.name).toMatch(
      /^\[CONVOLUTION\]-\[aten_ops\.convolution\.default\]-\[\/features\/0\/convolution\]/,
    );
  });

  test('a device description or a schema is no layer info', () => {
    for (const name of [
      'profile/trex_resnet_a100_qat.metadata.json',
      'layerinfo/SCHEMA_trt11.1_perf_analysis.schema.json',
    ]) {
      const { value, problems } = readLayerInfo(sampleText(name));
      expect(value).toBeUndefined();
      expect(problems.map(({ code }) => code)).toContain('no-layer-info');
    }
  });
});

describe("other people's logs, 5 to 11", () => {
  test.each([
    [
      'logs/cookbook_trtexec_8.0.3_fp32_verbose.log.gz',
      { version: '8.0.3', outcome: 'passed', parsedNodes: 15, engineLayers: 10, funnel: 26 },
    ],
    [
      'logs/lidar_centerpoint_8503_verbose.log.gz',
      { version: '8.2.3', outcome: 'passed', parsedNodes: 140, engineLayers: 94, funnel: 140 },
    ],
    [
      'logs/cookbook_trtexec_8.4.1_fp16_verbose.log.gz',
      { version: '8.4.1', outcome: 'passed', parsedNodes: 15, engineLayers: 12, funnel: 24 },
    ],
    [
      'logs/cookbook_py_8.6_TimingCache_create.log',
      { version: null, outcome: 'passed', parsedNodes: 0, engineLayers: 11, funnel: 14 },
    ],
    [
      'logs/cookbook_trtexec_10.16.1_r02.log.gz',
      { version: '10.16.2', outcome: 'passed', parsedNodes: 12, engineLayers: 6, funnel: 24 },
    ],
    [
      'logs/cookbook_py_10.16.1_ProfilingVerbosity.log.gz',
      { version: '10.16.2', outcome: 'passed', parsedNodes: 12, engineLayers: 26, funnel: 24 },
    ],
  ])('%s', (name, expected) => {
    const log = sample(name);
    expect({
      version: log.version,
      outcome: log.outcome,
      parsedNodes: log.parsedNodes.length,
      engineLayers: log.engineLayers.length,
      funnel: log.phases.at(-1)!.funnel[0]!.layers,
    }).toEqual(expected);
  });

  test('8.0 to 8.4: costs without a name, decimal tactics, tensors in brackets', () => {
    const log = sample('logs/cookbook_trtexec_8.0.3_fp32_verbose.log.gz');
    expect(log.engineLayers[0]).toMatchObject({
      name: 'Conv__25 + Relu',
      type: 'CaskConvolution',
      tactic: '7144526460361122478',
      inputs: [{ name: 'x:0', dims: [-1, 1, 28, 28], type: 'Float' }],
      outputs: [{ name: 'Relu:0', dims: [-1, 32, 28, 28] }],
    });
    const timed = log.phases[0]!.tactics.filter(({ reformat }) => !reformat);
    expect(timed.map(({ name }) => name)).toContain('Conv__25 + Relu');
    const conv = timed.find(({ name }) => name === 'Conv__25 + Relu')!;
    expect(conv.combinations[0]!.tactics.length).toBeGreaterThan(3);
    expect(conv.combinations[0]!.chosen!.tactic).toMatch(/^-?\d+$/);
    expect(conv.combinations[0]!.chosen!.ms).toBeGreaterThan(0);
  });

  test('10.16: ForeignNode members and sorted tables of tactics inside of them', () => {
    const log = sample('logs/cookbook_trtexec_10.16.1_r02.log.gz');
    const phase = log.phases.at(-1)!;
    expect(phase.foreignNodes.find(({ name }) => name === '{ForeignNode[node_linear]}')!.metadata).toBe(
      '[ONNX Layer: node_linear]',
    );
    const operation = phase.operations![0]!;
    expect(operation).toMatchObject({
      name: 'node_linear',
      key: null,
      metadata: '[ONNX Layer: node_linear]',
      layer: '{ForeignNode[node_linear]}',
    });
    expect(operation.tactics[0]).toEqual({
      id: 0,
      ms: 0.0188384,
      ratio: 1,
      kernel: expect.stringContaining('sm80_xmma_gemm_f32f32'),
      hash: '0x4841c72cefae1',
    });
    expect(operation.tactics.length).toBeGreaterThan(30);
    // A fused layer name holds the constants; the list shows the ForeignNode as such.
    expect(log.engineLayers.filter(({ type }) => type === 'Myelin').length).toBeGreaterThan(0);
  });

  test('10.8: a table with a key, quoted in a document', () => {
    const [operation] = sample('logs/README_editable_timing_cache_10.8.md').phases[0]!.operations!;
    expect(operation).toMatchObject({
      name: 'matMul1',
      key: '0x1814870c44ff0f8574df6e3dda04cbd7',
      chosen: { hash: '0x665ded9abbf88', ms: 0.011264 },
    });
    expect(operation!.tactics.map(({ id }) => id)).toEqual([3, 5, 6]);
  });

  test('TensorRT 5 and bare lines', () => {
    const [layer] = sample('issues/trt5_scratch_52.txt').phases[0]!.tactics;
    expect(layer!.name).toBe('module/slice3/conv3/Conv2D');
    expect(layer!.combinations[0]!.tactics.map(({ tactic, ms }) => [tactic, ms])).toEqual([
      ['313790760974845026', 8.02246],
      ['-9018593586369639207', 10.8774],
      ['0', 12.7072],
    ]);
    expect(layer!.combinations[0]!.skipped[0]!.reason).toContain('scratch requested: 301989888');
    expect(
      sample('issues/precision_ignored_strict_7.2_2407.txt').precision.map(({ kind, layer: name }) => [kind, name]),
    ).toEqual([
      ['non-conforming', 'zero__8 + (Unnamed Layer* 13) [Shuffle]'],
      ['non-conforming', 'Mul__9'],
    ]);
  });

  test('several builds in one file: each has its own funnel, the last is the engine', () => {
    const log = sample('logs/cookbook_trtexec_8.4.1_BestPractice_AdjustReduceLayer.log');
    expect(log.phases.length).toBe(3);
    expect(log.runs!.every(({ outcome }) => outcome === 'passed')).toBe(true);
    expect(log.parsedNodes).toHaveLength(4);
  });

  test('errors name what they are about', () => {
    const of = (name: string): [number | null, string | null][] =>
      sample(name)
        .messages.filter(({ severity }) => severity === 'error')
        .map(({ code, subject }) => [code, subject]);
    expect(of('issues/foreignnode_8.6_mmdeploy_2632.txt')).toEqual([
      [
        10,
        '{ForeignNode[(Unnamed Layer* 11697) [Constant] + (Unnamed Layer* 11698) [Shuffle].../backbone/Reshape_3 + /backbone/Transpose_3]}',
      ],
      [
        10,
        '{ForeignNode[(Unnamed Layer* 11697) [Constant] + (Unnamed Layer* 11698) [Shuffle].../backbone/Reshape_3 + /backbone/Transpose_3]}',
      ],
    ]);
    expect(of('issues/foreignnode_nomem_2035.txt').slice(0, 2)).toEqual([
      [10, '{ForeignNode[onnx::Gather_72...ScatterND_170]}'],
      [2, null],
    ]);
    expect(of('issues/onnxruntime_trt_prefix_22164.txt')).toEqual([[9, null]]);
    expect(sample('issues/onnxruntime_trt_prefix_22164.txt').messages[0]!.text).toBe(
      'Error Code: 9: Skipping tactic 0xaa15e43058248292 due to exception canImplement1',
    );
    const multi = sample('issues/skip_tactic_shape_inference_animejanai_36.txt').messages[0]!;
    expect([multi.code, multi.text.split('\n').length]).toEqual([9, 5]);
    expect(sample('issues/replay_mismatch_4040.txt').messages[0]!.subject).toBe(
      '{ForeignNode[Abs_507.... .Cast_3382]}',
    );
    expect(
      sample('issues/foreignnode_tactic_inf_1917.txt').phases[0]!.tactics[0]!.combinations[0]!.skipped[0]!.reason,
    ).toContain('insuficient memory');
  });

  test('a profile table', () => {
    expect(sample('logs/cookbook_trtexec_10.16.1_r05.log').profile).toHaveLength(15);
  });
});
