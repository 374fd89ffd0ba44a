import { expect, test } from 'vitest';
import { inferTensors } from '../../../../src/kernel/network/network.ts';
import { createModelGraph, type ModelGraph } from '../../../../src/kernel/network/modelGraph.ts';
import type { Subgraph } from '../../../../src/features/surgery/extractModel.ts';
import { splitAt, suggestCuts } from '../../../../src/features/surgery/splitModel.ts';
import { buildModel } from '../../kernel/fusion/buildModel.ts';
import { modelOf } from '../../kernel/fusion/loadCapture.ts';
import { randomFrom } from '../../kernel/fusion/randomEngine.ts';

const graphOf = async (name: string): Promise<ModelGraph> => createModelGraph((await modelOf(name))!);

test.each(['vit_tiny', 'yolo_like', 'loop_if', 'lstm_gru', 'two_inputs_multi_out', 'bert_base', 'fusion_zoo'])(
  'random cuts of %s: each node is in one part, copies compute sizes, and each part reads what is there by then',
  async (name) => {
    const graph = await graphOf(name);
    const random = randomFrom(9);
    const computed = graph.tensors.filter(
      ({ kind, owner, producer }) => kind === 'node' && owner < 0 && graph.nodes[producer]!.op !== 'Constant',
    );
    let cut = 0;
    for (let round = 0; round < 20; round += 1) {
      const names = [random(), random()].map((number) => computed[Math.floor(number * computed.length)]!.name);
      const parts = splitAt(graph, names);
      if ('reason' in parts) {
        expect(parts.reason).toMatch(/leave out one of them|cut at an earlier tensor/);
        continue;
      }
      cut += 1;
      const there = new Set(graph.tensors.flatMap(({ kind }, tensor) => (kind === 'input' ? [tensor] : [])));
      for (const { inputs, outputs } of parts) {
        expect(inputs.filter((tensor) => !there.has(tensor))).toEqual([]);
        for (const tensor of outputs) there.add(tensor);
      }
      expect(graph.graphOutputs.filter((tensor) => !there.has(tensor))).toEqual([]);
      const nodes = parts
        .flatMap((part) => part.nodes)
        .filter((node) => graph.nodes[node]!.op !== 'Constant')
        .toSorted((a, b) => a - b);
      const copied = nodes.filter((node, index) => node === nodes[index + 1]);
      expect(copied.filter((node) => !computesSizes(graph, node))).toEqual([]);
      expect([...new Set(nodes)]).toEqual(
        graph.nodes.flatMap(({ op }, node) => (graph.owner[node]! < 0 && op !== 'Constant' ? [node] : [])),
      );
      for (const part of parts)
        expect(
          part.outputs.filter((tensor) => graph.nodes[graph.tensors[tensor]!.producer]!.op === 'Constant'),
          'constants do not cross',
        ).toEqual([]);
    }
    expect(cut).toBeGreaterThan(0);
  },
);

/** Only what reads Shape nodes and constants, or is one. */
function computesSizes(graph: ModelGraph, node: number): boolean {
  if (['Shape', 'Constant'].includes(graph.nodes[node]!.op)) return true;
  return graph.inputs[node]!.every((tensor) => {
    const { kind, producer } = graph.tensors[tensor]!;
    return kind === 'initializer' || (producer >= 0 && computesSizes(graph, producer));
  });
}

