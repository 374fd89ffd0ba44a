import { expect, test } from 'vitest';
import { createModelGraph, type ModelGraph } from '../../../../src/kernel/network/modelGraph.ts';
import {
  closed,
  nodesAround,
  type Subgraph,
  subgraphBetween,
  subgraphOfNodes,
  type Unfit,
} from '../../../../src/features/surgery/extractModel.ts';
import { modelOf } from '../../kernel/fusion/loadCapture.ts';

const graphOf = async (name: string): Promise<ModelGraph> => createModelGraph((await modelOf(name))!);
const names = (graph: ModelGraph, subgraph: Subgraph | Unfit) =>
  'reason' in subgraph
    ? subgraph.reason
    : {
        nodes: subgraph.nodes.map((node) => graph.nodes[node]!.name),
        inputs: subgraph.inputs.map((tensor) => graph.tensors[tensor]!.name),
        outputs: subgraph.outputs.map((tensor) => graph.tensors[tensor]!.name),
      };
const idOf = (graph: ModelGraph, name: string) => graph.nodes.find((node) => node.name === name)!.id;

test('an attention of vit_tiny: what crosses its border, constants and weights inside', async () => {
  const graph = await graphOf('vit_tiny');
  const ids = graph.nodes
    .filter(({ name }) => /^\/blocks\/blocks.3\/attn\/(Mul|Softmax|MatMul)/.test(name))
    .map(({ id }) => id);
  const subgraph = subgraphOfNodes(graph, ids) as Subgraph;
  expect(names(graph, subgraph)).toMatchObject({ outputs: ['/blocks/blocks.3/attn/MatMul_1_output_0'] });
  // q, k, v and the two scales.
  expect(subgraph.inputs.length).toBe(5);
});

test('between tensors: all that the end needs, back to the beginning', async () => {
  const graph = await graphOf('vit_tiny');
  const [from, to] = ['/blocks/blocks.2/Add_1_output_0', '/blocks/blocks.3/Add_1_output_0'];
  const subgraph = subgraphBetween(graph, [from], [to]) as Subgraph;
  expect(names(graph, subgraph)).toMatchObject({ inputs: [from], outputs: [to] });
  expect(subgraph.nodes.length).toBeGreaterThan(40);
  expect(subgraphBetween(graph, [to], [from])).toEqual({ reason: `"${to}" does not lead to "${from}"` });
  expect(subgraphBetween(graph, ['no such'], [to])).toEqual({
    reason: 'There is no tensor "no such" in the main graph',
  });
  expect(subgraphBetween(graph, [to], [to])).toEqual({ reason: 'No node is between these tensors' });
});

test('a selection with a hole names the node in it, and closing it fills it', async () => {
  const graph = await graphOf('vit_tiny');
  const [first, last] = ['/blocks/blocks.3/attn/Softmax', '/blocks/blocks.3/attn/proj/Add'].map((name) =>
    idOf(graph, name),
  ) as [string, string];
  const subgraph = subgraphOfNodes(graph, [first, last]);
  expect('reason' in subgraph && subgraph.reason).toMatch(
    /^Node \d+ "\/blocks\/blocks.3\/attn\/MatMul_1" \(MatMul\) is on a path/,
  );
  const whole = closed(graph, new Set([first, last].map((id) => graph.indexOfId.get(id)!)));
  expect(
    'reason' in
      subgraphOfNodes(
        graph,
        whole.map((index) => graph.nodes[index]!.id),
      ),
  ).toBe(false);
});

test('a node inside a loop or branch cannot be cut out; its owner can, with what it captures', async () => {
  const graph = await graphOf('loop_if');
  const inner = graph.nodes.findIndex((_, index) => graph.owner[index]! >= 0);
  const owner = graph.nodes[graph.owner[inner]!]!;
  expect(subgraphOfNodes(graph, [graph.nodes[inner]!.id])).toEqual({
    reason: expect.stringContaining(
      `is inside ${owner.op} node ${owner.id}, which cannot be cut. Select node ${owner.id} instead`,
    ) as string,
  });
  expect('reason' in subgraphOfNodes(graph, [owner.id])).toBe(false);
  expect(subgraphOfNodes(graph, ['999'])).toEqual({ reason: 'There is no node 999' });
  expect(subgraphOfNodes(graph, [])).toEqual({ reason: 'No node is selected' });
});

test('the nodesAround of a node is a selection that can be cut out', async () => {
  const graph = await graphOf('vit_tiny');
  const softmax = idOf(graph, '/blocks/blocks.3/attn/Softmax');
  expect(nodesAround(graph, [softmax], 0)).toEqual([softmax]);
  for (const distance of [1, 2, 5]) {
    const ids = nodesAround(graph, [softmax], distance);
    expect(ids.length).toBeGreaterThan(distance);
    expect('reason' in subgraphOfNodes(graph, ids)).toBe(false);
  }
});

test('what is inside a loop or a branch names the node to pick instead', async () => {
  const graph = await graphOf('loop_if');
  const inner = graph.nodes.findIndex((_, index) => graph.owner[index]! >= 0);
  const { id, outputs } = graph.nodes[inner]!;
  const owner = id.split('/')[0]!;
  expect(subgraphOfNodes(graph, [id])).toEqual({
    reason: expect.stringContaining(`which cannot be cut. Select node ${owner} instead`) as string,
  });
  const reason = expect.stringMatching(
    new RegExp(`is inside \\w+ node ${owner}, which cannot be cut. Pick a tensor that node ${owner} reads or computes`),
  ) as string;
  expect(subgraphBetween(graph, [], [outputs[0]!])).toEqual({ reason });
  // Reports know a node of a function by its call.
  expect(subgraphOfNodes(graph, ['0/Twice/1'])).toEqual({
    reason: `Node 0/Twice/1 is inside ${graph.nodes[0]!.op} node 0, which cannot be cut. Select node 0 instead`,
  });
  expect(subgraphOfNodes(graph, ['9999'])).toEqual({ reason: 'There is no node 9999' });
});
