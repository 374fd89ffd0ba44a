import { describe, expect, it, test } from 'vitest';
import { statesOf } from '../../../../src/kernel/report/buildDiff.ts';
import { fusionGroups } from '../../../../src/kernel/picture/graph/fusionGroups.ts';
import { indexGraph } from '../../../../src/kernel/picture/graph/graphIndex.ts';
import { buildOverlay } from '../../../../src/kernel/picture/graph/overlay.ts';
import { changeColumns, evidenceOf, toChangeGroups, toChangeRows } from '../../../../src/features/diff/changeRows.ts';
import { sortRows } from '../../../../src/kernel/picture/page/layerRows.ts';
import { comparisonData } from '../../../webview/support/comparisonData.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { diffReports } from '../../../../src/features/diff/diffReports.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { readLayerInfo } from '../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { readNsysTrace } from '../../../../src/kernel/read/tensorrt/readTrace.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import { readFixture } from '../../../support/fixtures.ts';

const pairs: [model: string, a: string, b: string][] = [
  ['vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp32', 'tensorrt-10.6.0/vit_tiny.fp16'],
  ['vit_tiny', 'tensorrt-8.6.1/vit_tiny.fp16', 'tensorrt-10.6.0/vit_tiny.fp16'],
  ['fp16_overflow', 'tensorrt-10.6.0/fp16_overflow.fp32', 'tensorrt-10.6.0/fp16_overflow.fp16'],
];

describe.each(pairs)('the comparison of %s, %s against %s', (model, a, b) => {
  it('has every change in the list and in the table, with the time that the diff attributes', async () => {
    const data = await comparisonData(model, a, b);
    const comparison = data.comparison!;
    const { changes, time } = comparison.diff;
    const rows = toChangeRows(data.report!, comparison);
    // Alike changes are one row, and each change is in one.
    expect(rows.flatMap((row) => row.changes)).toHaveLength(changes.length);
    expect(new Set(rows.flatMap((row) => row.changes))).toEqual(new Set(changes));
    const groups = toChangeGroups(comparison);
    expect(new Set(groups.flatMap((group) => group.changes))).toEqual(new Set(changes));
    const sum = groups.reduce((total, { deltaMs }) => total + (deltaMs ?? 0), 0);
    expect(sum).toBeCloseTo(time.attributedMs ?? 0, 9);
    for (const { changes: alike, deltaMs, msA, msB } of rows)
      if (alike.every((change) => change.deltaMs !== null)) expect((msB ?? 0) - (msA ?? 0)).toBeCloseTo(deltaMs!, 9);
  });

  it('marks on the graph just the nodes of its changes, each with a sign', async () => {
    const data = await comparisonData(model, a, b);
    const { nodesB: nodes } = statesOf(data.comparison!.diff);
    expect([...nodes.keys()].toSorted()).toEqual(
      [...new Set(data.comparison!.diff.changes.flatMap(({ nodesB }) => nodesB))].toSorted(),
    );
    const graph = indexGraph(data.graph!);
    const fusion = fusionGroups(graph, data.report);
    const { categories } = buildOverlay('comparison', graph, data.report, fusion, new Map(), new Map(), nodes);
    const signed = categories.filter(({ sign }) => sign !== undefined);
    expect(signed.reduce((count, category) => count + category.nodes, 0)).toBe(nodes.size);
    expect(new Set(signed.map(({ sign }) => sign)).size).toBe(signed.length);
  });

  it('names layers of both sides as evidence, by their own reports', async () => {
    const data = await comparisonData(model, a, b);
    const { diff, before } = data.comparison!;
    for (const change of diff.changes) {
      const found = evidenceOf(change, before, data.report!);
      expect(found.filter(({ side }) => side === 'a').map(({ layer }) => layer)).toEqual(change.layersA);
      expect(found.filter(({ side }) => side === 'b').map(({ layer }) => layer)).toEqual(change.layersB);
    }
  });
});

it('sentences in the list and table do not repeat the time, and rows sort by it', async () => {
  const data = await comparisonData(...pairs[0]!);
  const rows = toChangeRows(data.report!, data.comparison!);
  const slowestFirst = sortRows(rows, changeColumns, { column: 'delta', descending: true });
  expect(slowestFirst[0]!.change.deltaMs).toBe(Math.max(...rows.map(({ change }) => change.deltaMs ?? -Infinity)));
  for (const { sentence } of toChangeGroups(data.comparison!)) expect(sentence).not.toMatch(/[+−][\d.]+ (?:µs|ms)/);
});

test.each(['vit_tiny.fp16', 'bert_base.fp16', 'fusion_zoo.fp32'])(
  'two traces of %s, one engine, show no change',
  async (build) => {
    const modelFile = `${build.split('.')[0]}.onnx`;
    const model = (await readModel(bytesOf(readFixture(`models/${modelFile}`)))).value!;
    const layerInfo = readLayerInfo(new TextDecoder().decode(readFixture(`traces/${build}/layers.json.gz`))).value;
    const side = async (name: string) => {
      const { value: profile } = await readNsysTrace(bytesOf(readFixture(`traces/${build}/${name}.sqlite.gz`)));
      return { source: name, report: createReport({ model, modelFile, layerInfo, profile }) };
    };
    const { changes, time } = diffReports(await side('plain'), await side('graph'));
    expect(time.aMs).not.toBe(time.bMs);
    expect(changes).toEqual([]);
    expect(time).toMatchObject({ attributedMs: 0, isNoise: true });
    expect(time.noiseMs).toBeCloseTo(time.bMs! - time.aMs!, 9);
  },
);
