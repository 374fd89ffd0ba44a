import { expect, test } from 'vitest';
import type { OnnxAttribute, OnnxTensor } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { type Misplaced, misplaced } from '../../../../src/kernel/quantization/internal/misplaced.ts';
import { type NamedNode, networkOfNodes } from './networkOfNodes.ts';

const tensors: Record<string, Pick<OnnxTensor, 'type' | 'shape'>> = {
  s: { type: 'float', shape: [] },
  s2: { type: 'float', shape: [] },
  sk: { type: 'float', shape: [8] },
  blocks: { type: 'float', shape: [2, 8] },
  z: { type: 'int8', shape: [] },
  z8: { type: 'float8e4m3fn', shape: [] },
  w: { type: 'int8', shape: [8, 8] },
  w4: { type: 'int4', shape: [32, 8] },
  wf: { type: 'float', shape: [8, 8] },
  wct: { type: 'int8', shape: [8, 4, 3, 3] },
  zk: { type: 'int8', shape: [8] },
  s4: { type: 'float', shape: [4] },
  half: { type: 'float16', shape: [] },
  z16: { type: 'uint16', shape: [] },
  zu: { type: 'uint8', shape: [] },
  w8: { type: 'uint8', shape: [8, 8] },
  b8: { type: 'int8', shape: [8] },
  b32: { type: 'int32', shape: [8] },
  b: { type: 'float', shape: [8] },
};

/** Values of scales by name; others are 0.5. */
const values: Record<string, number[]> = { s2: [0.25], half: [0.4998] };

/** Judges a network of one node a line, `Op input … > output attribute=value …`; a node has the name of its output. */
function judged(lines: string): Pick<Misplaced, 'code' | 'message' | 'fix'>[] {
  const nodes = lines
    .trim()
    .split('\n')
    .map((line): NamedNode => {
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
      return { op, inputs, output, attributes };
    });
  const initializers = Object.entries(tensors).map(([name, tensor]) => ({ name, ...tensor, data: null }));
  const network = networkOfNodes(nodes, { x: [8, 8], given: [8, 8] }, initializers);
  return misplaced(network, (node) => {
    const name = network.constantAt(node, 1)?.name;
    return name === undefined ? (network.scaleNumbers(node) ?? null) : (values[name] ?? [0.5]);
  }).map(({ code, message, fix }) => ({ code, message, fix }));
}

const pair = 'QuantizeLinear x s z > q\nDequantizeLinear q s z > dq\n';
const weights = 'DequantizeLinear w sk > wdq axis=1\n';
const other = 'Relu given > r\nQuantizeLinear r s z > qr\nDequantizeLinear qr s z > dqr\n';

test.each([
  ['weights in INT4 blocks', 'DequantizeLinear w4 blocks > wdq axis=0 block_size=16\nMatMul x wdq > y'],
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
  ['scales that TensorRT computes itself', 'TRT_FP4DynamicQuantize x s > q\nIdentity x > c\nDequantizeLinear q q > y'],
  [
    'a second pair of the same scale',
    `${pair}Flatten dq > f\nQuantizeLinear f s z > q2\nDequantizeLinear q2 s z > dq2\n${weights}MatMul dq2 wdq > y`,
  ],
  ['a scale in half precision at one node', 'QuantizeLinear x s z > q\nDequantizeLinear q half z > dq\nRelu dq > y'],
  [
    'the same axis, from both ends',
    `${pair}QuantizeLinear wf sk zk > wq axis=1\nDequantizeLinear wq sk zk > wdq axis=-1\nMatMul dq wdq > y`,
  ],
  ['a MaxPool behind the pair', `${pair}MaxPool dq > p\n${weights}MatMul p wdq > y`],
  ['a quantized table of embeddings', 'DequantizeLinear w s > wdq\nGather wdq b32 > e\nRelu x > r\nAdd e r > y'],
  ['a Gather of activations', `${pair}Gather dq b32 > g\n${weights}MatMul g wdq > y`],
  ['weights that are split', `${pair}${weights}Split wdq b32 > ws\nMatMul dq ws > y`],
  ['a Slice behind the pair', `${pair}Slice dq b32 b32 > p\n${weights}MatMul p wdq > y`],
  [
    'a Transpose and a Reshape between two pairs of one scale',
    `${pair}Transpose dq > t\nReshape t b32 > r\nQuantizeLinear r s z > q2\nDequantizeLinear q2 s z > dq2\n${weights}MatMul dq2 wdq > y`,
  ],
  [
    'a Concat of one scale',
    `${pair}${other}Concat dq dqr > c axis=1\nQuantizeLinear c s z > q3\nDequantizeLinear q3 s z > dq3\n${weights}MatMul dq3 wdq > y`,
  ],
  [
    'a Concat of dequantized values that a product reads',
    `${pair}${other}Concat dq dqr > c axis=1\n${weights}MatMul c wdq > y`,
  ],
  [
    'a Concat with one pair, whose output has the same scale',
    `${pair}Relu given > r\nConcat dq r > c axis=1\nQuantizeLinear c s z > q3\nDequantizeLinear q3 s z > dq3\n${weights}MatMul dq3 wdq > y`,
  ],
  ['a Concat with a constant', `${pair}Concat dq wf > c axis=1\nRelu c > y`],
  ['a Sum with the output of a product', `${pair}${weights}MatMul dq wdq > m\nSum m dq > y`],
  [
    'scales of a ConvTranspose along its input channels',
    `${pair}DequantizeLinear wct sk > wdq axis=0\nConvTranspose dq wdq > y group=2`,
  ],
  ['one scale for a ConvTranspose', `${pair}DequantizeLinear wct s > wdq\nConvTranspose dq wdq > y`],
  ['weights of Gemm with transB along axis 0', `${pair}DequantizeLinear w sk > wdq axis=0\nGemm dq wdq > y transB=1`],
  ['weights on the left along their rows', `${pair}DequantizeLinear w sk > wdq axis=0\nMatMul wdq dq > y`],
  ['a dequantized output that a node reads, too', `${pair}Relu dq > y`],
  ['a bias of MatMul in floating point', `${pair}${weights}MatMul dq wdq > m\nAdd m b > y`],
])('nothing is wrong with %s', (_, lines) => {
  expect(judged(lines)).toEqual([]);
});

