import type { AccuracyReport } from '../../../../src/kernel/simulation/simulated.ts';
import { expect, test } from 'vitest';
import {
  type ComparedTensor,
  comparedDocument,
  compareRuns,
} from '../../../../src/features/accuracy/precisionSweep.ts';
import { renderText } from '../../../../src/kernel/document/render.ts';
import { buildModel } from '../../kernel/fusion/buildModel.ts';

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
const modelWith = (outputs: string[]) =>
  buildModel({
    outputs,
    nodes: [
      ['/a', 'Add', [], ['x']],
      ['', 'Add', [], ['y']],
    ],
  });
const model = modelWith(['x', 'y']);

test('tensors that are no outputs of the model: marks may have changed the engine', () => {
  const inner = modelWith(['y']);
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
  const text = renderText(comparedDocument(compared));
  expect(text).toContain('The first that misses the tolerance: x, computed by /a (Add).');
  expect(text).toMatch(/✗ 2 of \d tensors failed\./);
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

test('of tensors of one name, the one of the main graph is meant', () => {
  const branch = { outputs: ['x'], nodes: [['inner', 'Relu', [], ['x']] as ['inner', 'Relu', string[], string[]]] };
  const { tensors } = compareRuns(
    runs(tensor('x', 0)),
    0.01,
    buildModel({
      inputs: ['c'],
      outputs: ['x'],
      nodes: [
        ['outer', 'Add', [], ['x']],
        ['', 'If', ['c'], ['y'], { then_branch: branch, else_branch: branch }],
      ],
    }),
    null,
  );
  expect(tensors[0]!.node?.name).toBe('outer');
});
