import { expect, test } from 'vitest';
import { createModelGraph } from '../../../../src/core/model/modelGraph.ts';
import type { OnnxAttribute, OnnxNode, OnnxTensor } from '../../../../src/core/onnx/onnxModel.ts';
import { type Misplaced, misplaced } from '../../../../src/core/quantisation/misplaced.ts';
import { QuantisedGraph } from '../../../../src/core/quantisation/quantisedGraph.ts';
import { modelAround } from '../fusion/buildModel.ts';

const tensors: Record<string, Pick<OnnxTensor, 'type' | 'shape'>> = {
  s: { type: 'float', shape: [] },
  s2: { type: 'float', shape: [] },
  sk: { type: 'float', shape: [8] },
  blocks: { type: 'float', shape: [2, 8] },
  z: { type: 'int8', shape: [] },
  z8: { type: 'float8e4m3fn', shape: [] },
  w: { type: 'int8', shape: [8, 8] },
  w4: { type: 'int4', shape: [32, 8] },
  b32: { type: 'int32', shape: [8] },
  b: { type: 'float', shape: [8] },
};

/** Values of scales by name; others are 0.5. */
const values: Record<string, number[]> = { s2: [0.25] };

/** Judges a network of one node a line, `Op input … > output attribute=value …`; a node has the name of its output. */
function judged(lines: string): Pick<Misplaced, 'code' | 'message' | 'fix'>[] {
  const nodes = lines
    .trim()
    .split('\n')
    .map((line, index): OnnxNode => {
      const [reads, writes] = line.split('>').map((part) => part.trim().split(/ +/)) as [string[], string[]];
      const [op, ...inputs] = reads as [string, ...string[]];
      const [output, ...given] = writes as [string, ...string[]];
      const attributes = given.map((one): OnnxAttribute => {
        const [name, text] = one.split('=') as [string, string];
        const numbers = text.split(',').map(Number);
        return numbers.length > 1
          ? { name, kind: 'ints', value: numbers }
          : { name, kind: name === 'value_float' ? 'float' : 'int', value: numbers[0]! };
      });
      return {
        id: String(index),
        name: output,
        op,
        domain: '',
        inputs,
        outputs: [output],
        attributes,
        subgraphs: [],
        metadata: [],
      };
    });
  const graph = {
    name: 'g',
    path: '',
    nodes,
    inputs: ['x', 'given'].map((name) => ({ name, type: 'float', shape: [8, 8] })),
    outputs: [{ name: nodes.at(-1)!.outputs[0]!, type: 'float', shape: null }],
    values: [],
    initializers: Object.entries(tensors).map(([name, tensor]) => ({ name, ...tensor, data: null })),
  };
  const network = new QuantisedGraph(createModelGraph(modelAround(graph, nodes)));
  return misplaced(network, (node) => {
    const name = network.constantAt(node, 1)?.name;
    return name === undefined ? (network.scaleNumbers(node) ?? null) : (values[name] ?? [0.5]);
  }).map(({ code, message, fix }) => ({ code, message, fix }));
}

const pair = 'QuantizeLinear x s z > q\nDequantizeLinear q s z > dq\n';
const weights = 'DequantizeLinear w sk > wdq axis=1\n';

