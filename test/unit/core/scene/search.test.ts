import { describe, expect, it } from 'vitest';
import { indexGraph } from '../../../../src/core/scene/graph/graphIndex.ts';
import { searchGraph } from '../../../../src/core/scene/graph/search.ts';
import { graphOf, layer, reportOf } from './graphBuilder.ts';

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
const report = reportOf(data, [layer(0, ['0', '1'], { name: '_gemm_mha_v2' }), layer(1, ['2'])]);
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
    ['fate:folded', ['3']],
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
});
