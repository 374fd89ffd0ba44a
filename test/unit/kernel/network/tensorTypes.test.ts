import { expect, test } from 'vitest';
import type { OnnxFunction, OnnxModel, OnnxNode } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { networkOf } from '../../../../src/kernel/network/network.ts';
import { modelAround } from '../fusion/buildModel.ts';

const node = (op: string, input: string, output: string, domain = 'local'): OnnxNode => ({
  id: '0',
  name: '',
  op,
  domain,
  inputs: [input],
  outputs: [output],
  attributes: [],
  subgraphs: [],
  metadata: [],
});

function modelOf(functions: Record<string, OnnxNode[]>): OnnxModel {
  const nodes = [node('F0', 'x', 'y')];
  const local = Object.entries(functions).map(([name, body], i): OnnxFunction => ({
    name,
    domain: 'local',
    overload: '',
    inputs: ['a'],
    outputs: ['o'],
    nodes: body.map((each, at) => ({ ...each, id: `functions/${i}/${at}` })),
  }));
  const inputs = [{ name: 'x', type: 'float16', shape: null }];
  const graph = { name: '', path: '', nodes, inputs, outputs: [], values: [], initializers: [] };
  return modelAround(graph, nodes, local);
}

test('functions that call one another twice end at once', () => {
  const functions: Record<string, OnnxNode[]> = { F60: [node('Relu', 'a', 'o', '')] };
  for (let i = 0; i < 60; i++) functions[`F${i}`] = [node(`F${i + 1}`, 'a', 't'), node(`F${i + 1}`, 't', 'o')];
  expect(networkOf(modelOf(functions)).typeOf('', 'y')).toBe('float16');
});

test('functions that call one another twice end, though every call is given another shape', () => {
  const functions: Record<string, OnnxNode[]> = {
    F40: [
      { ...node('Concat', 'a', 'o', ''), inputs: ['a', 'a'], attributes: [{ name: 'axis', kind: 'int', value: 0 }] },
    ],
  };
  for (let i = 0; i < 40; i++) functions[`F${i}`] = [node(`F${i + 1}`, 'a', 't'), node(`F${i + 1}`, 't', 'o')];
  const model = modelOf(functions);
  model.graph.inputs[0]!.shape = [1];
  expect(networkOf(model).typeOf('', 'y')).toBe('float16');
});

test('a function that calls itself ends, and nothing is known of it', () => {
  const functions = {
    F0: [node('F0', 'a', 't'), node('F1', 't', 'o')],
    F1: [node('F0', 'a', 't'), node('F0', 't', 'o')],
  };
  expect(networkOf(modelOf(functions)).typeOf('', 'y')).toBeNull();
});

test('of functions with one name the overload that is called says what comes out', () => {
  const model = modelOf({ F0: [node('Relu', 'a', 'o', '')] });
  model.functions.push({ ...model.functions[0]!, overload: 'size', nodes: [node('Size', 'a', 'o', '')] });
  expect(networkOf(model).typeOf('', 'y')).toBe('float16');
  const other = structuredClone(model);
  other.nodes[0]!.overload = 'size';
  expect(networkOf(other).typeOf('', 'y')).toBe('int64');
});
