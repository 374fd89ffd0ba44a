import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { captureData } from '../../../webview/support/captureData.ts';
import { foreignNode, graphOf, layer, reportOf } from '../picture/graph/graphBuilder.ts';
import { BuildProgress } from '../../../../src/kernel/build/buildManifest.ts';
import { comparedFigures, diffReports } from '../../../../src/features/diff/diffReports.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { BuildLogReader, readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { readLayerInfo } from '../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import { indexGraph, searchGraph } from '../../../../src/kernel/picture/graph/graphIndex.ts';
import { filterLayers, toLayerRows } from '../../../../src/kernel/picture/page/layerRows.ts';
import { formatReport } from '../../../../src/kernel/report/reportText.ts';
import type { ReportForeignNode } from '../../../../src/kernel/fusion/fusionReport.ts';
import {
  becameText,
  countedLayers,
  fateWordsOf,
  countedRegions,
  fateSentence,
  inForeignNode,
  summarySentence,
} from '../../../../src/kernel/report/words.ts';
import { modelPath } from '../../../support/fixtures.ts';

describe('fateSentence', () => {
  const data = graphOf(
    'a @/qk/MatMul = MatMul(x)\nb @/Softmax = Softmax(a)\nc @/Conv = Conv(b)\nd @/fc/Gemm = Gemm(c)\ne @/fc/Relu = Relu(d)\nk = Constant()',
  );
  const report = reportOf(
    data,
    [
      layer(0, ['0', '1'], { kind: 'kernel', foreignNode: 0, name: '_gemm_mha_v2' }),
      layer(1, ['2'], { type: 'CaskConvolution', averageMs: 0.0123 }),
      layer(2, ['3', '4']),
    ],
    [foreignNode(0, ['0', '1'], [0], { exact: false })],
  );
  it.each([
    [
      0,
      'Fused into ForeignNode 0 with 1 other node (derived from the graph). Kernel _gemm_mha_v2 computes it together with Softmax.',
    ],
    [2, 'Computed by layer 1 (CaskConvolution), 12.3 µs, which computes nothing else.'],
    [3, 'Computed by layer 2 together with Relu.'],
    [5, 'Was constant-folded at build time.'],
  ])('says what became of node %i', (index, expected) => {
    expect(fateSentence(report, report.nodes[index]!)).toBe(expected);
  });

  it('says in a line what the nodes became', () => {
    expect(becameText(report)).toBe('6 nodes → 1 ForeignNode, 2 other layers, 1 kernel');
    const native = reportOf(data, [layer(0, ['0', '1', '2']), layer(1, ['3', '4'])], []);
    expect(becameText(native)).toBe('6 nodes → 2 layers');
    expect(becameText(reportOf(data, [], []))).toBe('');
  });

  it('finds a DLA loadable by that name and by its number', () => {
    const loadable = {
      ...report,
      foreignNodes: report.foreignNodes.map((one) => ({ ...one, device: 'dla' as const })),
    };
    const graph = indexGraph(data);
    const found = (query: string) => searchGraph(graph, loadable, query).points.length;
    expect([found('group:0'), found('group:"dla loadable 0"'), found('group:"ForeignNode 0"')]).toEqual([2, 2, 0]);
    const rows = toLayerRows(loadable);
    expect(filterLayers(loadable, rows, 'group:loadable').rows).toHaveLength(1);
    expect(filterLayers(loadable, rows, 'group:foreign').rows).toHaveLength(0);
  });

  it('has a sentence for every node of a real build', async () => {
    for (const [model, capture] of [
      ['vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16'],
      ['vit_tiny', 'tensorrt-8.6.1/vit_tiny.fp16'],
      ['loop_if', 'tensorrt-10.6.0/loop_if.fp32'],
    ]) {
      const { report: real } = await captureData(model!, capture!);
      for (const node of real!.nodes) {
        const sentence = fateSentence(real!, node);
        expect(sentence).toMatch(/^[A-Z].*\.$/);
        expect(sentence).not.toMatch(/undefined|null|[\u0000-\u001f]/);
      }
    }
  });
});

it('calls a region that the log lists among the layers of the DLA a DLA loadable', async () => {
  // The log's form is that of public reports from Jetsons (`[DlaLayer] {ForeignNode[…]}`); no build with a DLA is at hand.
  const name = '{ForeignNode[/conv1/Conv.../layer4/layer4.1/relu_1/Relu]}';
  const log = readBuildLog(
    [
      '---------- Layers Running on DLA ----------',
      `[DlaLayer] ${name}`,
      '[GpuLayer] REDUCE: /avgpool/GlobalAveragePool',
    ]
      .map((line) => `[11/24/2026-10:00:00] [V] [TRT] ${line}\n`)
      .join(''),
  ).value;
  const { value: layerInfo } = readLayerInfo(
    JSON.stringify({ Layers: [name, '/avgpool/GlobalAveragePool'], Bindings: [] }),
  );
  const { value: model } = await readModel(bytesOf(readFileSync(modelPath('resnet18'))));
  const report = createReport({ model: model!, modelFile: 'resnet18.onnx', log, layerInfo });
  expect(report.foreignNodes).toMatchObject([{ device: 'dla', title: expect.stringMatching(/ \(DLA\)$/) }]);
  expect(fateSentence(report, report.nodes[0]!)).toMatch(/^Runs on the DLA, in DLA loadable 0 \([^()]*\) with /);
  expect(formatReport(report)).toMatch(/DLA loadable 0, derived/);
  expect(inForeignNode(report, 0)).toMatch(/^in the DLA loadable [^()]*$/);
  const [{ title: _, ...untitled }] = report.foreignNodes as [ReportForeignNode];
  expect(inForeignNode({ foreignNodes: [untitled] }, 0)).toBe('in DLA loadable 0');
  expect(summarySentence(report)).toMatch(/in the DLA loadable/);
  expect(summarySentence(report)).not.toContain('ForeignNode');
  expect(report.remarks.map(({ message }) => message)).toEqual([expect.stringMatching(/^DLA loadable 0 ends at /)]);
  expect(fateWordsOf(report).foreign.label).toBe('In DLA loadables');
  expect(countedLayers(1, 'foreign', report)).toBe('1 DLA loadable');
  const twice = [...report.foreignNodes, foreignNode(1, [], [])];
  expect(countedRegions(twice)).toBe('1 ForeignNode, 1 DLA loadable');
  const { totals } = diffReports({ report, source: 'x' }, { report: { ...report, foreignNodes: twice }, source: 'x' });
  expect([totals.foreignNodes, totals.loadables]).toEqual([
    { a: 0, b: 1 },
    { a: 1, b: 1 },
  ]);
  expect(comparedFigures(totals)).toContainEqual({ label: 'DLA loadables', a: '1', b: '1', delta: '' });
});

it('counts loadables of the DLA of a running build apart from ForeignNodes', () => {
  const progress = new BuildProgress();
  const reader = new BuildLogReader({ onEvent: (event) => progress.event(event, 0) });
  for (const line of [
    '[DlaLayer] {ForeignNode[a...b]}',
    '=============== Computing costs for {ForeignNode[a...b]}',
    '=============== Computing costs for {ForeignNode[c...d]}',
  ])
    reader.push(`[11/24/2026-10:00:00] [V] [TRT] ${line}\n`);
  expect(progress.state(0)).toMatchObject({ foreignNodes: 1, loadables: 1 });
});
