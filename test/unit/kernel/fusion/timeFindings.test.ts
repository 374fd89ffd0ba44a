import { describe, expect, test } from 'vitest';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import type { FusionReport, ReportLayer, TracedProfile } from '../../../../src/kernel/fusion/fusionReport.ts';
import { findTimes } from '../../../../src/kernel/fusion/internal/timeFindings.ts';
import { readLayerInfo } from '../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { readNsysTrace } from '../../../../src/kernel/read/tensorrt/readTrace.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { formatReport } from '../../../../src/kernel/report/reportText.ts';
import { readFixture } from '../../../support/fixtures.ts';
import { handLayer, handReport } from '../picture/graph/handReport.ts';

const trace = (more: Partial<TracedProfile> = {}): TracedProfile => ({
  source: 'nsys',
  kernels: 200,
  attributed: 200,
  otherMs: 0,
  passes: 10,
  pass: { averageMs: 1, p50: 1, p90: 1, p99: 1, gapMs: 0 },
  launches: { calls: 200, ms: 80, p50: 0.004, p90: 0.006 },
  gpu: { name: 'GPU', bytesPerSecond: 1e12, cacheBytes: 1e6, computeCapability: '9.0' },
  ...more,
});
const many = (count: number, more: Partial<ReportLayer>): ReportLayer[] =>
  Array.from({ length: count }, (_, id) => handLayer(id, 'kernel', [], more));
const codes = (layers: ReportLayer[], more: Partial<FusionReport> = {}) =>
  findTimes(handReport([], layers, more)).map(({ code, exact }) => `${code}${exact ? '' : ' (derived)'}`);
const dims = (size: number, type = 'Half') => ({ name: `t${size}`, dims: [1, 1000, size], type, format: null });

describe('short kernels', () => {
  const short = many(20, { averageMs: 0.003, launches: 10 });
  const waiting = trace({ pass: { averageMs: 1, p50: 1, p90: 1, p99: 1, gapMs: 0.5 } });

  test('are launch-bound where a trace shows that the GPU waits between them, and only there', () => {
    expect(codes(short, { profile: waiting })).toEqual(['launch-bound']);
    expect(codes(short, { profile: trace() })).toEqual([]);
  });

  test('may be launch-bound by a profile alone', () => {
    expect(codes(short)).toEqual(['launch-bound (derived)']);
    expect(codes(many(5, { averageMs: 0.003 }))).toEqual([]);
    // Shapes and constants launch nothing.
    expect(codes([...many(20, { averageMs: 0.003, kind: 'shape' }), ...many(5, { averageMs: 1 })])).toEqual([]);
  });

  test('are called kernels, and layers only where they are no part of a ForeignNode', () => {
    const words = (layers: ReportLayer[]) =>
      /^20 of 20 .*?(?= take)/.exec(findTimes(handReport([], layers))[0]!.message);
    const kernels = many(20, { averageMs: 0.003 });
    const single = kernels.map((layer) => ({ ...layer, kind: 'single' as const }));
    expect(words(kernels)?.[0]).toBe('20 of 20 kernels');
    expect(words(single)?.[0]).toBe('20 of 20 layers');
    expect(words([...kernels.slice(5), ...single.slice(0, 5)])?.[0]).toBe('20 of 20 layers and kernels');
  });

  test('are not long layers of many kernels, nor few among long ones', () => {
    expect(codes(many(20, { averageMs: 0.012, launches: 10 }), { profile: waiting })).toEqual([]);
    expect(codes(many(20, { averageMs: 0.012, launches: 40 }), { profile: waiting })).toEqual(['launch-bound']);
    const mixed = [...short, ...many(30, { averageMs: 0.1, launches: 10 })];
    expect(codes(mixed, { profile: waiting })).toEqual([]);
  });
});

