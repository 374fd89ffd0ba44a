import { expect, test } from 'vitest';
import { diffReports, markedSentences } from '../../../../src/features/diff/diffReports.ts';
import { markedTensors, type MarkedTensors } from '../../../../src/kernel/report/buildDiff.ts';
import type { OnnxModel } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { modelOf } from '../../kernel/fusion/loadCapture.ts';
import { type LayerSketch, reportWith } from './reportWith.ts';

const names = ['Conv0', 'Relu1', 'MatMul2', 'Add3', 'Exp4', 'Div5'];
const plain: LayerSketch[] = [
  { nodes: ['Conv0', 'Relu1'], averageMs: 1 },
  { nodes: ['MatMul2', 'Add3'], averageMs: 1 },
  { nodes: ['Exp4', 'Div5'], averageMs: 1 },
];
const marks = (more: Partial<MarkedTensors> = {}): MarkedTensors => ({
  outputs: ['y'],
  debug: [],
  all: false,
  ...more,
});
const compared = (
  layers: LayerSketch[],
  marked: MarkedTensors | undefined,
  fates: Parameters<typeof reportWith>[2] = {},
  ofPlain?: MarkedTensors,
) =>
  diffReports(
    { source: 'a', report: reportWith(names, plain), marked: ofPlain },
    { source: 'b', report: reportWith(names, layers, fates), marked },
  ).marked;

test('a fusion survives where its nodes are still together, also with others or with a folded one', () => {
  const split = [
    { nodes: ['Conv0'], averageMs: 0.7 },
    { nodes: ['Relu1'], averageMs: 0.7 },
    { nodes: ['MatMul2', 'Add3', 'Exp4'], averageMs: 2 },
  ];
  const found = compared(split, marks());
  expect(found).toMatchObject({ side: 'b', survived: 2, unknown: 0, fused: 1 });
  expect(found!.dissolved).toEqual([{ kernel: 'Conv0 + Relu1', nodes: ['0', '1'], kernels: 2 }]);
  expect(found!.deltaMs).toBeCloseTo(0.4);
  expect(markedSentences(found!)).toEqual([
    'B has 1 tensor marked as an output: of 3 fusions in A, 2 survived, 1 dissolved; it takes 0.400 ms more.',
    'B is not the engine of A: its values and times can differ from the engine that you ship.',
  ]);
});

test('members of a ForeignNode in no known kernel are unknown, and a plan is not compared', () => {
  expect(compared(plain.slice(0, 2), marks(), { Exp4: 'foreign', Div5: 'foreign' })).toMatchObject({
    survived: 2,
    unknown: 1,
  });
  const problems = [{ severity: 'warning' as const, code: 'planned-layers', message: '' }];
  const [report, plan] = [reportWith(names, plain), { ...reportWith(names, plain), problems }];
  const diff = diffReports({ source: 'a', report }, { source: 'b', report: plan, marked: marks() });
  expect(diff.marked).toBeUndefined();
});

test('what the marked side does not know is unknown, and marks on both sides or none are not compared', () => {
  expect(compared(plain.slice(0, 2), marks(), { Exp4: 'unknown', Div5: 'unknown' })).toMatchObject({
    survived: 2,
    dissolved: [],
    unknown: 1,
  });
  expect(compared(plain, undefined)).toBeUndefined();
  expect(compared(plain, marks(), {}, marks())).toBeUndefined();
  expect(compared(plain, undefined, {}, marks({ outputs: [], debug: ['t'] }))).toMatchObject({
    side: 'a',
    survived: 3,
  });
});

test('a build that is called unfused and is still fused says so', () => {
  const alone = names.map((name) => ({ nodes: [name] }));
  expect(markedSentences(compared(alone, marks({ all: true }))!)).toHaveLength(2);
  expect(markedSentences(compared(plain, marks({ all: true }))!).at(-1)).toBe(
    'B is called unfused, but 3 kernels still compute several nodes, for example Conv0 and Relu1.',
  );
});

test('marked tensors are the bindings that the model does not have as inputs or outputs', async () => {
  const model = (await modelOf('fusion_zoo')) as OnnxModel;
  const own = [...model.graph.inputs, ...model.graph.outputs].map(({ name }) => name);
  expect(markedTensors(model, [])).toBeUndefined();
  expect(markedTensors(model, own)).toEqual({ outputs: [], debug: [], all: false });
  expect(markedTensors(model, [...own, 'x'], { debugTensors: ['t'] })).toEqual({
    outputs: ['x'],
    debug: ['t'],
    all: false,
  });
  expect(markedTensors(model, [], { outputs: ['x'] })).toEqual({ outputs: ['x'], debug: [], all: false });
  expect(markedTensors(model, own, { outputs: 'all' })).toMatchObject({ all: true });
});
