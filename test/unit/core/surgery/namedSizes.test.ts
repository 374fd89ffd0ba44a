import { expect, test } from 'vitest';
import { inferTensors } from '../../../../src/core/network/network.ts';
import { createModelGraph } from '../../../../src/core/network/modelGraph.ts';
import { type Subgraph, subgraphOfNodes } from '../../../../src/core/surgery/extractModel.ts';
import { withNamedSizes } from '../../../../src/core/surgery/internal/pluginPlan.ts';
import { modelOf } from '../fusion/loadCapture.ts';

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
