import { quantizedNodes } from '../../../../src/kernel/rules/quantizedNodes.ts';
import { onnx } from 'onnx-proto';
import { expect, test } from 'vitest';
import { inferTensors } from '../../../../src/kernel/network/network.ts';
import { createModelGraph } from '../../../../src/kernel/network/modelGraph.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import {
  floatIslands,
  QuantizedGraph,
  quantizedPairs,
  readCalibrationCache,
} from '../../../../src/kernel/quantization/quantization.ts';
import { scalesAlong } from '../../../../src/kernel/quantization/calibration.ts';
import { misplaced } from '../../../../src/kernel/quantization/internal/misplaced.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { buildModel } from '../../kernel/fusion/buildModel.ts';
import { handLayer, handReport } from '../../kernel/picture/graph/handReport.ts';
import { inputOf } from '../../kernel/fusion/loadCapture.ts';

/** What the network has that TensorRT cannot compute in INT8. */
interface Planted {
  beforeActivation?: boolean;
  oneSide?: boolean;
  bias?: boolean;
  axis?: number;
  perChannel?: boolean;
  zeroPoint?: { type: number; value: number };
  floatWeights?: boolean;
  floatInput?: boolean;
  island?: boolean;
  pool?: boolean;
}

/** Conv, Relu, Conv, Add with the first Relu; Q/DQ pairs where TensorRT wants them, but for what is planted. */
async function network(planted: Planted = {}): Promise<QuantizedGraph> {
  const node: onnx.INodeProto[] = [];
  const initializer: onnx.ITensorProto[] = [];
  const add = (opType: string, input: string[], output: string, attribute: onnx.IAttributeProto[] = []) => {
    node.push({ opType, name: `${opType}:${output}`, input, output: [output], attribute });
    return output;
  };
  const scale = (name: string, count: number) =>
    initializer.push({
      name,
      dims: count === 1 ? [] : [count],
      dataType: 1,
      floatData: Array<number>(count).fill(0.1),
    });
  const zero = (name: string, type = 3, value = 0) =>
    initializer.push({ name, dims: [], dataType: type, rawData: Uint8Array.of(value) });
  zero('z');
  if (planted.zeroPoint) zero('odd', planted.zeroPoint.type, planted.zeroPoint.value);
  scale('s', 1);
  scale('s4', 4);
  const pair = (tensor: string, scales = 's', zeroPoint = 'z') =>
    add(
      'DequantizeLinear',
      [add('QuantizeLinear', [tensor, scales, zeroPoint], `${tensor}_q`), scales, zeroPoint],
      `${tensor}_dq`,
    );
  const weights = (name: string, axis = 0) => {
    initializer.push({ name, dims: [4, 4, 1, 1], dataType: 3, rawData: new Uint8Array(16) });
    return add('DequantizeLinear', [name, 's4'], `${name}_dq`, [{ name: 'axis', type: 2, i: axis }]);
  };
  initializer.push({ name: 'b', dims: [4], dataType: 1, floatData: [1, 2, 3, 4] });
  initializer.push({ name: 'fw', dims: [4, 4, 1, 1], dataType: 1, floatData: Array<number>(16).fill(1) });
  initializer.push({ name: 'bi', dims: [4], dataType: 6, rawData: new Uint8Array(16) });

  const x = planted.floatInput ? 'x' : pair('x', planted.perChannel ? 's4' : 's', planted.zeroPoint ? 'odd' : 'z');
  const bias = planted.bias ? add('DequantizeLinear', ['bi', 's'], 'bias_dq') : 'b';
  const first = add('Conv', [x, planted.floatWeights ? 'fw' : weights('w1', planted.axis), bias], 'c1');
  const act = add('Relu', [planted.beforeActivation ? pair(first) : first], 'r1');
  const before = planted.pool ? add('MaxPool', [act], 'pool') : act;
  const middle = planted.island ? add('Softmax', [pair(before)], 'soft') : before;
  const last = planted.island ? add('Erf', [add('Softmax', [middle], 'soft2')], 'erf') : middle;
  const second = add('Conv', [pair(last), weights('w2'), 'b'], 'c2');
  add('Add', [pair(second), planted.oneSide ? act : `${last}_dq`], 'sum');
  add('Relu', ['sum'], 'out');

  const value = (name: string) => ({
    name,
    type: { tensorType: { elemType: 1, shape: { dim: [1, 4, 8, 8].map((dimValue) => ({ dimValue })) } } },
  });
  const graph = { name: 'g', node, input: [value('x')], output: [value('out')], initializer };
  const bytes = onnx.ModelProto.encode({
    irVersion: 9,
    opsetImport: [{ domain: '', version: 19 }],
    graph,
  } as onnx.IModelProto);
  const { value: model, problems } = await readModel(bytesOf(bytes.finish()));
  expect(problems).toEqual([]);
  return new QuantizedGraph(createModelGraph(model!));
}

test('a network as TensorRT wants it', async () => {
  const good = await network();
  expect(misplaced(good)).toEqual([]);
  expect(floatIslands(good, quantizedNodes(good.graph.model.graph), inferTensors(good.graph), null)).toEqual([]);
});

