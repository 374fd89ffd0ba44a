import { describe, expect, it } from 'vitest';
import type { OnnxGraph, OnnxModel, OnnxNode } from '../../../../../src/kernel/read/onnx/onnxModel.ts';
import { toGraphData } from '../../../../../src/kernel/picture/graph/viewData.ts';

const node = (id: string, more: Partial<OnnxNode> = {}): OnnxNode => ({
  id,
  name: `n${id}`,
  op: 'Relu',
  domain: '',
  inputs: [],
  outputs: [],
  attributes: [],
  subgraphs: [],
  metadata: [],
  ...more,
});
const graph = (more: Partial<OnnxGraph> = {}): OnnxGraph => ({
  name: 'g',
  path: '',
  nodes: [],
  inputs: [],
  outputs: [],
  values: [],
  initializers: [],
  ...more,
});
const model = (main: OnnxGraph, nodes = main.nodes): OnnxModel => ({
  irVersion: 8,
  producer: '',
  producerVersion: '',
  domain: '',
  opsets: [],
  metadata: [],
  graph: main,
  functions: [],
  nodes,
});

describe('toGraphData', () => {
  it('keeps ids and order, and lists tensors of every graph once', () => {
    const inner = node('0/body/0', { inputs: ['w'], outputs: ['y'] });
    const body = graph({
      path: '0/body',
      nodes: [inner],
      values: [{ name: 'y', type: 'float', shape: ['N', null, 3] }],
    });
    const owner = node('0', { op: 'Loop', subgraphs: [{ attribute: 'body', graph: body }] });
    const main = graph({
      nodes: [owner],
      inputs: [
        { name: 'x', type: 'float', shape: [1] },
        { name: 'w', type: 'float', shape: [2] },
      ],
      outputs: [{ name: 'y', type: null, shape: null }],
      initializers: [{ name: 'w', type: 'float', shape: [2], data: null }],
    });
    const data = toGraphData(model(main, [owner, inner]));
    expect(data.nodes.map(({ id }) => id)).toEqual(['0', '0/body/0']);
    expect(data.inputs.map(({ name }) => name)).toEqual(['x']);
    expect(data.tensors.map(({ name, initializer }) => [name, initializer])).toEqual([
      ['w', true],
      ['x', false],
      ['y', false],
    ]);
  });

  it('says attributes in a few words and never lists graphs', () => {
    const attributes: OnnxNode['attributes'] = [
      { name: 'axis', kind: 'int', value: -1 },
      { name: 'pads', kind: 'ints', value: [1, 2], count: 9 },
      { name: 'value', kind: 'tensor', value: { name: '', type: 'int64', shape: [2], data: null, ints: [3, 4] } },
      { name: 'body', kind: 'graph', value: null },
      { name: 'note', kind: 'string', value: 'x'.repeat(500) },
      { name: 'odd', kind: 'other', value: null },
      { name: 'engine', kind: 'string', value: 'vtrt\u0002\u0000\uFFFD' },
      { name: 'code', kind: 'string', value: 'a = 1\n\tb = 2' },
    ];
    const [first] = toGraphData(model(graph({ nodes: [node('0', { attributes })] }))).nodes;
    expect(first?.attributes.slice(0, 3)).toEqual([
      { name: 'axis', value: '-1' },
      { name: 'pads', value: '[1, 2, … 7 more]' },
      { name: 'value', value: 'int64[2] = 3, 4' },
    ]);
    expect(first?.attributes.map(({ name }) => name)).not.toContain('body');
    expect(first?.attributes[3]?.value).toHaveLength(120);
    expect(first?.attributes.slice(4).map(({ value }) => value)).toEqual([
      '(not shown)',
      '(binary data)',
      'a = 1\n\tb = 2',
    ]);
  });
});
