import { describe, expect, it } from 'vitest';
import type { ReportTensor } from '../../../../src/core/fusion/fusionReport.ts';
import { indexGraph, TensorIndex } from '../../../../src/core/picture/graph/graphIndex.ts';
import { graphOf, layer, reportOf } from './graphBuilder.ts';

const data = graphOf('a = Conv(x)\nb = Relu(a)\nc = Add(a, a)', ['x'], ['c']);
data.tensors.push({ name: 'b', type: 'float16', shape: ['N', 3], initializer: false });
const graph = indexGraph(data);
const half = { name: 'a', dims: [1, 8], type: 'Half', format: null };
const said = (name: string, producer: string | null, more: Partial<ReportTensor> = {}): ReportTensor => ({
  name,
  producer,
  consumers: [],
  type: null,
  shape: null,
  layers: [],
  ...more,
});
const report = {
  ...reportOf(graph.data, [layer(0, ['0'], { outputs: [half] }), layer(1, ['1', '2'])]),
  tensors: [
    said('x', null, { type: 'float', shape: [1] }),
    // A subgraph's input of the same name.
    said('x', null, { type: 'bool' }),
    said('a', '0', { type: 'float', shape: [1, 8], layers: [0] }),
    said('b', '1', { layers: [1] }),
  ],
};

describe('TensorIndex', () => {
  it('finds type, shape and the layer that writes a tensor by its name and producer', () => {
    const index = new TensorIndex(graph, report);
    expect(index.facts({ producer: 0, name: 'a' })).toEqual({
      type: 'float',
      shape: [1, 8],
      writers: [0],
      engine: half,
    });
    expect(index.facts({ producer: 3, name: 'x' })).toMatchObject({ type: 'float', shape: [1] });
    // What the report does not know, the model may declare; its layer does not name it.
    expect(index.facts({ producer: 1, name: 'b' })).toEqual({
      type: 'float16',
      shape: ['N', 3],
      writers: [1],
      engine: null,
    });
    expect(index.facts({ producer: 2, name: 'a' })).toEqual({ type: null, shape: null, writers: [], engine: null });
  });

  it('counts a reader once, and graph outputs too', () => {
    const index = new TensorIndex(graph, null);
    expect(index.consumers({ producer: 0, name: 'a' })).toEqual([1, 2]);
    expect(index.consumers({ producer: 2, name: 'c' })).toEqual([4]);
    expect(index.consumers({ producer: 1, name: 'b' })).toEqual([]);
    expect(index.facts({ producer: 1, name: 'b' })).toEqual({
      type: 'float16',
      shape: ['N', 3],
      writers: [],
      engine: null,
    });
  });
});
