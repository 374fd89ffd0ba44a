import { expect, test } from 'vitest';
import { createModelGraph } from '../../../../src/kernel/network/modelGraph.ts';
import {
  type Subgraph,
  subgraphBetween,
  subgraphOfNodes,
  subgraphWithSizes,
} from '../../../../src/features/surgery/extractModel.ts';
import { buildModel } from '../../kernel/fusion/buildModel.ts';
import { modelOf } from '../../kernel/fusion/loadCapture.ts';
import { inferTensors } from '../../../../src/kernel/network/network.ts';
import { withNamedSizes } from '../../../../src/features/surgery/internal/pluginPlan.ts';

test('a layer of bert_base brings the nodes along that compute its sizes, as a subgraph between tensors does', async () => {
  const graph = createModelGraph((await modelOf('bert_base'))!);
  const ids = graph.nodes.filter(({ name }) => name.startsWith('/bert/encoder/layer.0/')).map(({ id }) => id);
  const plain = subgraphOfNodes(graph, ids) as Subgraph;
  const subgraph = subgraphWithSizes(graph, ids) as Subgraph;
  const names = (tensors: readonly number[]) => tensors.map((tensor) => graph.tensors[tensor]!.name);
  const read = ['/bert/embeddings/LayerNorm/LayerNormalization_output_0', '/bert/Where_1_output_0'];
  expect(names(plain.inputs)).toEqual(expect.arrayContaining(['/bert/Gather_output_0', ...read]));
  expect(names(subgraph.inputs).toSorted()).toEqual(read.toSorted());
  expect(subgraph.outputs).toEqual(plain.outputs);
  const between = subgraphBetween(graph, read, names(subgraph.outputs)) as Subgraph;
  expect(subgraph.nodes).toEqual(expect.arrayContaining(between.nodes));
});

test('sizes of tensors that the subgraph does not read stay inputs, and copies are no outputs', () => {
  const graph = createModelGraph(
    buildModel({
      inputs: { x: ['n', 8], other: ['m', 8] },
      outputs: ['y', 'z', 'own'],
      initializers: ['zero'],
      nodes: [
        ['relu', 'Relu', ['x'], ['a']],
        ['shape', 'Shape', ['a'], ['own']],
        ['gather', 'Gather', ['own', 'zero'], ['size']],
        ['foreign', 'Shape', ['other'], ['far']],
        ['concat', 'Concat', ['far', 'size'], ['mixed']],
        ['reshape', 'Reshape', ['a', 'size'], ['y']],
        ['again', 'Reshape', ['a', 'mixed'], ['z']],
      ],
    }),
  );
  const taken = (name: string) => {
    const subgraph = subgraphWithSizes(graph, [graph.nodes.find((node) => node.name === name)!.id]) as Subgraph;
    const named = (tensors: readonly number[]) => tensors.map((tensor) => graph.tensors[tensor]!.name);
    return { nodes: subgraph.nodes.length, inputs: named(subgraph.inputs), outputs: named(subgraph.outputs) };
  };
  expect(taken('reshape')).toEqual({ nodes: 3, inputs: ['a'], outputs: ['y'] });
  expect(taken('again')).toEqual({ nodes: 1, inputs: ['a', 'mixed'], outputs: ['z'] });
});

test('unknown sizes are followed through a subgraph: a Softmax of bert_base makes the shape that it reads', async () => {
  const graph = createModelGraph((await modelOf('bert_base'))!);
  const inferred = inferTensors(graph);
  const softmax = graph.nodes.find(({ name }) => name === '/bert/encoder/layer.3/attention/self/Softmax')!;
  const subgraph = subgraphOfNodes(graph, [softmax.id]) as Subgraph;
  const [input, output] = [subgraph.inputs[0]!, subgraph.outputs[0]!];
  expect(inferred.shapes[output]).toEqual(['batch', null, null, null]);
  const { shapes } = withNamedSizes(graph, inferred, subgraph);
  expect(shapes[input]).toEqual(['batch', 'size_0_1', 'size_0_2', 'size_0_3']);
  expect(shapes[output]).toEqual(shapes[input]);
  // Elsewhere nothing has changed, and names that the model has are not used again.
  expect(shapes.filter((shape, tensor) => shape !== inferred.shapes[tensor])).toHaveLength(2);
  const named = { ...inferred, shapes: inferred.shapes.with(0, ['size_0_1']) };
  expect(withNamedSizes(graph, named, subgraph).shapes[output]).toEqual(['batch', 'size_0_1_', 'size_0_2', 'size_0_3']);
});