test.each<[string, string, Partial<Misplaced>]>([
  [
    'a gate behind the pair: its product is to be quantized',
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
      code: 'quantized-bias',
      message:
        'The bias of Gemm "y" is quantized to int32, which TensorRT\'s ONNX parser rejects; TensorRT adds a bias in floating point.',
    },
  ],
  [
    'two pairs of two scales',
    `${pair}QuantizeLinear dq s2 z > q2\nDequantizeLinear q2 s2 z > dq2\n${weights}MatMul dq2 wdq > y`,
    {
      code: 'quantized-twice',
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
    'INT4 weights and an FP8 input',
    'QuantizeLinear x s z8 > q\nDequantizeLinear q s z8 > dq\nDequantizeLinear w4 blocks > wdq axis=0 block_size=16\nMatMul dq wdq > y',
    { code: 'mixed-types', fix: 'Leave the input in floating point, as weights in INT4 need it.' },
  ],
  [
    'a pair of two scales',
    `QuantizeLinear x s z > q\nDequantizeLinear q s2 z > dq\n${weights}MatMul dq wdq > y`,
    {
      code: 'pair-mismatch',
      message:
        'DequantizeLinear "dq" has another scale than QuantizeLinear "q", whose values it reads: the pair changes values instead of only rounding them.',
      fix: 'Give both nodes the same scale.',
    },
  ],
  [
    'a pair of two axes',
    `${pair}QuantizeLinear wf sk z > wq axis=0\nDequantizeLinear wq sk z > wdq axis=1\nMatMul dq wdq > y`,
    { code: 'pair-mismatch', fix: 'Give both nodes the same axis.' },
  ],
  [
    'an output that is quantized',
    `${pair}${weights}MatMul dq wdq > m\nQuantizeLinear m s z > q2\nDequantizeLinear q2 s z > dq2\nReshape dq2 b32 > y`,
    {
      code: 'quantized-output',
      message:
        'DequantizeLinear "dq2" makes only the output "y" of the graph: no kernel behind it reads the quantized values, so the pair costs accuracy and saves nothing.',
      fix: 'Remove the pair in front of "y".',
    },
  ],
  [
    'one side of a Sum',
    `${pair}Relu given > r\nSum dq r > y`,
    { code: 'one-side-of-residual', message: 'Sum "y" adds a quantized input and "r", which is not.' },
  ],
  [
    'one of three',
    `${pair}${weights}MatMul dq wdq > m\nRelu given > r\nSum m dq r > y`,
    { code: 'one-side-of-residual' },
  ],
  [
    'one side of a Concat',
    `${pair}Relu given > r\nConcat dq r > c axis=1\nRelu c > y`,
    {
      code: 'one-side-of-concat',
      message: 'Concat "c" joins a quantized input and "r", which is not, so it copies floating-point values.',
      fix: 'Quantize "r", too, with the same scale, or the output of Concat "c".',
    },
  ],
  [
    'a Concat of two scales',
    `${pair}${other.replaceAll(' s ', ' s2 ')}Concat dq dqr > c axis=1\nRelu c > y`,
    {
      code: 'concat-scales',
      message:
        'Concat "c" joins values that DequantizeLinear "dqr" dequantizes with another scale than that of DequantizeLinear "dq": TensorRT has to quantize them again.',
      fix: 'Give all inputs of Concat "c" the same scale, the largest of them.',
    },
  ],
  [
    'a Concat with another scale than the pair behind it',
    `${pair}Relu given > r\nConcat dq r > c axis=1\nReshape c b32 > rs\nQuantizeLinear rs s2 z > q3\nDequantizeLinear q3 s2 z > dq3\n${weights}MatMul dq3 wdq > y`,
    { code: 'concat-scales', fix: 'Give all inputs and the output of Concat "c" the same scale, the largest of them.' },
  ],
  [
    'a MaxPool between two pairs of two scales',
    `${pair}MaxPool dq > p\nQuantizeLinear p s2 z > q2\nDequantizeLinear q2 s2 z > dq2\n${weights}MatMul dq2 wdq > y`,
    { code: 'quantized-twice' },
  ],
  [
    'scales of a ConvTranspose per output channel',
    `${pair}DequantizeLinear wct s4 > wdq axis=1\nConvTranspose dq wdq > y group=2`,
    {
      code: 'weight-axis',
      message:
        'DequantizeLinear "wdq" has one scale per entry of axis 1; for ConvTranspose "y", TensorRT has no kernels with one scale per output channel (NVIDIA/TensorRT issue 2380).',
      fix: 'Quantize the weights with one scale, or along axis 0.',
    },
  ],
  [
    'Gemm with transB along its input channels',
    `${pair}DequantizeLinear w sk > wdq axis=1\nGemm dq wdq > y transB=1`,
    { code: 'weight-axis', fix: 'Quantize the weights along axis 0.' },
  ],
  [
    'weights on the left along their columns',
    `${pair}DequantizeLinear w sk > wdq axis=1\nMatMul wdq dq > y`,
    { code: 'weight-axis', fix: 'Quantize the weights along axis 0.' },
  ],
  [
    'weights on the left and a float input',
    'DequantizeLinear w sk > wdq axis=0\nMatMul wdq x > y',
    { code: 'float-input', fix: 'Quantize the input, too.' },
  ],
  [
    'float weights on the left',
    `${pair}MatMul wf dq > y`,
    {
      code: 'float-weights',
      message: 'MatMul "y" reads a quantized input, but its weights are in floating point, so it does not run in INT8.',
    },
  ],
  [
    'only the second of two activations',
    `${pair}MatMul given dq > y`,
    {
      code: 'float-input',
      message:
        'MatMul "y" reads a quantized second input, but its first input is in floating point, so it does not run in INT8.',
      fix: 'Quantize the first input, too.',
    },
  ],
  [
    'a bias behind MatMul',
    `${pair}${weights}MatMul dq wdq > m\nDequantizeLinear b8 s > bdq\nAdd m bdq > y`,
    { code: 'quantized-bias', message: 'The bias of MatMul "m" is quantized; TensorRT adds a bias in floating point.' },
  ],
  [
    'uint16',
    'QuantizeLinear x s z16 > q\nDequantizeLinear q s z16 > dq\nRelu dq > y',
    {
      code: 'unsupported-type',
      message:
        'QuantizeLinear "q" quantizes to uint16, which TensorRT does not support: it has INT8, INT4, FP8 (float8e4m3fn) and FP4 (float4e2m1).',
    },
  ],
  [
    'uint8',
    'QuantizeLinear x s zu > q\nDequantizeLinear q s zu > dq\nRelu dq > y',
    {
      code: 'asymmetric',
      message: 'QuantizeLinear "q" quantizes to uint8; TensorRT takes int8 in its place, which ends at 127.',
    },
  ],
  [
    'stored uint8 weights',
    `${pair}DequantizeLinear w8 s zu > wdq\nMatMul dq wdq > y`,
    {
      code: 'asymmetric',
      message: 'DequantizeLinear "wdq" dequantizes stored uint8 values, which TensorRT\'s ONNX parser rejects.',
    },
  ],
  [
    'uint8 by default',
    'QuantizeLinear x s > q\nDequantizeLinear q s > dq\nRelu dq > y',
    {
      code: 'asymmetric',
      message: 'QuantizeLinear "q" has no zero point, so ONNX quantizes to uint8 and TensorRT to int8.',
      fix: 'Add a zero point: 0, in int8.',
    },
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
