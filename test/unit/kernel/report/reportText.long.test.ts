import { describe, expect, it } from 'vitest';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import { joinProfile } from '../../../../src/kernel/fusion/internal/profileJoin.ts';
import { engineLayer, layerInfo } from '../fusion/buildEngine.ts';
import { buildModel } from '../fusion/buildModel.ts';
import { captures, inputOf, reportOf } from '../fusion/loadCapture.ts';
import { estimateMemory } from '../../../../src/kernel/report/internal/memoryDocument.ts';
import { formatReport } from '../../../../src/kernel/report/reportText.ts';
import { summarySentence } from '../../../../src/kernel/report/words.ts';

describe('formatReport', () => {
  it('begins with what matters', async () => {
    const text = formatReport((await reportOf('tensorrt-10.6.0/vit_tiny.fp16'))!);
    expect(text.split('\n')[0]).toBe('vit_tiny.onnx · TensorRT 10.6.0');
    expect(text).toContain(
      '3 engine layers: 1 ForeignNode (87 kernels), 1 single-node layer, 1 reformat. Of 636 nodes, 367 are\nin the ForeignNode (108 derived; 95 % of the time), 1 is in a single-node layer, 256 were folded\n(104 derived), 12 are lost or moved, 0 are unknown.',
    );
    expect(text).toContain('TensorRT layers: 897 → 3');
    const groups = text.split('\n').filter((line) => /^ +[\d.]+ %/.test(line));
    const shares = groups.map((line) => Number.parseFloat(line));
    expect(shares).toEqual(shares.toSorted((a, b) => b - a));
  });

  it('prints 22,753 → 1 for the deepest model', { timeout: 60_000 }, async () => {
    expect(formatReport((await reportOf('tensorrt-10.6.0/deep_encoder_11k.fp32'))!)).toContain('22,753 → 1');
  });

  it('says what is unknown and why', async () => {
    const text = formatReport((await reportOf('tensorrt-10.6.0/resnet18.algolog'))!);
    expect(text).toMatch(/Unknown\n {2}\d+: The log does not show its layer/);
    expect(text).toContain('    Gemm /fc/Gemm\n');
  });

  it('keeps to 100 columns and to harmless characters for every capture', { timeout: 60_000 }, async () => {
    for (const capture of captures()) {
      const report = await reportOf(capture);
      if (!report) continue;
      for (const line of formatReport(report).split('\n')) {
        expect(line.length, `${capture}: ${line}`).toBeLessThanOrEqual(100);
        expect(line, capture).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }
    }
  });

  it('does not let names command the terminal', () => {
    const name = '\u001b[31mred\u0007\u202e';
    const model = buildModel({ inputs: ['x'], outputs: ['y'], nodes: [[name, 'Relu', ['x'], ['y']]] });
    const text = formatReport(
      createReport({ model, modelFile: `${name}.onnx`, layerInfo: layerInfo([engineLayer(name)]) }),
    );
    expect(text).not.toMatch(/[\u001b\u0007\u202e]/);
    expect(text).toContain('[31mred');
  });

  it('counts one of a thing as one', () => {
    const model = buildModel({
      inputs: ['x'],
      outputs: ['y'],
      nodes: [
        ['c', 'Constant', [], ['c']],
        ['a', 'Add', ['x', 'c'], ['y']],
      ],
    });
    const report = createReport({ model, modelFile: 'm.onnx', layerInfo: layerInfo([engineLayer('a')]) });
    expect(summarySentence(report)).toBe(
      '1 engine layer: 1 single-node layer. Of 2 nodes, 1 is in a single-node layer, 1 was folded, 0 are unknown.',
    );
  });
});

// docs/slow.md says how far the estimate reaches.
it('estimates the memory that most captures record', { timeout: 60_000 }, async () => {
  const ratios: number[] = [];
  for (const capture of captures()) {
    const input = await inputOf(capture);
    const recorded = input?.log?.memory.activation;
    if (!recorded || input?.log === undefined) continue;
    const report = (await reportOf(capture))!;
    if (report.layers.length > 0) ratios.push(estimateMemory(report, input.log).total / recorded);
  }
  const count = (fits: (ratio: number) => boolean): number => ratios.filter(fits).length;
  const counts = [ratios.length, count((ratio) => ratio === 1), count((ratio) => Math.abs(ratio - 1) <= 0.15)];
  expect([...counts, count((ratio) => ratio > 1)]).toEqual([81, 70, 75, 4]);
  expect(Math.max(...ratios)).toBeLessThan(1.37);
});

