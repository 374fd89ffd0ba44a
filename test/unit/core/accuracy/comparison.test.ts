import { expect, test } from 'vitest';
import type { AccuracyReport } from '../../../../src/core/accuracy/accuracyReport.ts';
import { type ComparedTensor, compareRuns, comparedText } from '../../../../src/core/accuracy/comparison.ts';
import type { OnnxModel } from '../../../../src/core/onnx/onnxModel.ts';

const tensor = (name: string, error: number | null, more: Partial<ComparedTensor> = {}): ComparedTensor => ({
  name,
  other: name,
  kind: 'float',
  shape: [2],
  max: 1,
  error,
  finite: error !== null,
  ...more,
});
const runs = (...tensors: ComparedTensor[]) => ({ runs: 1, tensors, onlyA: [], onlyB: [], notes: [] });
const node = (id: string, name: string, output: string) => ({ id, name, op: 'Add', outputs: [output] });
const nodes = [node('0', '/a', 'x'), node('1', '', 'y')];
const model = { nodes, graph: { outputs: [{ name: 'x' }, { name: 'y' }] } } as unknown as OnnxModel;

test('tensors that are no outputs of the model: marks may have changed the engine', () => {
  const inner = { nodes, graph: { outputs: [{ name: 'y' }] } } as unknown as OnnxModel;
  const notes = (names: string[]) =>
    compareRuns(runs(...names.map((name) => tensor(name, 0))), 0.01, inner, null).notes;
  expect(notes(['x', 'y'])).toEqual([
    expect.stringMatching(/^1 tensor of the engine is not an output of the model \(x\): marked tensors can change/),
  ]);
  expect(notes(['y', 'other'])).toEqual([]);
});

test('tensors come in the model’s order; the first that fails is named with its node', () => {
  const compared = compareRuns(runs(tensor('y', 0.5), tensor('z', 0), tensor('x', 0.02)), 0.01, model, null);
  expect(compared.tensors.map(({ name, passes }) => [name, passes])).toEqual([
    ['x', false],
    ['y', false],
    ['z', true],
  ]);
  const text = comparedText(compared);
  expect(text).toContain('First tensor that misses the tolerance: x, computed by /a (Add)');
  expect(text).toContain('2 tensors failed');
  expect(text).toContain('node 1 (Add)');
});

test.each<[number | null, number | null, boolean]>([
  [0.08, 0.07, true],
  [0.08, 0.039, false],
  [null, null, true],
  [null, 0.001, false],
  [0.001, null, false],
  [0, 9e-6, true],
])('predicted %s, measured %s: agrees %s', (predicted, measured, agrees) => {
  const prediction = { outputs: [{ name: 'y', error: predicted }], nodes: [] } as unknown as AccuracyReport;
  const [found] = compareRuns(runs(tensor('y', measured)), 0.01, null, prediction).tensors;
  expect([found!.predicted, found!.agrees]).toEqual([predicted, agrees]);
});

test('an inner tensor is held against the prediction for its node', () => {
  const prediction = { outputs: [], nodes: [{ id: '0', propagatedError: 0.01 }] } as unknown as AccuracyReport;
  const [found] = compareRuns(runs(tensor('x', 0.015)), 0.01, model, prediction).tensors;
  expect([found!.predicted, found!.agrees]).toEqual([0.01, true]);
});
