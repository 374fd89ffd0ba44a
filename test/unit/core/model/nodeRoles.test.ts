import { expect, test } from 'vitest';
import { createModelGraph } from '../../../../src/core/network/modelGraph.ts';
import { nodeRoles } from '../../../../src/core/network/nodeRoles.ts';
import { modelFacts } from '../../../../src/core/precision/buildFacts.ts';
import { buildModel, type ShortNode } from '../fusion/buildModel.ts';

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
