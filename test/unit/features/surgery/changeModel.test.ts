import { expect, test } from 'vitest';
import { inferTensors } from '../../../../src/kernel/network/network.ts';
import { createModelGraph } from '../../../../src/kernel/network/modelGraph.ts';
import { editsFor, type ModelChange } from '../../../../src/features/surgery/changeModel.ts';
import { buildModel } from '../../kernel/fusion/buildModel.ts';
import { modelOf } from '../../kernel/fusion/loadCapture.ts';

async function edits(model: string, change: ModelChange) {
  const graph = createModelGraph((await modelOf(model))!);
  return editsFor(graph, inferTensors(graph), change);
}

test('a cut makes an output, an input of the same type and shape, and moves every reader', async () => {
  const name = '/blocks/blocks.2/Add_1_output_0';
  const value = { newType: 'float', shape: [1, 197, 192] };
  expect(await edits('vit_tiny', { cuts: [name] })).toMatchObject({
    declare: [
      { graph: '', list: 'outputs', value: { name, ...value } },
      { graph: '', list: 'inputs', value: { name: `${name}_cut`, ...value } },
    ],
    inputs: [
      { index: 0, tensor: `${name}_cut` },
      { index: 0, tensor: `${name}_cut` },
    ],
  });
});

test('what cannot be cut says why', async () => {
  expect(await edits('vit_tiny', { cuts: ['nothing'] })).toEqual({
    reason: 'There is no tensor "nothing" in the main graph',
  });
  const model = (await modelOf('vit_tiny'))!;
  expect(await edits('vit_tiny', { cuts: [model.graph.inputs[0]!.name] })).toMatchObject({
    reason: expect.stringContaining('not computed by a node') as string,
  });
  expect(await edits('vit_tiny', { cuts: [model.graph.outputs[0]!.name] })).toMatchObject({
    reason: expect.stringMatching(/^No node reads/) as string,
  });
  const sequences = createModelGraph(
    buildModel({
      inputs: { x: [4, 8] },
      outputs: ['y'],
      nodes: [
        ['split', 'SplitToSequence', ['x'], ['all']],
        ['at', 'SequenceAt', ['all', 'i'], ['y']],
      ],
    }),
  );
  expect(editsFor(sequences, inferTensors(sequences), { cuts: ['all'] })).toEqual({
    reason: '"all" has the type seq(float), not that of a tensor. Pick another one',
  });
});

test('a node is taken out only where its input fits in the place of its output', async () => {
  const nodes = (await modelOf('vit_tiny'))!.nodes;
  const softmax = nodes.find(({ op }) => op === 'Softmax')!;
  expect(await edits('vit_tiny', { remove: softmax.id })).toEqual({
    replace: [
      {
        node: softmax.id,
        by: { op: 'Identity', name: softmax.name, inputs: [softmax.inputs[0]], outputs: softmax.outputs },
      },
    ],
  });
  const product = nodes.find(({ name }) => name.endsWith('qkv/MatMul'))!;
  expect(await edits('vit_tiny', { remove: product.id })).toEqual({
    reason: `Node ${product.id} "${product.name}" (MatMul) changes float[1, 197, 192] to float[1, 197, 576], so the model would be invalid without it`,
  });
  expect(await edits('vit_tiny', { remove: '9999' })).toEqual({ reason: 'There is no node 9999' });
});

test('tensors become outputs, and outputs become tensors', async () => {
  const name = '/blocks/blocks.2/Add_1_output_0';
  const value = { name, newType: 'float', shape: [1, 197, 192] };
  expect(await edits('vit_tiny', { outputs: [name, name] })).toEqual({
    declare: [{ graph: '', list: 'outputs', value }],
  });
  const { graph } = (await modelOf('vit_tiny'))!;
  const [only] = graph.outputs;
  expect(await edits('vit_tiny', { outputs: [only!.name] })).toMatchObject({
    reason: expect.stringMatching(/already an output/) as string,
  });
  expect(await edits('vit_tiny', { outputs: [graph.initializers[0]!.name] })).toMatchObject({
    reason: expect.stringMatching(/nothing to mark/) as string,
  });
  expect(await edits('vit_tiny', { unmark: only!.name })).toMatchObject({
    reason: expect.stringMatching(/the only output/) as string,
  });
  expect(await edits('vit_tiny', { unmark: name })).toEqual({ reason: `"${name}" is not an output of the model` });
  const [first] = (await modelOf('two_inputs_multi_out'))!.graph.outputs;
  expect(await edits('two_inputs_multi_out', { unmark: first!.name })).toEqual({
    undeclare: [{ graph: '', list: 'outputs', name: first!.name }],
  });
});

test('added nodes stand between a tensor and all that read it', async () => {
  const at = '/blocks/blocks.2/Add_1_output_0';
  const identity = await edits('vit_tiny', { add: 'Identity', at });
  expect(identity).toMatchObject({
    insert: [{ graph: '', node: { op: 'Identity', inputs: [at], outputs: [`${at}_added`] } }],
    inputs: [{ tensor: `${at}_added` }, { tensor: `${at}_added` }],
  });
  const between = `${at}_added_first`;
  expect(await edits('vit_tiny', { add: 'Cast', at })).toMatchObject({
    insert: [
      { node: { op: 'Cast', attributes: { to: { int: 10 } }, inputs: [at], outputs: [between] } },
      { node: { op: 'Cast', attributes: { to: { int: 1 } }, inputs: [between], outputs: [`${at}_added`] } },
    ],
  });
  const input = (await modelOf('vit_tiny'))!.graph.inputs[0]!.name;
  expect(await edits('vit_tiny', { add: 'Neg', at: input })).toMatchObject({
    insert: [{ after: null }, { after: null, node: { op: 'Neg', outputs: [`${input}_added`] } }],
  });
  expect(await edits('vit_tiny', { add: 'Softmax', at })).toEqual({
    reason: '"Softmax" cannot be added: pass one of Identity, Neg, Cast',
  });
});
