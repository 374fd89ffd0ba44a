import { expect, test } from 'vitest';
import { nodesToMatch } from '../../../../src/core/diff/buildDiff.ts';
import { networkOf } from '../../../../src/core/network/network.ts';
import { attentions } from '../../../../src/core/network/modelGraph.ts';
import { buildModel, type ShortGraph } from '../fusion/buildModel.ts';

const attention = (input: string): ShortGraph => ({
  outputs: ['o'],
  nodes: [
    ['', 'MatMul', [input, 'k'], ['s']],
    ['', 'Softmax', ['s'], ['p']],
    ['', 'MatMul', ['p', 'v'], ['o']],
  ],
});

test('each branch has its own attention, although both use the same names', () => {
  const model = buildModel({
    inputs: ['c', 'x', 'k', 'v'],
    outputs: ['y'],
    nodes: [['', 'If', ['c'], ['y'], { then_branch: attention('x'), else_branch: attention('x') }]],
  });
  expect(attentions(nodesToMatch(model))).toEqual([
    { scores: 1, softmax: 2, values: 3, path: [2] },
    { scores: 4, softmax: 5, values: 6, path: [5] },
  ]);
});

test('masks of windows, caps and rows without a key are between; the product of a position bias makes no scores', () => {
  const model = buildModel({
    inputs: ['q', 'k', 'v', 'table', 'm'],
    outputs: ['o'],
    nodes: [
      ['', 'Identity', ['q'], ['q1']],
      ['', 'Identity', ['k'], ['k1']],
      ['', 'MatMul', ['q1', 'k1'], ['s']],
      ['', 'MatMul', ['table', 'm'], ['bias']],
      ['', 'Reshape', ['s'], ['windows']],
      ['', 'Add', ['bias', 'windows'], ['masked']],
      ['', 'Reshape', ['masked'], ['rows']],
      ['', 'Softmax', ['rows'], ['p']],
      ['', 'IsNaN', ['p'], ['empty']],
      ['', 'Where', ['empty', 'm', 'p'], ['kept']],
      ['', 'MatMul', ['kept', 'v'], ['o']],
    ],
  });
  expect(attentions(nodesToMatch(model))).toEqual([{ scores: 2, softmax: 7, values: 10, path: [4, 5, 6, 7, 9] }]);
});

test('there is one network for a model', () => {
  const model = buildModel(attention('x'));
  expect(networkOf(model)).toBe(networkOf(model));
  expect(networkOf(model).inferred).toBe(networkOf(model).inferred);
});
