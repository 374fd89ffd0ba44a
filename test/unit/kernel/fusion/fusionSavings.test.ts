import { describe, expect, test } from 'vitest';
import { loadFiles } from '../../../../src/kernel/node/store/loadBuild.ts';
import { comparedFigures, diffReports } from '../../../../src/features/diff/diffReports.ts';
import { createReport, withMarkedTimes } from '../../../../src/kernel/fusion/createReport.ts';
import type { FusionReport, ReportTensor } from '../../../../src/kernel/fusion/fusionReport.ts';
import { findSavings } from '../../../../src/kernel/fusion/internal/fusionSavings.ts';
import { readLayerInfo } from '../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { savingOf, savingText } from '../../../../src/kernel/report/words.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { fixturePath, modelPath, readFixture } from '../../../support/fixtures.ts';
import { reportWith } from '../../features/diff/reportWith.ts';
import { handLayer, handReport } from '../picture/graph/handReport.ts';

const tensor = (
  name: string,
  producer: string,
  consumers: string[],
  more: Partial<ReportTensor> = {},
): ReportTensor => ({
  name,
  producer,
  consumers,
  type: 'float',
  shape: [2, 3],
  layers: [],
  ...more,
});
/** Conv → Reshape → Relu in layer 0, and a MatMul in layer 1. */
function report(
  tensors: ReportTensor[],
  more: Partial<FusionReport> = {},
  ops = ['Conv', 'Reshape', 'Relu', 'MatMul'],
) {
  return handReport(
    ops.map((op, index) => [`/${index}`, op, index < 3 ? 'fused' : 'single']),
    [handLayer(0, 'fused', ['0', '1', '2']), handLayer(1, 'single', ['3'])],
    { tensors, ...more },
  );
}
const savings = (made: FusionReport, outputs: string[] = []) => findSavings(made, new Set(outputs));

describe('a fused layer', () => {
  const chain = [tensor('a', '0', ['1']), tensor('b', '1', ['2']), tensor('c', '2', ['3'])];

  test('saves what it computes and reads itself, and a launch less than it has nodes that compute', () => {
    // A Reshape copies nothing, so its output is no other tensor.
    expect(savings(report(chain))).toEqual([
      { of: { layer: 0 }, bytes: 24, tensors: 1, unknownTensors: 0, launches: 1 },
    ]);
  });

  test('saves no tensor that leaves it: read outside, an output of the model, or written by a layer', () => {
    const bytes = (made: FusionReport, outputs?: string[]) => savings(made, outputs)[0]!.bytes;
    expect(bytes(report([tensor('a', '0', ['1', '3'])]))).toBe(0);
    expect(bytes(report([tensor('a', '0', ['1'])]), ['a'])).toBe(0);
    expect(bytes(report([tensor('a', '0', ['1'], { layers: [0] })]))).toBe(0);
    expect(bytes(report([tensor('a', '0', [])]))).toBe(0);
  });

  test('counts tensors of unknown size apart', () => {
    const open = [tensor('a', '0', ['1'], { shape: ['batch', 3] }), tensor('d', '0', ['2'], { type: null })];
    const [saving] = savings(report(open));
    expect(saving).toMatchObject({ bytes: 0, tensors: 0, unknownTensors: 2, launches: 1 });
    expect(savingText(saving!)).toBe('1 launch, 2 tensors of unknown size (derived)');
  });

  test('launches as many kernels as a trace says', () => {
    const profile = { source: 'nsys' as const, kernels: 20, attributed: 20, otherMs: 0, passes: 10 };
    const traced = report(chain, { profile });
    traced.layers[0]!.launches = 20;
    expect(savings(traced)[0]!.launches).toBe(0);
    traced.layers[0]!.launches = 10;
    expect(savings(traced)[0]!.launches).toBe(1);
  });
});

test('a ForeignNode whose kernels are not listed says nothing of memory and launches', () => {
  const opaque = handReport(
    [['/a', 'MatMul', 'foreign'], ['/b', 'Add', 'foreign']],
    [handLayer(0, 'foreign', ['0', '1'], { foreignNode: 0 })],
    { tensors: [tensor('a', '0', ['1'])] },
  ); // oxfmt-ignore
  expect(savings(opaque)).toEqual([
    { of: { foreignNode: 0 }, bytes: null, tensors: 0, unknownTensors: 0, launches: null },
  ]);
  expect(savingText(savings(opaque)[0]!)).toBe('');
});

test('vit_tiny: groups add up, and no tensor that a layer writes is counted', async () => {
  const layers = readLayerInfo(new TextDecoder().decode(readFixture('traces/vit_tiny.fp16/layers.json.gz')));
  const model = await readModel(bytesOf(readFixture('models/vit_tiny.onnx')));
  const made = createReport({ model: model.value!, modelFile: 'vit_tiny.onnx', layerInfo: layers.value });
  const saving = savingOf(made, { foreignNode: 0 })!;
  const kernels = made.layers.filter(
    ({ foreignNode, kind, type }) => foreignNode === 0 && kind === 'kernel' && type !== 'NoOp',
  );
  const views = new Set(['Reshape', 'Flatten', 'Squeeze', 'Unsqueeze', 'Identity', 'Dropout']);
  const computing = made.nodes.filter(
    ({ foreignNode, op, layers: own }) => foreignNode === 0 && !views.has(op) && own.length > 0,
  );
  expect(saving.launches).toBe(computing.length - kernels.length);
  const most = made.tensors.reduce((sum, { layers: by, shape }) => {
    if (by.length > 0 || shape === null) return sum;
    return sum + 4 * shape.reduce<number>((product, size) => product * Number(size), 1);
  }, 0);
  expect(saving.bytes).toBeGreaterThan(1e6);
  expect(saving.bytes).toBeLessThanOrEqual(most);
});

