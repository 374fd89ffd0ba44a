import { describe, expect, it } from 'vitest';
import {
  indexGraph,
  neighborhood,
  partOfGraph,
  pathsBetween,
} from '../../../../../src/kernel/picture/graph/graphIndex.ts';
import { graphOf } from './graphBuilder.ts';

// 0 → 1 → 3 → 4 and 0 → 2 → 3; 5 stands alone. 6 is the input, 7 the output.
const graph = indexGraph(
  graphOf(
    `
    a = Conv(x)
    b = Relu(a)
    c = Sigmoid(a)
    d = Mul(b, c)
    e = Add(d)
    f = Constant()`,
    ['x'],
    ['e'],
  ),
);

describe('neighborhood', () => {
  it.each([
    [[1], 0, [1]],
    [[1], 1, [0, 1, 3]],
    [[1], 2, [6, 0, 1, 2, 3, 4]],
    [[1, 4], 1, [0, 1, 3, 4, 7]],
    [[5], 3, [5]],
  ])('of %j within %i steps', (points, steps, expected) => {
    expect(neighborhood(graph, points, steps)).toEqual(expected);
  });
});

describe('pathsBetween', () => {
  it.each([
    [0, 3, [0, 1, 2, 3]],
    [3, 0, [0, 1, 2, 3]],
    [1, 4, [1, 3, 4]],
    [1, 2, []],
    [0, 5, []],
    [6, 7, [6, 0, 1, 2, 3, 4, 7]],
    [2, 2, [2]],
  ])('%i and %i', (a, b, expected) => {
    expect(pathsBetween(graph, a, b)).toEqual(expected);
  });

  it('makes a part of a graph in which nodes keep their tensors', () => {
    const part = partOfGraph(graph, [1, 3, 4, 7]);
    expect(part.nodes.map(({ id, inputs }) => [id, inputs])).toEqual([
      ['1', ['a']],
      ['3', ['b', 'c']],
      ['4', ['d']],
    ]);
    expect([part.inputs, part.outputs.map(({ name }) => name)]).toEqual([[], ['e']]);
    expect(indexGraph(part).from.length).toBe(3);
  });
});
