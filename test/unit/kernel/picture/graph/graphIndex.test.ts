import { describe, expect, it } from 'vitest';
import { indexGraph, TensorIndex } from '../../../../../src/kernel/picture/graph/graphIndex.ts';
import { graphOf, layer, reportOf } from './graphBuilder.ts';
import type { ReportTensor } from '../../../../../src/kernel/fusion/fusionReport.ts';
import { readFileSync } from 'node:fs';
import { readModel } from '../../../../../src/kernel/read/onnx/readModel.ts';
import { toGraphData } from '../../../../../src/kernel/picture/graph/viewData.ts';
import { typedGraph } from '../../../../../src/kernel/picture/page/selectionText.ts';
import { bytesOf } from '../../../../../src/kernel/base/problem.ts';
import { modelPath } from '../../../../support/fixtures.ts';
import { int, len, model, node } from '../../../../support/wire.ts';

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

const value = (field: number, name: string, type: number, ...shape: number[]) =>
  len(field, len(1, name), len(2, len(1, int(1, type), len(2, ...shape.map((size) => len(1, int(1, size)))))));
const [float, bool] = [1, 9];

async function typed(bytes: Uint8Array) {
  const { value: read } = await readModel(bytesOf(bytes));
  return typedGraph(toGraphData(read!), read!);
}

/** Both branches call their result `r`; they make different types of it. */
const branches = () => {
  const branch = (attribute: string, op: string) =>
    len(5, len(1, attribute), len(6, node(op, ['x'], ['r']), len(12, len(1, 'r'))), int(20, 5));
  return model(
    node('If', ['c'], ['y'], branch('then_branch', 'Relu'), branch('else_branch', 'IsNaN')),
    value(11, 'x', float, 2, 3),
    value(11, 'c', bool),
    len(12, len(1, 'y')),
  );
};

describe('typedGraph', () => {
  it('knows types and shapes that the file does not declare', async () => {
    const graph = await typed(readFileSync(modelPath('resnet18')));
    const index = new TensorIndex(indexGraph(graph), null);
    const unknown = graph.nodes.flatMap(({ outputs }, producer) =>
      outputs.filter((name) => name !== '' && index.facts({ producer, name }).shape === null),
    );
    expect(unknown).toEqual([]);
    const first = graph.nodes.findIndex(({ op }) => op === 'Conv');
    expect(index.facts({ producer: first, name: graph.nodes[first]!.outputs[0]! })).toMatchObject({
      type: 'float',
      shape: [1, 64, 112, 112],
    });
  });

  it('tells tensors of the same name in different subgraphs apart', async () => {
    const graph = await typed(branches());
    const index = new TensorIndex(indexGraph(graph), null);
    const types = graph.nodes.flatMap(({ op }, producer) =>
      op === 'Relu' || op === 'IsNaN' ? [[op, index.facts({ producer, name: 'r' })]] : [],
    );
    expect(types).toEqual([
      ['Relu', expect.objectContaining({ type: 'float', shape: [2, 3] })],
      ['IsNaN', expect.objectContaining({ type: 'bool', shape: [2, 3] })],
    ]);
  });
});
