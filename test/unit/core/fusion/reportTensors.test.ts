import { expect, test } from 'vitest';
import { createReport } from '../../../../src/core/fusion/createReport.ts';
import { engineLayer, layerInfo } from './buildEngine.ts';
import { buildModel } from './buildModel.ts';

const model = () =>
  buildModel({
    inputs: { x: ['n', 8] },
    outputs: ['y'],
    initializers: ['w'],
    nodes: [
      ['left', 'Mul', ['x', 'w'], ['a']],
      ['right', 'Relu', ['x'], ['b']],
      ['join', 'Concat', ['a', 'b'], ['c']],
      ['if', 'If', ['c'], ['d'], { then_branch: { outputs: ['e'], nodes: [['inner', 'Neg', ['c'], ['e']]] } }],
      ['plugin', 'Plugin', ['d', 'd'], ['y']],
    ],
  });

const tensorsOf = (layers = [engineLayer('left', { inputs: ['x'], outputs: ['a'] })]) =>
  createReport({ model: model(), modelFile: 'model.onnx', layerInfo: layerInfo(layers) }).tensors;

test('producer, consumers, type and shape of every tensor but the weights', () => {
  const plain = tensorsOf().map(({ name, producer, consumers, type, shape }) => [
    name,
    producer,
    consumers,
    type,
    shape,
  ]);
  expect(plain).toEqual([
    ['x', null, ['0', '1'], 'float', ['n', 8]],
    ['a', '0', ['2'], 'float', ['n', 8]],
    ['b', '1', ['2'], 'float', ['n', 8]],
    // The branch reads it, and with it the node that has the branch.
    ['c', '2', ['3', '3/then_branch/0'], 'float', [null, 8]],
    ['d', '3', ['4'], 'float', null],
    ['y', '4', [], 'float', null],
    ['e', '3/then_branch/0', [], 'float', [null, 8]],
  ]);
});

test('the layers that write a tensor: parts of a Concat, not the copy for another profile, none inside of a layer', () => {
  const layers = [
    engineLayer('left', { inputs: ['x'], outputs: ['c'] }),
    engineLayer('right', { inputs: ['x'], outputs: ['c'] }),
    engineLayer('if', { inputs: ['c'], outputs: ['Reformatted Output Tensor 0 to if'] }),
    engineLayer('Reformatting CopyNode for Output Tensor 0 to if', {
      inputs: ['Reformatted Output Tensor 0 to if'],
      outputs: ['d'],
    }),
    engineLayer('plugin', { inputs: ['d'], outputs: ['y'] }),
    engineLayer('plugin [profile 1]', { inputs: ['d [profile 1]'], outputs: ['y [profile 1]'] }),
  ];
  expect(Object.fromEntries(tensorsOf(layers).map((tensor) => [tensor.name, tensor.layers]))).toEqual({
    x: [],
    a: [],
    b: [],
    c: [0, 1],
    d: [3],
    y: [4],
    e: [],
  });
});