test('waits for the host are longer than several launches', () => {
  const late = (gapMs: number) => [
    ...many(3, { averageMs: 0.2, launches: 10 }),
    handLayer(3, 'fused', [], { averageMs: 0.2, gapMs }),
  ];
  expect(codes(late(0.2), { profile: trace() })).toEqual(['host-gaps']);
  expect(codes(late(0.04), { profile: trace() })).toEqual([]);
  // Here a launch takes 0.1 ms by the median; the first, which loads a module, counts no more than any other.
  expect(codes(late(0.2), { profile: trace({ launches: { calls: 10, ms: 50, p50: 0.1, p90: 0.2 } }) })).toEqual([]);
  expect(codes(late(0.2))).toEqual([]);
});

test('a layer is memory-bound by tensors beyond the cache at the bandwidth of the GPU', () => {
  const layer = (size: number, averageMs: number) => [
    handLayer(0, 'fused', [], { averageMs, inputs: [dims(size)], outputs: [dims(size)] }),
  ];
  // 4 MB in 5 µs: 0.8 TB/s of 1.
  expect(codes(layer(1000, 0.005), { profile: trace() })).toEqual(['memory-bound (derived)']);
  expect(codes(layer(1000, 0.02), { profile: trace() })).toEqual([]);
  // 0.4 MB come from the cache, however fast.
  expect(codes(layer(100, 0.0001), { profile: trace() })).toEqual([]);
  expect(codes(layer(1000, 0.005))).toEqual([]);
  const noGpu: Partial<TracedProfile> = {
    gpu: { name: 'GPU', bytesPerSecond: null, cacheBytes: 1, computeCapability: null },
  };
  expect(codes(layer(1000, 0.005), { profile: trace(noGpu) })).toEqual([]);
});

test.each([
  ['sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4', true],
  ['sm50_xmma_deconv_2d_stride_eq_filter_FP32FP32FP32NCHW_tilesize32x32x8_threadsize8x8_threadPixels4x4', true],
  ['ampere_scudnn_128x64_relu_medium_nn_v1', true],
  ['sm70_xmma_gemm_as_conv1x1_f32f32_f32_f32_tn_n_simt_small_batch_bias_relu', true],
  ['sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize32x32x64_stage6_warpsize2x2x1_tensor16x8x16', false],
  ['sm90_xmma_gemm_f16f16_f16f16_f16_nn_n_tilesize64x64x64_cgasize1x1x1_warpgroupsize1x1x1_beta0', false],
  ['turing_fp16_i8816cudnn_int8_128x128_ldg16_relu_small_nt_v1', false],
  ['sm50_xmma_convolution_trt_depthwiseFP32NHWC4_fp32nhwcx4_fp32nhwcx4_fp32kcrs', false],
  ['sm50_xmma_cublas_gemvx_f32f32_f32_f32_tn_n_int32_unit_n_launch_param4x32x32_strided_unit_stride', false],
  ['sm50_xmma_pooling_fw_4d_FP32FP32NHWC_Average_FastDiv_CAlign4', false],
  ['__myl_MulAddResTra_0x71003299ec07ce640e49ea32b4ab936f', false],
  ['0x000000000002045f', false],
])('%s multiplies without tensor cores: %s', (tactic, plain) => {
  expect(codes([handLayer(0, 'single', [], { averageMs: 1, tactic })])).toEqual(
    plain ? ['no-tensor-cores (derived)'] : [],
  );
});