test.each<[string, Planted, string]>([
  ['before-activation', { beforeActivation: true }, 'QuantizeLinear:c1_q'],
  ['one-side-of-residual', { oneSide: true }, 'Add:sum'],
  ['quantized-bias', { bias: true }, 'DequantizeLinear:bias_dq'],
  ['weight-axis', { axis: 1 }, 'DequantizeLinear:w1_dq'],
  ['per-channel-activation', { perChannel: true }, 'QuantizeLinear:x_q'],
  ['asymmetric', { zeroPoint: { type: 3, value: 5 } }, 'QuantizeLinear:x_q'],
  ['asymmetric', { zeroPoint: { type: 2, value: 0 } }, 'QuantizeLinear:x_q'],
  ['float-weights', { floatWeights: true }, 'Conv:c1'],
  ['float-input', { floatInput: true }, 'Conv:c1'],
])('planted: %s', async (code, planted, name) => {
  const bad = await network(planted);
  const found = misplaced(bad);
  expect([...new Set(found.map((one) => one.code))]).toEqual([code]);
  const { graph } = bad;
  expect(graph.nodes[graph.indexOfId.get(found[0]!.nodes[0]!)!]!.name).toBe(name);
});

test('an island in floating point, with the bytes that go in and out', async () => {
  const { graph, ...rest } = await network({ island: true });
  const quantized = Object.assign(await network({ island: true }), rest);
  const found = floatIslands(quantized, quantizedNodes(quantized.graph.model.graph), inferTensors(graph), null);
  const names = found.map(({ nodes }) => nodes.map((id) => graph.nodes[graph.indexOfId.get(id)!]!.op));
  // The first Softmax reads dequantized values itself.
  expect(names).toEqual([['Softmax', 'Erf']]);
  expect(found[0]!.bytes).toBe(2 * 4 * 4 * 8 * 8);
});

test('a MaxPool between a product and a pair is no island: TensorRT quantizes before it', async () => {
  const pooled = await network({ pool: true });
  expect(floatIslands(pooled, quantizedNodes(pooled.graph.model.graph), inferTensors(pooled.graph), null)).toEqual([]);
});

test('without a build, fates are unknown; the weights are pairs, too', async () => {
  const good = await network();
  const pairs = quantizedPairs(good, [], null);
  expect(pairs.map(({ tensor, constant, fate }) => [tensor, constant, fate])).toEqual([
    ['x', false, 'unknown'],
    ['w1', true, 'unknown'],
    ['r1', false, 'unknown'],
    ['w2', true, 'unknown'],
    ['c2', false, 'unknown'],
  ]);
});

test('a build of TensorRT 10.6: pairs after Add and Conv are fused, others are kernels of their own', async () => {
  const input = (await inputOf('tensorrt-10.6.0/resnet18_qdq.fp32'))!;
  const built = new QuantizedGraph(createModelGraph(input.model));
  const wrong = misplaced(built);
  expect(wrong.map(({ code }) => code)).toEqual([...Array<string>(9).fill('before-activation'), 'quantized-output']);
  const pairs = quantizedPairs(built, wrong, createReport(input));
  const count = (fate: string) => pairs.filter((pair) => pair.fate === fate).length;
  const counts = Object.fromEntries([...new Set(pairs.map(({ fate }) => fate))].map((fate) => [fate, count(fate)]));
  expect(counts).toEqual({ kernel: 2, folded: 1, fused: 64, removed: 1, unknown: 3 });
  const own = pairs.filter(({ fate }) => fate === 'kernel');
  expect(own.map(({ tensor, why }) => [tensor, why])).toEqual([
    [
      'input',
      'QuantizeLinear "input_QuantizeLinear" is a kernel of its own, "input_QuantizeLinear". "input" is an input of the graph: there is no kernel before it that could write INT8.',
    ],
    [
      '/layer4/layer4.1/relu_1/Relu_output_0',
      'DequantizeLinear "/layer4/layer4.1/relu_1/Relu_output_0_DequantizeLinear" is a kernel of its own, "/layer4/layer4.1/relu_1/Relu_output_0_DequantizeLinear".',
    ],
  ]);
});

test('what prevents kernels is said in the type of the pairs', () => {
  const op = 'QuantizeLinear';
  const model = buildModel({
    inputs: { x: [1] },
    outputs: ['y'],
    initializers: ['s'],
    nodes: [['q', op, ['x', 's'], ['y']]],
  });
  Object.assign(model.nodes[0]!, { attributes: [{ name: 'output_dtype', value: 17 }] });
  const report = handReport([['q', op, 'single']], [handLayer(0, 'single', ['0'])]);
  const [pair] = quantizedPairs(new QuantizedGraph(createModelGraph(model)), [], report);
  expect(pair!.why).toContain('no kernel before it that could write FP8.');
});

test('calibration caches', () => {
  const cache = readCalibrationCache(
    'TRT-8601-EntropyCalibration2\r\nx: 3ebfcfb9\r\nodd: name: 00000000\nbad: 7f800000\n',
  )!;
  expect(cache.header).toBe('TRT-8601-EntropyCalibration2');
  expect([...cache.scales]).toEqual([['x', Math.fround(0.37463167309761047)]]);
  expect(cache.unusable).toEqual(['odd: name', 'bad']);
  expect(readCalibrationCache('once upon a time: there\n')).toBeNull();
});

test('scales of weights along each axis', () => {
  const values = Float32Array.of(1, -2, 3, 4, 0, 0);
  expect(scalesAlong(values, [3, 2], 0)).toEqual([2 / 127, 4 / 127, 1 / 127]);
  expect(scalesAlong(values, [3, 2], 1)).toEqual([3 / 127, 4 / 127]);
});
