import { expect, test } from 'vitest';
import { createModelGraph, attentions } from '../../../../src/kernel/network/modelGraph.ts';
import { nodeRoles } from '../../../../src/kernel/network/nodeRoles.ts';
import { modelFacts } from '../../../../src/kernel/rules/buildFacts.ts';
import { buildModel, type ShortNode, type ShortGraph } from '../fusion/buildModel.ts';
import { nodesToMatch } from '../../../../src/kernel/report/buildDiff.ts';
import { networkOf } from '../../../../src/kernel/network/network.ts';

/** Positions from a sequence length, turned by constant frequencies: rotary embeddings, as exporters write them. */
const rotary: ShortNode[] = [
  ['shape', 'Shape', ['x'], ['dims']],
  ['length', 'Gather', ['dims', 'one'], ['length']],
  ['range', 'Range', ['zero', 'length', 'one'], ['positions']],
  ['float', 'Cast', ['positions'], ['floats']],
  ['angles', 'Mul', ['floats', 'frequencies'], ['angles']],
  ['cos', 'Cos', ['angles'], ['cosines']],
  ['turn', 'Mul', ['x', 'cosines'], ['turned']],
  ['target', 'Concat', ['length', 'one'], ['target']],
  ['reshape', 'Reshape', ['turned', 'target'], ['y']],
];

function rolesOf(length: number | string): { roles: string[]; exempt: (string | null)[] } {
  const model = buildModel({
    inputs: { x: [1, length] },
    outputs: ['y'],
    initializers: ['zero', 'one', 'frequencies'],
    nodes: rotary,
  });
  for (const tensor of model.graph.initializers) if (tensor.name !== 'frequencies') tensor.type = 'int64';
  model.nodes[3]!.attributes.push({ name: 'to', kind: 'int', value: 1 });
  return {
    roles: nodeRoles(createModelGraph(model)).roles,
    exempt: modelFacts(model, 'rotary.onnx').nodes.map(({ exempt }) => exempt),
  };
}

test('what a dynamic length is turned into is data, and computing in floats it takes a precision', () => {
  const { roles, exempt } = rolesOf('n');
  expect(roles).toEqual(['shape', 'shape', 'data', 'data', 'data', 'data', 'data', 'shape', 'data']);
  expect(exempt).toEqual(['shape', 'shape', 'integer', 'convert', null, null, null, 'shape', null]);
});

test('with a static length the same nodes are constant', () => {
  const { roles, exempt } = rolesOf(8);
  expect(roles.slice(0, 6)).toEqual(Array(6).fill('constant'));
  expect(exempt.slice(0, 7)).toEqual([...Array(6).fill('constant'), null]);
});

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
