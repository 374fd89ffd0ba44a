import type { AccuracyFix, ComparedOutput, Measured } from '../../../../src/kernel/simulation/simulated.ts';
import { randomInput, randomWarning } from '../../../../src/kernel/build/randomInputs.ts';
import { expect, it, test } from 'vitest';
import {
  outputErrors,
  trialError,
  worstError,
  ruleHints,
  measureErrors,
  notJudgedTexts,
} from '../../../../src/features/accuracy/accuracyReport.ts';
import type { ReducedPrecisionModel } from '../../../../src/features/accuracy/internal/reducedPrecisionModel.ts';
import { createModelGraph } from '../../../../src/kernel/network/modelGraph.ts';
import type { OnnxModel, OnnxTensor } from '../../../../src/kernel/read/onnx/onnxModel.ts';

const output = (given: Partial<ComparedOutput>): ComparedOutput => ({
  name: 'y',
  kind: 'float',
  shape: [2],
  max: 1,
  error: 0,
  finite: true,
  ...given,
});

it('the worst sample counts, and what is not finite in one sample is not finite', () => {
  const samples = [[output({ error: 0.1, max: 3 })], [output({ error: 0.3, max: 2 })]];
  expect(outputErrors(samples, 'float')).toEqual([
    { name: 'y', max: 3, error: 0.3, finite: true, judged: true, mean: 0.2 },
  ]);
  expect(trialError(samples, 'float')).toBe(0.3);
  const broken = [...samples, [output({ error: null, finite: false })]];
  expect(outputErrors(broken, 'float')[0]).toMatchObject({ error: null, finite: false, mean: null });
  expect(trialError(broken, 'float')).toBe(Infinity);
  expect(worstError(outputErrors(broken, 'float'))).toBeNull();
});

it('outputs of other types than floating point count only on request', () => {
  const samples = [[output({ error: 0.01 }), output({ name: 'class', kind: 'other', max: null, error: 0.5 })]];
  expect(trialError(samples, 'float')).toBe(0.01);
  expect(worstError(outputErrors(samples, 'float'))).toBe(0.01);
  expect(trialError(samples, 'all')).toBe(0.5);
  expect(worstError(outputErrors(samples, 'all'))).toBe(0.5);
  expect(trialError(samples, ['class'])).toBe(0.5);
  expect(outputErrors(samples, ['y']).map(({ name, judged }) => [name, judged])).toEqual([
    ['y', true],
    ['class', false],
  ]);
});

const fix = {
  error: 0.0016,
  without: [
    { selector: '/norm/Pow', nodes: ['3'], error: null },
    { selector: '/layers.*/Pow', nodes: ['4', '5'], error: 0.383 },
    { selector: '"a name"', nodes: ['6'], error: 0.02 },
  ],
} as AccuracyFix;

test('a rule of the fix has the error with and without it, at its end', () => {
  const text = 'model ./m.onnx\nbase fp16\n\n  /norm/Pow   fp32 # keep\n/layers.*/Pow fp32\n"a name" fp32\n';
  expect(ruleHints(text, { fix })).toEqual([
    { line: 3, column: 18, label: 'error 0.0016, without: not finite' },
    { line: 4, column: 18, label: 'error 0.0016, without: 0.38' },
    { line: 5, column: 13, label: 'error 0.0016, without: 0.02' },
  ]);
});

test('other rules, other types, lines with mistakes and comments that give the error have none', () => {
  const text =
    '/norm/Pow fp16\n/norm/Pow, /x fp32\n/norm/P* fp32\n/norm/Pow fp32 -> what\n/layers.*/Pow fp32  # without: 0.38\n';
  expect(ruleHints(text, { fix })).toEqual([]);
  expect(ruleHints('/norm/Pow fp32\n', { fix: null })).toEqual([]);
});

const measured: Measured = { max: 1, shadow: 0, shadowSum: 0, run: 0, runSum: 0, vanished: 0 };

test('nodes that were not measured are counted with the reason', () => {
  const ids = ['0', '3/then_branch/0', '4/body/0', '5'];
  const nodes = ids.map((id) => ({ id, name: '', op: 'Add', inputs: [], outputs: [], subgraphs: [], attributes: [] }));
  const model = { nodes, graph: { path: '', nodes, inputs: [], outputs: [], values: [], initializers: [] } };
  const low = nodes.map((node, index) => ({
    index,
    node,
    type: 'float16',
    graph: '',
    outputs: index === 3 ? [] : [0],
  }));
  const samples = [
    [
      { node: 0, outputs: [measured] },
      { node: 1, outputs: [{ ...measured, max: -1 }] },
    ],
  ];
  const graph = createModelGraph(model as unknown as OnnxModel);
  const judged = measureErrors({ low } as unknown as ReducedPrecisionModel, graph, samples, new Map(), 0.01);
  expect(judged.map(({ notJudged }) => notJudged)).toEqual([
    undefined,
    'did not run with these inputs',
    'inside a body that cannot be measured, such as a loop over sequences',
    'results are not floating point',
  ]);
  expect(judged.map(({ max, localError }) => [max, localError])).toEqual([[1, 0], ...Array(3).fill([null, null])]);
  expect(notJudgedTexts(judged)).toEqual([
    '1 node not judged: did not run with these inputs',
    '1 node not judged: inside a body that cannot be measured, such as a loop over sequences',
    '1 node not judged: results are not floating point',
  ]);
});

const table: OnnxTensor = { name: 'table', type: 'float', shape: [30522, 8], data: null };
const lookup = {
  id: '0',
  name: '',
  op: 'Gather',
  domain: '',
  inputs: ['table', 'input_ids'],
  outputs: ['x'],
  attributes: [],
  subgraphs: [],
  metadata: [],
};
const graph = { name: '', path: '', nodes: [lookup], inputs: [], outputs: [], values: [], initializers: [table] };
const model = { graph } as unknown as OnnxModel;
const guess = (name: string, type: string, shape: (number | string | null)[]) =>
  randomInput({ name, type, shape }, model, new Map());

test('token ids are within the vocabulary, masks are ones, positions count', () => {
  expect(guess('input_ids', 'int64', ['batch', 'seq_len'])).toEqual({ shape: [1, 16], values: [0, 30522] });
  expect(guess('attention_mask', 'int64', [1, 8])).toEqual({ shape: [1, 8], values: 'ones' });
  expect(guess('position_ids', 'int64', [1, null])).toEqual({ shape: [1, 16], values: 'count' });
  expect(guess('token_type_ids', 'int64', [1, 8])).toEqual({ shape: [1, 8], values: 'zeros' });
  expect(guess('image', 'float', ['N', 3, 'height', 'width'])).toEqual({ shape: [1, 3, 64, 64], values: 'normal' });
  expect(guess('past_key', 'float', ['batch', 2, 'past_len', 4]).shape).toEqual([1, 2, 0, 4]);
});

test('given shapes win', () => {
  const given = new Map([['x', [2, 5]]]);
  expect(randomInput({ name: 'x', type: 'float', shape: [null, null] }, model, given).shape).toEqual([2, 5]);
});

test('random inputs are named in a warning; given ones are not', () => {
  expect(randomWarning([{ name: 'x', source: 'file' }])).toBeNull();
  expect(randomWarning([{ name: 'x', source: 'random' }])).toContain('random inputs may invent or miss faults (x)');
});