test('sizes of a tensor that crosses are computed on either side; a cut at a size remains one', () => {
  const graph = createModelGraph(
    buildModel({
      inputs: { x: ['n', 8] },
      outputs: ['y'],
      initializers: ['zero', 'ones'],
      nodes: [
        ['relu', 'Relu', ['x'], ['a']],
        ['shape', 'Shape', ['a'], ['all']],
        ['gather', 'Gather', ['all', 'zero'], ['size']],
        ['reshape', 'Reshape', ['a', 'size'], ['b']],
        ['exp', 'Exp', ['b'], ['c']],
        ['expand', 'Expand', ['a', 'size'], ['d']],
        ['add', 'Add', ['c', 'd'], ['y']],
      ],
    }),
  );
  const named = (tensors: readonly number[]) => tensors.map((tensor) => graph.tensors[tensor]!.name);
  const cut = (name: string) =>
    (splitAt(graph, [name]) as Subgraph[]).map(({ inputs, outputs }) => [named(inputs).toSorted(), named(outputs)]);
  expect(cut('c')).toEqual([
    [['x'], ['a', 'c']],
    [['a', 'c'], ['y']],
  ]);
  for (const size of ['size', 'all'])
    expect(cut(size)).toEqual([
      [['x'], ['a', size]],
      [['a', size], ['y']],
    ]);
});

test('outputs that no node computes from the inputs stay: initializers, constants, and inputs that are passed on', () => {
  const graph = createModelGraph(
    buildModel({
      inputs: ['x', 'passed'],
      outputs: ['y', 'anchors', 'table', 'passed'],
      initializers: ['anchors'],
      nodes: [
        ['relu', 'Relu', ['x'], ['a']],
        ['constant', 'Constant', [], ['table']],
        ['exp', 'Exp', ['a'], ['y']],
      ],
    }),
  );
  const named = (tensors: readonly number[]) => tensors.map((tensor) => graph.tensors[tensor]!.name);
  const [first, last] = splitAt(graph, ['a']) as [Subgraph, Subgraph];
  expect([named(first.outputs), first.nodes]).toEqual([['a'], [0]]);
  expect(named(last.outputs)).toEqual(['y', 'anchors', 'table', 'passed']);
  expect([named(last.inputs), named(last.initializers), last.nodes]).toEqual([['a', 'passed'], ['anchors'], [1, 2]]);
});

test('where nothing can be cut, the reason names the tensor', async () => {
  const graph = await graphOf('vit_tiny');
  const reason = (...names: string[]) => (splitAt(graph, names) as { reason: string }).reason;
  expect(reason('no such')).toBe('There is no tensor "no such" in the main graph');
  const [input] = graph.model.graph.inputs;
  expect(reason(input!.name)).toContain('is an input or a constant');
  const [output] = graph.model.graph.outputs;
  expect(reason(output!.name)).toBe(`No node is left after "${output!.name}": cut at an earlier tensor`);
});

test('a transformer is best cut between its blocks, near the middle first', async () => {
  const graph = await graphOf('vit_tiny');
  const cuts = suggestCuts(graph, inferTensors(graph), 3);
  expect(cuts.map(({ tensor, module }) => [tensor, module])).toEqual([
    ['/blocks/blocks.5/Add_1_output_0', '/blocks/blocks.5'],
    ['/blocks/blocks.4/Add_1_output_0', '/blocks/blocks.4'],
    ['/blocks/blocks.6/Add_1_output_0', '/blocks/blocks.6'],
  ]);
  // 197 tokens of 192 floats.
  expect(cuts[0]).toMatchObject({ crossing: [cuts[0]!.tensor], bytes: 197 * 192 * 4, exact: true });
});

test('symbolic dimensions are counted as 1, and said so; a proposed cut is one that works', async () => {
  for (const name of ['bert_base', 'yolo_like', 'resnet18', 'lstm_gru']) {
    // oxlint-disable-next-line no-await-in-loop
    const graph = await graphOf(name);
    const cuts = suggestCuts(graph, inferTensors(graph));
    expect(cuts.length, name).toBeGreaterThan(0);
    if (name === 'bert_base') expect(cuts[0]!.exact).toBe(false);
    for (const { tensor, crossing } of cuts) {
      const [before] = splitAt(graph, [tensor]) as Subgraph[];
      expect(before!.outputs.map((output) => graph.tensors[output]!.name)).toEqual(expect.arrayContaining(crossing));
    }
  }
});
