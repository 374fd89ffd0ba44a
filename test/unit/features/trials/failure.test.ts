import { expect, test } from 'vitest';
import type { Diagnosis } from '../../../../src/kernel/build/diagnosis.ts';
import type { OnnxModel } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { failsAlike, failureOf } from '../../../../src/features/trials/reduceFailure.ts';
import { partProfiles } from '../../../../src/features/surgery/splitModel.ts';
import { readFileSync } from 'node:fs';
import { inferTensors } from '../../../../src/kernel/network/network.ts';
import { createModelGraph } from '../../../../src/kernel/network/modelGraph.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import {
  extractModel,
  type KnownTensors,
  type Subgraph,
  subgraphBetween,
  TensorsInLog,
} from '../../../../src/features/surgery/extractModel.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { captureText, modelPath } from '../../../support/fixtures.ts';
import { modelOf } from '../../kernel/fusion/loadCapture.ts';

const model = {
  nodes: [
    { id: '0', op: 'Conv' },
    { id: '1', op: 'Relu' },
  ],
} as OnnxModel;
const said = (more: Partial<Diagnosis>): Diagnosis => ({
  code: 'shape-mismatch',
  rule: null,
  sure: 'stated',
  evidence: '',
  follows: [],
  severity: 'error',
  message: '',
  advice: '',
  line: 1,
  nodes: ['0'],
  layer: null,
  ...more,
});

test('the same code at the same operator, among all errors', () => {
  const failure = failureOf(said({}), model);
  expect(failsAlike(failure, [said({ code: 'unsupported-op' }), said({ layer: 'other' })], model)).toBe(true);
  expect(failsAlike(failure, [said({ nodes: ['1'] })], model)).toBe(false);
  expect(failsAlike(failure, [said({ code: 'type-mismatch' })], model)).toBe(false);
  expect(failsAlike(failure, [said({ severity: 'warning' })], model)).toBe(false);
  expect(failsAlike(failure, [], model)).toBe(false);
});

test('a ForeignNode may have other nodes, and a text of TensorRT other names and numbers', () => {
  const foreign = failureOf(said({ code: 'no-implementation', layer: '{ForeignNode[a...b]}' }), model);
  expect(failsAlike(foreign, [said({ code: 'no-implementation', nodes: ['1'], layer: 'relu' })], model)).toBe(true);
  const text = (message: string) => said({ code: 'internal', nodes: [], message });
  const internal = failureOf(text('Assertion nbDims == 3 failed in "a/b" [x.cpp:12]'), model);
  expect(failsAlike(internal, [text('Assertion nbDims == 5 failed in "c" [x.cpp:99]')], model)).toBe(true);
  expect(failsAlike(internal, [text('Assertion isConv failed in "c"')], model)).toBe(false);
});

test('profiles of a part: shared inputs, symbolic dimensions, sizes that nobody knows', () => {
  const profile = { x: { min: '1x8x3', opt: '4x8x3', max: '8x8x3' } };
  const inputs = [{ name: 'x', type: 'float' as const, shape: ['n', 8, null] }];
  const float = 'float' as const;
  const border = [
    { name: 'x', type: float, shape: ['n', 8, null] },
    { name: 'inner', type: float, shape: [3, 'n', 'other', null] },
    { name: 'fixed', type: float, shape: [3] },
    { name: 'rankless', type: float, shape: null },
  ];
  expect(partProfiles([profile], inputs, border)).toEqual([
    { ...profile, inner: { min: '3x1x1x1', opt: '3x4x1x1', max: '3x8x1x1' } },
  ]);
});

function read(text: string) {
  const found = new TensorsInLog();
  for (const line of text.split('\n')) found.push(line);
  return found.known;
}

test.each([
  ['tensorrt-10.6.0/bert_base.fp32', 'bert_base'],
  ['tensorrt-8.6.1/bert_base.fp16', 'bert_base'],
  ['tensorrt-11.2.1/deep_encoder_11k.typed', 'deep_encoder_11k'],
])('the log of %s says what inference finds', async (capture, model) => {
  const known = read(captureText(`${capture}/log.txt`)!);
  const graph = createModelGraph((await modelOf(model))!);
  const { types, shapes } = inferTensors(graph);
  let compared = 0;
  for (const [name, { type, shape }] of known) {
    const tensor = graph.byName.get(name);
    if (tensor === undefined || types[tensor] === null) continue;
    compared += 1;
    expect(type, name).toBe(types[tensor]);
    const inferred = shapes[tensor];
    if (!inferred) continue;
    expect(shape.length, name).toBe(inferred.length);
    for (const [axis, dim] of shape.entries())
      if (dim !== null && typeof inferred[axis] === 'number') expect(dim, name).toBe(inferred[axis]);
  }
  expect(compared).toBeGreaterThan(300);
});

test('names with brackets and arrows, scalars, sizes known at runtime only, ambiguous types', () => {
  const known = read(
    '[V] [TRT] n [Op] outputs: [a[0] -> b -> (2, -1)[HALF]], [c -> ()[BOOL]], [d -> (3)[INT32]], \nno tensors here: [x -> (1)[FLOAT]]',
  );
  expect([...known]).toEqual([
    ['a[0] -> b', { type: 'float16', shape: [2, null] }],
    ['c', { type: 'bool', shape: [] }],
  ]);
});

test('what the model does not say about a border comes from the log', async () => {
  const bytes = readFileSync(modelPath('unsupported_op'));
  const { value: model } = await readModel(bytesOf(bytes), { spans: true });
  const graph = createModelGraph(model!);
  const inferred = inferTensors(graph);
  const custom = graph.nodes.findIndex(({ op }) => op === 'MyCustomOp');
  const tensor = graph.outputs[custom]![0]!;
  const { name } = graph.tensors[tensor]!;
  const subgraph = subgraphBetween(graph, [], [name]) as Subgraph;
  const cut = (known?: KnownTensors) =>
    extractModel(graph, bytes.length, subgraph, inferred, { kind: 'references', modelFile: 'whole.onnx' }, known);
  expect(cut()).toEqual({
    reason: `The type of tensor "${name}" is unknown. Cut elsewhere, or pass a verbose build log of the model`,
  });
  const known = read(`[V] [TRT] custom [MyCustomOp] outputs: [${name} -> (1, -1, 4)[HALF]], `);
  expect(cut(known)).toMatchObject({ outputs: [{ name, type: 'float16', shape: [1, null, 4] }] });
});
