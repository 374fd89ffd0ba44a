import { describe, expect, it } from 'vitest';
import { indexGraph, searchGraph } from '../../../../../src/kernel/picture/graph/graphIndex.ts';
import { foreignNode, graphOf, layer, reportOf } from './graphBuilder.ts';

const data = graphOf(
  `
  a @/blocks.0/attn/MatMul = MatMul(x, mask)
  s @/blocks.0/attn/Softmax = Softmax(a)
  b @/blocks.1/attn/MatMul = MatMul(s)
  k @/Constant = Constant()`,
  ['x', 'mask'],
  ['b'],
);
const graph = indexGraph(data);
const half = { name: 'b', dims: null, type: 'Half', format: null };
const report = {
  ...reportOf(
    data,
    [
      layer(0, ['0', '1'], { name: '_gemm_mha_v2', kind: 'kernel', foreignNode: 1 }),
      layer(1, ['2'], { tactic: 'sm80_xmma', outputs: [half] }),
    ],
    [foreignNode(1, ['0', '1'], [0]), foreignNode(10, ['3'], [])],
  ),
  tensors: [
    { name: 'x', producer: null, consumers: ['0'], type: 'float', shape: null, layers: [] },
    { name: 'a', producer: '0', consumers: ['1'], type: 'float', shape: null, layers: [] },
    { name: 'k', producer: '3', consumers: [], type: 'int64', shape: null, layers: [] },
  ],
};
const find = (query: string) =>
  searchGraph(graph, report, query).points.map((point) => data.nodes[point]?.id ?? 'port');

describe('searchGraph', () => {
  it.each([
    ['matmul', ['0', '2']],
    ['op:softmax', ['1']],
    ['op:Soft', []],
    ['op:/^Soft/', ['1']],
    ['attn blocks.1', ['2']],
    ['name:/blocks\\.\\d\\/attn\\/MatMul$/', ['0', '2']],
    ['/blocks.1/', ['2']],
    ['tensor:mask', ['port', '0']],
    ['layer:_gemm_mha', ['0', '1']],
    ['fate:single', ['2']],
    ['group:1', ['0', '1']],
    ['group:"ForeignNode 10"', ['3']],
    ['group:foreignnode', ['0', '1', '3']],
    ['group:/Node 1$/ softmax', ['1']],
    ['kernel:xmma', ['2']],
    ['kernel:gemm_mha op:softmax', ['1']],
    ['dtype:fp32', ['0']],
    ['dtype:FLOAT', ['0']],
    ['dtype:fp16', ['2']],
    ['dtype:/^int/', ['3']],
    ['dtype:int', []],
    ['group:2', []],
    ['"attn softmax"', []],
    ['id:2', ['2']],
    ['op:MatMul layer:gemm', ['0']],
    ['', []],
    ['   ', []],
    ['op:', []],
    ['nothing like it', []],
  ])('%s', (query, expected) => {
    expect(find(query)).toEqual(expected);
  });

  it('says what is wrong with an expression, and takes a colon in a name as part of it', () => {
    expect(searchGraph(graph, report, 'op:/(/')).toEqual({ points: [], problem: '/(/ is not a regular expression' });
    const colons = indexGraph(graphOf('t @onnx::MatMul_3 = MatMul(x)'));
    expect(searchGraph(colons, null, 'onnx::MatMul').points).toEqual([0]);
  });

  it('finds a layer of an engine by what its box shows', () => {
    const nodes = data.nodes.map((node, i) => (i === 1 ? { ...node, scope: 'blocks.7', label: 'layer_norm' } : node));
    const engine = indexGraph({ ...data, nodes });
    for (const query of ['layer_norm', 'name:blocks.7/layer_norm', 'softmax'])
      expect(searchGraph(engine, null, query).points, query).toEqual([1]);
  });
});