describe('against a build whose nodes are in more kernels', () => {
  const names = ['MatMul0', 'Softmax1', 'Reshape2', 'MatMul3', 'Relu4', 'Exp5'];
  const fused = reportWith(names, [
    { nodes: ['MatMul0', 'Softmax1', 'Reshape2', 'MatMul3'], averageMs: 2 },
    { nodes: ['Relu4', 'Exp5'], averageMs: 1 },
  ]);
  // 24 bytes that only one kernel computes and reads.
  fused.tensors = [tensor('a', '0', ['1'])];
  const saved = (apart: Parameters<typeof reportWith>[1]) =>
    withMarkedTimes(fused, reportWith(names, apart)).layers.map((layer) => layer.saved);

  test('the time of the nodes there, less that of their layer here', () => {
    const [attention, same] = saved([
      { nodes: ['MatMul0'], averageMs: 2 },
      { nodes: ['Softmax1'], averageMs: 1 },
      { nodes: ['MatMul3'], averageMs: 1.5 },
      { nodes: ['Relu4', 'Exp5'], averageMs: 9 },
      { nodes: [], averageMs: 4 },
    ]);
    expect(attention).toEqual({ launches: 2, bytes: 24, ms: 2.5 });
    // One layer in both: its time differs for another reason.
    expect(same).toEqual({ launches: 1, bytes: 0, ms: null });
  });

  test('a kernel with other nodes counts for its nodes alike, and faster apart is negative', () => {
    const [attention] = saved([
      { nodes: ['MatMul0', 'Relu4'], averageMs: 1 },
      { nodes: ['Softmax1', 'MatMul3'], averageMs: 0.5 },
      { nodes: ['Exp5'], averageMs: 1 },
    ]);
    expect(attention!.ms).toBe(-1);
    expect(saved([{ nodes: ['MatMul0'], averageMs: null }, { nodes: ['Softmax1', 'MatMul3'] }])[0]!.ms).toBeNull();
    expect(saved([])[0]!.ms).toBeNull();
  });

  test('a profile without times says nothing of the pace', () => {
    const timed = (averageMs: number) => {
      const nodes = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ id: name, name, layers: [name] }));
      const layers = nodes.map(({ id }) => ({ id, nodes: [id], averageMs, foreignNode: null, outputs: [] }));
      return { nodes, layers, foreignNodes: [], tensors: [], problems: [] } as unknown as FusionReport;
    };
    expect(withMarkedTimes(timed(1), timed(0)).problems).toEqual([]);
    expect(withMarkedTimes(timed(1), timed(2)).problems).toMatchObject([{ code: 'other-pace' }]);
  });

  test('a build in another precision is no measure of what fusion saves', () => {
    const typed = (type: string) => {
      const layers = ['a', 'b', 'c'].map((id) => ({
        id,
        nodes: [id],
        averageMs: 1,
        foreignNode: null,
        outputs: [{ name: id, dims: [1], type: id === 'c' ? 'Int32' : type, format: type }],
      }));
      return { nodes: [], layers, foreignNodes: [], tensors: [], problems: [] } as unknown as FusionReport;
    };
    expect(withMarkedTimes(typed('Half'), typed('Half')).problems).toEqual([]);
    expect(withMarkedTimes(typed('Half'), typed('Float')).problems).toMatchObject([{ code: 'other-types' }]);
  });

  // With an output inside of the attention of layers.1, on a GPU on which other work ran: the same layers take 1.35 times as long.
  test('a build that is slower as a whole is no saving of a fusion', async () => {
    const file = (name: string): string => fixturePath(`marked/${name}`);
    const built = async (name: string) =>
      (
        await loadFiles({
          onnx: modelPath('fp16_overflow_fp16'),
          layers: file(`${name}.layers.json.gz`),
          profile: file(`${name}.profile.json`),
        })
      ).report;
    const [plain, marked] = [await built('plain'), await built('marked')];
    const report = withMarkedTimes(plain, marked);
    const { layers, problems } = report;
    const saved = layers.filter((layer) => layer.saved && layer.saved.ms !== null);
    expect(saved.map(({ name }) => name)).toEqual(['_gemm_mha_v2_myl0_10']);
    // Its four kernels there take 27.7 µs, it takes 5.14 µs.
    expect(saved[0]!.saved!.ms! * 1000).toBeCloseTo(27.7 / 1.355 - 5.14, 0);
    expect(problems.find(({ code }) => code === 'other-pace')?.message).toContain('take 1.35 times as long');

    // A comparison has the sums of both sides: the marked build lacks what the attention's one kernel saves.
    const figures = comparedFigures(
      diffReports({ source: 'a', report }, { source: 'b', report: marked }).totals,
    ).flatMap(({ label, a, b }) => (label.includes(' saved ') ? [[label, a, b]] : []));
    expect(figures).toEqual([
      ['Launches saved (derived)', '147', '144'],
      ['Bytes saved (derived)', '1.26 MiB', expect.any(String)],
      ['Time saved (derived)', '15.3 µs', 'unknown'],
    ]);
  });
});