test.each([
  ['weights in INT4 blocks', 'DequantizeLinear w4 blocks > wdq axis=0 block_size=16\nMatMul x wdq > y'],
  [
    'INT4 weights and an FP8 input',
    'QuantizeLinear x s z8 > q\nDequantizeLinear q s z8 > dq\nDequantizeLinear w4 blocks > wdq axis=0 block_size=16\nMatMul dq wdq > y',
  ],
  [
    'output channels behind a Transpose',
    `${pair}DequantizeLinear w sk > wdq axis=0\nTranspose wdq > wt\nMatMul dq wt > y`,
  ],
  ['the same with perm', `${pair}DequantizeLinear w sk > wdq axis=0\nTranspose wdq > wt perm=1,0\nMatMul dq wt > y`],
  [
    'a scale computed from constants',
    `Mul s s2 > c\nQuantizeLinear x c z > q\nDequantizeLinear q c z > dq\n${weights}MatMul dq wdq > y`,
  ],
  [
    'a scale of a Constant node',
    `Constant > c value_float=0.5\nQuantizeLinear x c z > q\nDequantizeLinear q c z > dq\n${weights}MatMul dq wdq > y`,
  ],
  [
    'scales that TensorRT computes itself',
    'TRT_FP4DynamicQuantize x s > q\nIdentity x > c\nDequantizeLinear q q s > y',
  ],
  [
    'a second pair of the same scale',
    `${pair}Flatten dq > f\nQuantizeLinear f s z > q2\nDequantizeLinear q2 s z > dq2\n${weights}MatMul dq2 wdq > y`,
  ],
])('nothing is wrong with %s', (_, lines) => {
  expect(judged(lines)).toEqual([]);
});

test.each<[string, string, Partial<Misplaced>]>([
  [
    'a gate behind the pair: its product is to be quantised',
    `${pair}${weights}MatMul dq wdq > m\nQuantizeLinear m s z > q2\nDequantizeLinear q2 s z > dq2\nSigmoid dq2 > g\nMul dq2 g > y`,
    { code: 'before-activation', fix: 'Quantize the output of Mul "y" instead.' },
  ],
  [
    'a pair before the bias and its activation',
    `${pair}${weights}MatMul dq wdq > m\nQuantizeLinear m s z > q2\nDequantizeLinear q2 s z > dq2\nAdd dq2 b > a\nRelu a > y`,
    { code: 'before-activation', fix: 'Quantize the output of Relu "y" instead.' },
  ],
  [
    'input channels behind a Transpose',
    `${pair}DequantizeLinear w sk > wdq axis=1\nTranspose wdq > wt\nMatMul dq wt > y`,
    { code: 'weight-axis', fix: 'Quantize the weights along axis 0.' },
  ],
  [
    'a bias in int32',
    `${pair}${weights}DequantizeLinear b32 s > bdq\nGemm dq wdq bdq > y`,
    {
      code: 'quantised-bias',
      message:
        'The bias of Gemm "y" is quantized to int32, which TensorRT does not dequantize; TensorRT adds a bias in floating point.',
    },
  ],
  [
    'two pairs of two scales',
    `${pair}QuantizeLinear dq s2 z > q2\nDequantizeLinear q2 s2 z > dq2\n${weights}MatMul dq2 wdq > y`,
    {
      code: 'quantised-twice',
      message:
        'QuantizeLinear "q2" quantizes what DequantizeLinear "dq" dequantizes, with another scale: values are rounded twice.',
    },
  ],
  [
    'FP8 weights and a float input',
    'QuantizeLinear b s z8 > wq\nDequantizeLinear wq s z8 > wdq\nMatMul x wdq > y',
    {
      code: 'float-input',
      message: 'MatMul "y" has quantized weights, but its input is in floating point, so it does not run in FP8.',
    },
  ],
  [
    'FP8 and INT8',
    `QuantizeLinear x s z8 > q\nDequantizeLinear q s z8 > dq\n${weights}MatMul dq wdq > y`,
    { code: 'mixed-types', message: 'MatMul "y" reads FP8 and INT8 values; TensorRT multiplies values of one type.' },
  ],
  [
    'a scale that is an input',
    `QuantizeLinear x given z > q\nDequantizeLinear q given z > dq\n${weights}MatMul dq wdq > y`,
    {
      code: 'scale-at-run-time',
      message: 'The scale of QuantizeLinear "q" is known only when the engine runs; TensorRT needs it for the build.',
    },
  ],
  [
    'an operator on integers',
    'QLinearMatMul x s z w s z s z > y',
    { code: 'integer-operator', fix: 'Quantize again into Q/DQ nodes (quantize_static: QuantFormat.QDQ).' },
  ],
])('named: %s', (_, lines, wanted) => {
  expect(judged(lines)).toEqual([expect.objectContaining(wanted)]);
});