describe('joinProfile', () => {
  const row = (name: string, averageMs: number) => ({
    name,
    timeMs: averageMs * 10,
    averageMs,
    medianMs: averageMs,
    percentage: averageMs * 100,
  });
  const layers = (...names: string[]) => names.map((name) => engineLayer(name));

  it('joins equal lists by position, so that repeated names stay apart', () => {
    const join = joinProfile(layers('a', 'b', 'a'), [row('a', 0.1), row('b', 0.2), row('a', 0.3)]);
    expect(join.averageMs).toEqual([0.1, 0.2, 0.3]);
    expect(join.problems).toEqual([]);
  });

  it('gives rows to the kernels that ran, whatever their number', () => {
    const join = joinProfile(layers('x_myl0_0', '__myl_Add_myl0_1', '__myl_Tan_myl0_2', 'y_myl0_3'), [
      row('x_myl0_0', 0.1),
      row('__myl_Tan_myl0_1', 0.2),
      row('y_myl0_2', 0.3),
    ]);
    expect(join.averageMs).toEqual([0.1, null, 0.2, 0.3]);
    expect(join.problems).toEqual([]);
  });

  it('adds the kernels of an opaque ForeignNode up', () => {
    const join = joinProfile(layers('conv', '{ForeignNode[a...b]}'), [
      row('0', 0.1),
      row('__myl_Add_myl1_0', 0.2),
      row('g_myl1_1', 0.3),
    ]);
    expect(join.averageMs).toEqual([0.1, 0.5]);
    expect(join.problems).toEqual([]);
  });

  it('says when a profile is of another engine', () => {
    const join = joinProfile(layers('a'), [row('b', 0.25), row('a', 0.75)]);
    expect(join.averageMs).toEqual([0.75]);
    expect(join.problems).toMatchObject([
      { code: 'profile-mismatch', message: expect.stringContaining('25 %') as string },
    ]);
  });
});

describe('remarks', () => {
  it('name the boundaries of the captured engines with their evidence', async () => {
    const report = (await reportOf('tensorrt-8.6.1/two_inputs_multi_out.fp32'))!;
    const stays = report.remarks.find(({ code, kind }) => code === 'graph-output' && kind === 'missed')!;
    expect(stays.evidence).toEqual({ tensor: 'feature_map' });
    expect(stays.nodes).toEqual(['2', '3']);
    const zoo = (await reportOf('tensorrt-10.6.0/fusion_zoo.fp32'))!;
    const begins = zoo.remarks.find(({ message }) => message.startsWith('ForeignNode 0 begins'))!;
    expect(begins).toMatchObject({
      kind: 'analysis',
      code: 'native-layer',
      evidence: { tensor: '/max_pool/MaxPool_output_0' },
    });
    expect(begins.message).toContain('as a native layer (CaskPooling)');
    expect((await reportOf('tensorrt-8.6.1/bert_base.fp16'))!.remarks.some(({ code }) => code === 'host-shape')).toBe(
      true,
    );
    expect(
      (await reportOf('tensorrt-10.6.0/vit_tiny.prec_obey'))!.remarks.some(({ code }) => code === 'precision'),
    ).toBe(true);
    expect(
      (await reportOf('tensorrt-10.6.0/vit_tiny.fp16'))!.remarks.some(({ code }) => code === 'fused-attention'),
    ).toBe(true);
  });

  it('rest on lines, tensors, layers and nodes that exist', { timeout: 60_000 }, async () => {
    for (const capture of captures()) {
      const report = await reportOf(capture);
      for (const { code, evidence, nodes, layers, message } of report?.remarks ?? []) {
        // The form of its nodes in the model is what a known fault rests on.
        const ground = code === 'known-fault' ? nodes : Object.keys(evidence);
        expect(ground.length, `${capture}: ${message}`).toBeGreaterThan(0);
        if (evidence.layer !== undefined) expect(report!.layers[evidence.layer], capture).toBeDefined();
        expect(
          layers.every((layer) => report!.layers[layer]),
          capture,
        ).toBe(true);
        const ids = new Set(report!.nodes.map(({ id }) => id));
        expect(
          nodes.every((id) => ids.has(id)),
          capture,
        ).toBe(true);
      }
    }
  });
});
