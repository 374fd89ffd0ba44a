import { expect, test } from 'vitest';
import { inferTensors } from '../../../../src/kernel/network/network.ts';
import type { OnnxTensor } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import {
  activationsToScale,
  planMigration,
  planObservation,
  type ReadScale,
} from '../../../../src/kernel/quantization/calibration.ts';
import type { QuantizedGraph } from '../../../../src/kernel/quantization/quantization.ts';
import { type NamedNode, networkOfNodes } from './networkOfNodes.ts';

/** `c1 = Conv(x)`, one node a line; a Conv reads weights of its own. */
function networkOf(text: string, more: readonly OnnxTensor[] = []): QuantizedGraph {
  const initializers: OnnxTensor[] = [...more];
  const nodes = [...text.matchAll(/(\w+) = (\w+)\(([^)]*)\)/g)].map(([, output, op, reads]): NamedNode => {
    const inputs = reads!.split(', ');
    if (op === 'Conv') {
      initializers.push({ name: `${output}_w`, type: 'float', shape: [8, 8, 1, 1], data: null });
      inputs.push(`${output}_w`);
    }
    return { op: op!, inputs, output: output! };
  });
  return networkOfNodes(nodes, { x: [1, 8, 8, 8] }, initializers);
}

function activations(text: string, only: ReadonlySet<string> | null = null): string[] {
  const network = networkOf(text);
  const scales = new Map(network.graph.tensors.map(({ name }) => [name, 0.1]));
  const cache = { header: null, scales, unusable: [], unread: [] };
  const weights = () => Array<number>(8).fill(0.1);
  return planMigration(network, inferTensors(network.graph), cache, weights, only).activations;
}

test('the output of a product that a sum reads gets no pair; of two products, one gets none', () => {
  expect(activations('a = Conv(x) b = Relu(a) c = Conv(b) d = Add(c, b) e = Relu(d) f = Conv(e)')).toEqual([
    'x',
    'b',
    'e',
  ]);
  expect(activations('a = Conv(x) b = Conv(x) c = Add(a, b) d = Relu(c) e = Conv(d)')).toEqual(['x', 'b', 'd']);
  // Behind its activation, it is an activation like others.
  expect(activations('a = Conv(x) b = Relu(a) c = Conv(b) r = Relu(c) d = Add(r, b) e = Relu(d)')).toEqual([
    'x',
    'b',
    'r',
  ]);
});

test('rules choose the nodes; a pool needs no product before it', () => {
  const text = 'a = Conv(x) b = Relu(a) c = Conv(b) p = MaxPool(c)';
  expect(activations(text, new Set(['2']))).toEqual(['b']);
  expect(activations(text, new Set(['0', '3']))).toEqual(['x', 'c']);
  expect(activationsToScale(networkOf(text), new Set(['2', '3']))).toEqual(['b', 'c']);
});

test('a node that reads FP8 gets no pair beside it, and a sum needs no scale of the product that adds', () => {
  const low = new Set(['2']);
  const eight = networkOf('q = QuantizeLinear(x, s, z8) d = DequantizeLinear(q, s, z8) c = Conv(d)', [
    { name: 's', type: 'float', shape: [], data: null },
    { name: 'z8', type: 'float8e4m3fn', shape: [], data: null },
  ]);
  const cache = { header: null, scales: new Map([['d', 0.1]]), unusable: [], unread: [] };
  const plan = planMigration(eight, inferTensors(eight.graph), cache, () => [0.1], low);
  expect([plan.activations, plan.weights, plan.skipped]).toEqual([
    [],
    [],
    [{ node: '2', reason: 'it reads FP8 values' }],
  ]);
  expect(activationsToScale(networkOf('a = Conv(x) b = Relu(x) c = Add(a, b)'), new Set(['2']))).toEqual(['b']);
});

test('nothing is measured against a scale that is not a positive finite number', () => {
  const { graph } = networkOf('y = Relu(x)');
  const read = (scale: number): ReadScale => ({
    scale: { tensor: 'x', scale, count: 1, source: 'cache', nodes: [], type: 'int8', range: null },
    values: [scale],
    axis: 0,
    zeroPoint: 0,
  });
  const { outputs } = planObservation(graph, inferTensors(graph), [NaN, 0, -1, Infinity, 0.5].map(read));
  expect(outputs.map((output) => output === null)).toEqual([true, true, true, true, false]);
});