test('channels are misaligned by the type of the data, not those of the model’s inputs or of other layers', () => {
  const found = (channels: number, type: string, more: Partial<ReportLayer> = {}, producer: string | null = '0') => {
    const tensor = (name: string, from: string | null, consumers: string[], size: number) => ({
      name,
      producer: from,
      consumers,
      type: 'float',
      shape: [1, size, 8, 8],
      layers: [],
    });
    const report = handReport(
      [
        ['/a', 'Relu', 'single'],
        ['/b', 'Conv', 'single'],
      ],
      [handLayer(0, 'single', ['1'], { averageMs: 1, type: 'CaskConvolution', outputs: [dims(8, type)], ...more })],
      { tensors: [tensor('x', producer, ['1'], channels), tensor('y', '1', [], 64)] },
    );
    return findTimes(report).map(({ code, nodes, evidence }) => [code, nodes, evidence]);
  };
  expect(found(12, 'Half')).toEqual([
    ['misaligned-channels', ['1'], ['layer 0: x has 12 channels, not a multiple of 8']],
  ]);
  expect(found(24, 'Int8')).toHaveLength(1);
  for (const [channels, type] of [
    [24, 'Half'],
    [32, 'Int8'],
    [12, 'Float'],
  ] as const)
    // oxfmt-ignore
    expect(found(channels, type)).toEqual([]);
  expect(found(12, 'Half', {}, null)).toEqual([]);
  expect(found(12, 'Half', { type: 'kgen', tactic: '__myl_AddMul_0x12' })).toEqual([]);
  expect(found(12, 'Half', { tactic: '_gemm_mha_v2_0xcba8' })).toEqual([]);
});

test('reformats cost their time and name the nodes at both ends; a NoOp costs nothing', () => {
  const tensor = (name: string) => ({ name, dims: null, type: null, format: null });
  const layers = (type: string) => [
    handLayer(0, 'single', ['0'], { averageMs: 1, outputs: [tensor('a')] }),
    handLayer(1, 'reformat', [], { averageMs: 0.5, type, inputs: [tensor('a')], outputs: [tensor('b')] }),
    handLayer(2, 'single', ['1'], { averageMs: 1, inputs: [tensor('b')] }),
    handLayer(3, 'single', ['2'], { averageMs: 1, inputs: [tensor('c')] }),
  ];
  const nodes = [['/a', 'Relu', 'single'], ['/b', 'Relu', 'single'], ['/c', 'Relu', 'single']] as [string, string, 'single'][]; // oxfmt-ignore
  const [found, ...others] = findTimes(handReport(nodes, layers('Reformat')));
  expect(others).toEqual([]);
  expect(found).toMatchObject({ code: 'reformat-cost', exact: true, ms: 0.5, nodes: ['0', '1'], layers: [1] });
  expect(findTimes(handReport(nodes, layers('NoOp')))).toEqual([]);
});

describe('the recorded engines', () => {
  const report = async (name: string): Promise<FusionReport> => {
    const [engine] = name.split('/');
    const layers = readLayerInfo(new TextDecoder().decode(readFixture(`traces/${engine}/layers.json.gz`)));
    const { value } = await readNsysTrace(bytesOf(readFixture(`traces/${name}.sqlite.gz`)));
    const model = await readModel(bytesOf(readFixture(`models/${engine!.split('.')[0]}.onnx`)));
    return createReport({ model: model.value!, modelFile: engine!, layerInfo: layers.value, profile: value });
  };

  test.each([
    ['vit_tiny.fp16/plain', ['launch-bound']],
    ['vit_tiny.fp16/graph', []],
    ['bert_base.fp16/plain', ['launch-bound']],
    ['bert_base.fp16/graph', []],
    ['fusion_zoo.fp32/plain', ['launch-bound', 'no-tensor-cores', 'reformat-cost']],
    ['fusion_zoo.fp32/graph', ['no-tensor-cores', 'reformat-cost']],
  ])('%s: a CUDA graph removes the waits, and nothing else', async (name, expected) => {
    const made = await report(name);
    expect(made.findings!.map(({ code }) => code)).toEqual(expected);
    for (const { layers, evidence, message } of made.findings!) {
      expect([layers.length > 0, evidence.length > 0]).toEqual([true, true]);
      expect(formatReport(made).replaceAll(/\s+/g, ' ')).toContain(message.replaceAll(/\s+/g, ' '));
    }
  });
});
