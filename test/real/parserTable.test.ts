import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { askOnnxParser } from '../../src/kernel/node/run/askOnnxParser.ts';
import { checkModel } from '../../src/features/diagnose/checkModel.ts';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { type Graph, type Node, type Value, writeModel } from '../support/hardModels/onnxWriter.ts';
import { rtxForTests, temporaryFolder } from '../support/rtx.ts';

// The table of what TensorRT-RTX accepts against its own parser.
const folder = temporaryFolder();
const scripts = fileURLToPath(new URL('../../src/driver', import.meta.url));
let python = '';
beforeAll(async () => {
  python = (await rtxForTests()).python;
});

const x: Value = ['x', 'float', 4, 16];
const one = (op: string, inputs = ['x'], attributes: Node[4] = {}, more: Partial<Graph> = {}): Graph => ({
  inputs: [x],
  outputs: [['y', 'float']],
  nodes: [['n', op, inputs, ['y'], attributes]],
  ...more,
});

test.each<[string, Graph]>([
  ...[
    'Relu',
    'Abs',
    'Softmax',
    'Erf',
    'Sign',
    'Not',
    'Det',
    'Unique',
    'Compress',
    'BitwiseNot',
    'Hardmax',
    'Shrink',
  ].map((op): [string, Graph] => [op, op === 'Not' ? one(op, ['b'], {}, { inputs: [['b', 'bool', 4]] }) : one(op)]),
  ['NonZero', one('NonZero', ['x'], {}, { outputs: [['y', 'int64']] })],
  ['an unknown operator', one('NoSuchOperator')],
  ['Relu of INT32', one('Relu', ['i'], {}, { inputs: [['i', 'int32', 4]], outputs: [['y', 'int32']] })],
  ['Abs of INT32', one('Abs', ['i'], {}, { inputs: [['i', 'int32', 4]], outputs: [['y', 'int32']] })],
  ['mixed types', one('Add', ['x', 'h'], {}, { inputs: [x, ['h', 'half', 4, 16]] })],
  [
    'a cycle',
    one(
      'Add',
      ['x', 'b'],
      {},
      {
        nodes: [
          ['a', 'Add', ['x', 'b'], ['y'], {}],
          ['c', 'Abs', ['y'], ['b'], {}],
        ],
      },
    ),
  ],
  [
    'a tensor given twice',
    one(
      'Abs',
      ['x'],
      {},
      {
        nodes: [
          ['a', 'Abs', ['x'], ['y'], {}],
          ['c', 'Relu', ['x'], ['y'], {}],
        ],
      },
    ),
  ],
  [
    'an input given again',
    one(
      'Abs',
      ['x'],
      {},
      {
        nodes: [
          ['a', 'Relu', ['x'], ['x'], {}],
          ['c', 'Abs', ['x'], ['y'], {}],
        ],
      },
    ),
  ],
  ['two inputs of one name', one('Abs', ['x'], {}, { inputs: [x, x] })],
  [
    'nodes in any order',
    one(
      'Abs',
      ['x'],
      {},
      {
        nodes: [
          ['c', 'Abs', ['b'], ['y'], {}],
          ['a', 'Relu', ['x'], ['b'], {}],
        ],
      },
    ),
  ],
  [
    'nodes of one name',
    one(
      'Abs',
      ['x'],
      {},
      {
        nodes: [
          ['n', 'Relu', ['x'], ['b'], {}],
          ['n', 'Abs', ['b'], ['y'], {}],
        ],
      },
    ),
  ],
  ['a tensor that nothing gives', one('Add', ['x', 'lost'])],
  [
    'Loop without a condition',
    one(
      'Loop',
      ['m', '', 'x'],
      {
        body: {
          graph: {
            inputs: [
              ['k', 'int64'],
              ['c', 'bool'],
              ['a', 'float', 4, 16],
            ],
            outputs: [
              ['co', 'bool'],
              ['b', 'float', 4, 16],
            ],
            nodes: [
              ['i', 'Identity', ['c'], ['co']],
              ['r', 'Relu', ['a'], ['b']],
            ],
          },
        },
      },
      { weights: [['m', 'int64', [1], 3]] },
    ),
  ],
  [
    'pooling with dilations',
    one('MaxPool', ['p'], { kernel_shape: [2, 2], dilations: [2, 2] }, { inputs: [['p', 'float', 1, 2, 8, 8]] }),
  ],
  ['pooling', one('MaxPool', ['p'], { kernel_shape: [2, 2] }, { inputs: [['p', 'float', 1, 2, 8, 8]] })],
  ['Mod of floats', one('Mod', ['x', 'x'])],
  ['Mod of floats with fmod', one('Mod', ['x', 'x'], { fmod: 1 })],
])('%s: the table says what the parser says', async (name, graph) => {
  const path = join(folder, `${name.replaceAll(' ', '_')}.onnx`);
  writeFileSync(path, writeModel(graph, [], 18));
  const { value } = await readModel(bytesOf(readFileSync(path)));
  const expected = checkModel(value!, { product: 'tensorrt-rtx', version: null, capability: null });
  const { accepted, errors } = await askOnnxParser(path, { scripts, python });
  expect([name, accepted, errors.map(({ message }) => message)]).toEqual([
    name,
    expected.every(({ severity }) => severity !== 'error'),
    errors.map(({ message }) => message),
  ]);
});
