import { describe, expect, it } from 'vitest';
import { indexGraph } from '../../../../src/core/picture/graph/graphIndex.ts';
import { graphOf } from './graphBuilder.ts';

describe('indexGraph', () => {
  it('numbers nodes, inputs and outputs, and the edges between them', () => {
    const graph = indexGraph(graphOf('a = Conv(x, w)\nb = Relu(a)\nc = Add(a, b)', ['x'], ['c']));
    const edges = [...graph.from].map((from, e) => [from, graph.to[e], graph.tensorNames[graph.tensor[e]!]]);
    expect(graph.points).toBe(5);
    expect(edges).toEqual([
      [3, 0, 'x'],
      [0, 1, 'a'],
      [0, 2, 'a'],
      [1, 2, 'b'],
      [2, 4, 'c'],
    ]);
    expect(graph.byId.get('input:x')).toBe(3);
  });

  it('keeps the order of a sorted file, graph inputs first', () => {
    const graph = indexGraph(graphOf('k = Constant()\na = Conv(x)\nb = Add(a, k)', ['x'], ['b']));
    expect([...graph.order]).toEqual([3, 0, 1, 2, 4]);
  });

  it('sorts an unsorted file, and cuts cycles instead of hanging', () => {
    const unsorted = indexGraph(graphOf('b = Relu(a)\na = Conv(x)', ['x'], ['b']));
    expect([...unsorted.order]).toEqual([2, 1, 0, 3]);
    const cyclic = indexGraph(graphOf('a = Add(b, x)\nb = Relu(a)', ['x'], []));
    expect([...cyclic.order].toSorted((a, b) => a - b)).toEqual([0, 1, 2]);
  });

  it('lets a subgraph see the graph around it, its own tensors first', () => {
    const data = graphOf('a = Relu(x)\nl = Loop(a)', ['x'], ['l']);
    data.nodes.push({ ...data.nodes[0]!, id: '1/body/0', name: 'inner', inputs: ['a'], outputs: ['a2'] });
    data.nodes.push({ ...data.nodes[0]!, id: '1/body/1', name: 'inner2', inputs: ['a2'], outputs: ['a'] });
    data.nodes.push({ ...data.nodes[0]!, id: '1/body/2', name: 'inner3', inputs: ['a'], outputs: ['z'] });
    const graph = indexGraph(data);
    expect([...graph.owner]).toEqual([-1, -1, 1, 1, 1]);
    expect(graph.branch[2]).toBe('body');
    const readers = [...graph.from].map((from, e) => [from, graph.to[e]]).filter(([, to]) => to === 4);
    expect(readers).toEqual([[3, 4]]);
  });
});
