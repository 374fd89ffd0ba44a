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
    { scores: 1, softmax: 2, values: 3 },
    { scores: 4, softmax: 5, values: 6 },
  ]);
});

test('there is one network for a model', () => {
  const model = buildModel(attention('x'));
  expect(networkOf(model)).toBe(networkOf(model));
  expect(networkOf(model).inferred).toBe(networkOf(model).inferred);
});
