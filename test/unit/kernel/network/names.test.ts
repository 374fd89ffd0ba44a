import { expect, test, it } from 'vitest';
import { parserName, NodesByName, nodesInName } from '../../../../src/kernel/network/nodeNames.ts';
import {
  isEngineLayerName,
  isNumberedKernel,
  isProductFactor,
  kernelRegion,
  profileOf,
  reformattedFor,
  withoutKernelNumber,
  withoutKernelPlace,
  withoutMyelinNumbers,
  withoutProfile,
} from '../../../../src/kernel/network/layerName.ts';

test.each([
  ['its own name', { name: 'conv', outputs: ['y'] }, 'conv'],
  ['the first output of a node without name', { name: '', outputs: ['y', 'z'] }, 'node_of_y'],
  // TensorRT-RTX 1.7.1 on LSTM(x, W, R) → '', Y_h: "Parsing node: node_of_ [LSTM]".
  ['an unused first output', { name: '', outputs: ['', 'Y_h'] }, 'node_of_'],
  // TensorRT-RTX 1.7.1 on Relu(x) without outputs: "Parsing node:  [Relu]".
  ['no outputs', { name: '', outputs: [] }, ''],
])('%s', (_, node, name) => {
  expect(parserName(node)).toBe(name);
});

const node = (name: string, ...outputs: string[]) => ({ name, outputs });
const names = new NodesByName([
  node('/conv1/Conv'),
  node('/relu/Relu'),
  node('', 'y'),
  node('', '', 'Y_h'),
  node('twin'),
  node('twin'),
  node('a + b, c)'),
  node('q.k'),
  node('q.v'),
]);

test.each([
  ['/conv1/Conv', [[0]]],
  ['/conv1/Conv + /relu/Relu', [[0], [1]]],
  ['PWN(/relu/Relu, node_of_y)', [[1], [2]]],
  ['/conv1/Conv || PWN(PWN(node_of_y), /relu/Relu)', [[0], [2], [1]]],
  ['{ForeignNode[/conv1/Conv...node_of_y]}', [[0], [2]]],
  ['{ForeignNode[/conv1/Conv + /relu/Relu...node_of_y]} [profile 1]', [[0], [1], [2]]],
  // TensorRT takes the first output's name though the output is not used.
  ['node_of_', [[3]]],
  ['node_of_Y_h', []],
  // Of nodes that share a name, the layers have numbers.
  ['twin_5 + /relu/Relu', [[4, 5], [1]]],
  ['/relu/Relu_5', []],
  // A name with every separator of the grammar in it.
  ['/relu/Relu + a + b, c)', [[1], [6]]],
  ['q_k+q_v_myl3_14', [[7, 8]]],
  ['__myl_AddTanh_myl0_2', []],
  // A reformat and what TensorRT puts beside a node compute no node.
  ['Reformatting CopyNode for Input Tensor 0 to /conv1/Conv', []],
  ['reshape_before_/conv1/Conv', []],
  ['', []],
])('%s', (layer, nodes) => {
  expect(nodesInName(names, layer)).toEqual(nodes);
});

it('profile and place are read at the end of a name only', () => {
  expect(['conv', 'conv [profile 1]', '__myl_Add [profile 2]_myl3_14', 'a [profile 1] b'].map(profileOf)).toEqual([
    0, 1, 2, 0,
  ]);
  expect(withoutProfile('a [profile 1] b [profile 2]')).toBe('a [profile 1] b');
  expect(['__myl_Add_myl3_14', 'x_myl2', 'x_myl', 'x_myl2_1 b'].map(kernelRegion)).toEqual([
    3,
    2,
    undefined,
    undefined,
  ]);
  expect(withoutKernelPlace('__myl_Add_myl3_14')).toBe('__myl_Add');
  expect(withoutKernelNumber('__myl_Add_myl3_14')).toBe('__myl_Add_myl3');
  expect(
    ['__mye141996_0_myl2_0', '__myl_AddMul_myl0_14', '__myl_AddMul_vec', 'cast_hvar^65561i64_myl1_30'].map(
      withoutMyelinNumbers,
    ),
  ).toEqual(['__mye', '__myl_AddMul', '__myl_AddMul_vec', 'cast_hvari64']);
  expect(isNumberedKernel('x_myl2')).toBe(false);
});

it('engine layers, reformats and factors are told from nodes of a model', () => {
  expect(
    ['Reformatting CopyNode for Input Tensor 0', '__mye1', 'x_myl0_1', '/conv/Conv'].map(isEngineLayerName),
  ).toEqual([true, true, true, false]);
  expect(reformattedFor('Reformatted Input Tensor 0 to {ForeignNode[a...b]} [profile 1]')).toBe(
    '{ForeignNode[a...b]} [profile 1]',
  );
  expect(reformattedFor('Reformatted Input Tensor 0 to a')).toBeUndefined();
  expect(['x_alpha', 'x_beta_myl2', 'alphabet'].map(isProductFactor)).toEqual([true, true, false]);
});
