import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onnx } from 'onnx-proto';
import { describe, expect, it } from 'vitest';
import { checkModel, tableBasis } from '../../../../src/features/diagnose/checkModel.ts';
import { type CheckTarget } from '../../../../src/features/diagnose/internal/checkShapes.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { fixturePath } from '../../../support/fixtures.ts';
import { modelAround } from '../../kernel/fusion/buildModel.ts';
import type { OnnxModel, OnnxNode, OnnxTensor, OnnxValue } from '../../../../src/kernel/read/onnx/onnxModel.ts';

const rtx: CheckTarget = { product: 'tensorrt-rtx', version: null, capability: null };
const tensorrt = (version: string, capability: string | null = null): CheckTarget => ({
  product: 'tensorrt',
  version,
  capability,
});
const value = (name: string, shape: (number | string)[] | null, type = 'float'): OnnxValue => ({ name, type, shape });
const node = (op: string, inputs: string[], outputs: string[], more: Partial<OnnxNode> = {}): OnnxNode => ({
  id: '0',
  name: op,
  op,
  domain: '',
  inputs,
  outputs,
  attributes: [],
  subgraphs: [],
  metadata: [],
  ...more,
});
const ints = (name: string, values: number[]) => ({
  name,
  type: 'int64',
  shape: [values.length],
  data: null,
  ints: values,
});
const attribute = (name: string, number: number) => ({ name, kind: 'int' as const, value: number });

function model(
  nodes: OnnxNode[],
  inputs: OnnxValue[],
  outputs: (string | OnnxValue)[],
  initializers: ReturnType<typeof ints>[] = [],
) {
  const placed = nodes.map((one, index) => ({ ...one, id: String(index) }));
  const graph = {
    name: 'g',
    path: '',
    nodes: placed,
    inputs,
    outputs: outputs.map((one) => (typeof one === 'string' ? value(one, null) : one)),
    values: [],
    initializers,
  };
  return { ...modelAround(graph, placed), opsets: [{ domain: '', version: 17 }] };
}

const errors = (one: OnnxModel, target: CheckTarget, ...rest: Parameters<typeof checkModel>[2][]) =>
  checkModel(one, target, rest[0])
    .filter(({ severity }) => severity === 'error')
    .map(({ code }) => code);

describe('what a version refuses', () => {
  const x = value('x', [4, 16]);
  it.each<[string, OnnxModel, CheckTarget, string[]]>([
    ['an operator', model([node('Det', ['x'], ['y'])], [x], ['y']), tensorrt('11.2'), ['unsupported-op']],
    ['an operator of TensorRT only', model([node('NonZero', ['x'], ['y'])], [x], ['y']), rtx, ['unsupported-op']],
    ['not in TensorRT', model([node('NonZero', ['x'], ['y'])], [x], [value('y', null, 'int64')]), tensorrt('10.6'), []],
    [
      'a later operator',
      model([node('Attention', ['x', 'x', 'x'], ['y'])], [x], ['y']),
      tensorrt('10.6'),
      ['unsupported-op'],
    ],
    [
      'a type of an input',
      model([node('Relu', ['x'], ['y'])], [value('x', [4], 'uint16')], ['y']),
      rtx,
      ['unsupported-type'],
    ],
    [
      'a type of an operator',
      model([node('Relu', ['x'], ['y'])], [value('x', [4], 'int32')], ['y']),
      rtx,
      ['unsupported-type'],
    ],
    [
      'Squeeze without axes',
      model([node('Squeeze', ['x'], ['y'])], [value('x', ['b', 1])], ['y']),
      tensorrt('10.6'),
      ['unsupported-form'],
    ],
    ['not by TensorRT-RTX', model([node('Squeeze', ['x'], ['y'])], [value('x', ['b', 1])], ['y']), rtx, []],
    [
      'an axis twice',
      model([node('Unsqueeze', ['x', 'a'], ['y'])], [value('x', [2, 4])], ['y'], [ints('a', [0, -4])]),
      rtx,
      ['shape-mismatch'],
    ],
    [
      'not by TensorRT 10.6, which builds it',
      model([node('Unsqueeze', ['x', 'a'], ['y'])], [value('x', [2, 4])], ['y'], [ints('a', [0, -4])]),
      tensorrt('10.6'),
      [],
    ],
    // "Node has more output tensors than TRT expected, expected output size is 2, actual output size is 1."
    [
      'an output without a name',
      model([node('TopK', ['x', 'k'], ['y', ''])], [x], ['y'], [ints('k', [3])]),
      tensorrt('10.6'),
      ['unsupported-form'],
    ],
    // "For instance/group normalization, the scale is expected to match the output at the channel dimension 1"
    [
      'a scale of each channel, not each group',
      model(
        [node('GroupNormalization', ['x', 's', 's'], ['y'], { attributes: [attribute('num_groups', 2)] })],
        [x],
        ['y'],
        [ints('s', [1, 1, 1, 1])],
      ),
      tensorrt('10.6'),
      ['unsupported-form'],
    ],
    // "unsupported input type and output type for ICastLayer, unsupported types are: {FP8, Int4}"
    [
      'Cast to FP8',
      model(
        [node('Cast', ['x'], ['y'], { attributes: [attribute('to', 17)] })],
        [x],
        [value('y', null, 'float8e4m3fn')],
      ),
      tensorrt('10.6'),
      ['unsupported-type'],
    ],
    // "Assertion !isInFlight(p.second.outputExtents) failed."
    [
      'an output that is declared of another type',
      model([node('Relu', ['x'], ['y'])], [x], [value('y', [4, 16], 'int32')]),
      tensorrt('10.6'),
      ['model-invalid'],
    ],
    ['a plugin', model([node('CropAndResizeDynamic', ['x'], ['y'])], [x], ['y']), tensorrt('10.6'), []],
    [
      'an axis twice in a reduction',
      model([node('ReduceSum', ['x', 'a'], ['y'])], [value('x', [2, 4])], ['y'], [ints('a', [1, -1])]),
      rtx,
      [],
    ],
    ['Squeeze of fixed shapes', model([node('Squeeze', ['x'], ['y'])], [value('x', [4, 1])], ['y']), rtx, []],
    [
      'Loop without a condition',
      model([node('Loop', ['m', '', 'x'], ['y'])], [x, value('m', [], 'int64')], ['y']),
      rtx,
      ['control-flow'],
    ],
    [
      'not where its body decides by itself',
      model(
        [
          node('Loop', ['m', '', 'x'], ['y'], {
            subgraphs: [
              {
                attribute: 'body',
                graph: {
                  name: 'b',
                  path: '0/body/',
                  nodes: [node('IsNaN', ['c'], ['k'], { id: '0/body/0' })],
                  inputs: [value('i', [], 'int64'), value('go', [], 'bool'), value('c', [])],
                  outputs: [value('k', [], 'bool'), value('c', [])],
                  values: [],
                  initializers: [],
                },
              },
            ],
          }),
        ],
        [value('x', []), value('m', [], 'int64')],
        ['y'],
      ),
      rtx,
      [],
    ],
    ...(
      [
        ['sizes', 'round_prefer_floor', ['unsupported-form']],
        ['scales', 'floor', ['unsupported-form']],
        ['scales', 'round_prefer_floor', []],
      ] as const
    ).map(([by, rounded, expected]): [string, OnnxModel, CheckTarget, string[]] => [
      `tf_half_pixel_for_nn with ${by} and ${rounded}`,
      model(
        [
          node('Resize', by === 'sizes' ? ['x', '', '', 's'] : ['x', '', 's'], ['y'], {
            attributes: [
              { name: 'coordinate_transformation_mode', kind: 'string', value: 'tf_half_pixel_for_nn' },
              { name: 'nearest_mode', kind: 'string', value: rounded },
            ],
          }),
        ],
        [value('x', [1, 1, 4, 4])],
        ['y'],
        [ints('s', [1, 1, 8, 8])],
      ),
      rtx,
      [...expected],
    ]),
    ...[11, 16].map((dtype): [string, OnnxModel, CheckTarget, string[]] => [
      `random numbers of type ${dtype}`,
      model([node('RandomUniformLike', ['x'], ['y'], { attributes: [attribute('dtype', dtype)] })], [x], ['y']),
      rtx,
      ['unsupported-type'],
    ]),
    [
      'a long name of an input',
      model([node('Relu', ['x'.repeat(4097)], ['y'])], [value('x'.repeat(4097), [4])], ['y']),
      rtx,
      ['model-invalid'],
    ],
    // Built with TensorRT-RTX 1.7.1: "Attention operation was not supported by a dedicated kernel".
    ...(
      [
        [true, []],
        [false, ['no-implementation']],
      ] as const
    ).map(([isDecomposed, expected]): [string, OnnxModel, CheckTarget, string[]] => [
      `causal Attention in FP32 that is ${isDecomposed ? '' : 'not '}decomposed`,
      model(
        [
          node('Attention', ['q', 'k', 'v'], ['y'], {
            attributes: [
              attribute('is_causal', 1),
              attribute('q_num_heads', 4),
              attribute('kv_num_heads', 4),
              ...(isDecomposed ? [attribute('TRT_decomposable', 1)] : []),
            ],
          }),
        ],
        ['q', 'k', 'v'].map((name) => value(name, [1, 6, 32])),
        ['y'],
      ),
      rtx,
      [...expected],
    ]),
    // Built with TensorRT-RTX 1.7.1, in FP16 and BF16.
    ...(
      [
        [8, 4, {}, ['no-implementation']],
        [9, 4, {}, []],
        [256, 4, {}, []],
        [257, 4, {}, ['no-implementation']],
        [8, 4, { TRT_decomposable: 1 }, []],
        [8, 3, {}, []],
        [8, 3, { is_causal: 1 }, ['no-implementation']],
      ] as const
    ).map(([size, rank, more, expected]): [string, OnnxModel, CheckTarget, string[]] => [
      `${rank}-D Attention of head size ${size} ${Object.keys(more).join('')}`,
      model(
        [
          node('Attention', ['q', 'k', 'v'], ['y'], {
            attributes: Object.entries({ ...(rank === 3 && { q_num_heads: 2, kv_num_heads: 2 }), ...more }).map(
              ([name, number]) => attribute(name, number),
            ),
          }),
        ],
        ['q', 'k', 'v'].map((name) =>
          value(name, rank === 4 ? [2, 2, 16, size] : [2, 16, 2 * size], size === 9 ? 'bfloat16' : 'float16'),
        ),
        ['y'],
      ),
      rtx,
      [...expected],
    ]),
    // Its builder crashes, decomposed or not, also where the key is a copy that it merges with the query.
    ...(
      [
        [['x', 'x', 'v'], ['unsupported-form']],
        [['x', 'i', 'v'], ['unsupported-form']],
        [['t', 'u', 'v'], ['unsupported-form']],
        [['x', 'v', 'v'], []],
        [['x', 'v', 'x'], []],
      ] as const
    ).map(([inputs, expected]): [string, OnnxModel, CheckTarget, string[]] => [
      `Attention of ${inputs.join(', ')}`,
      model(
        [
          node('Identity', ['x'], ['i']),
          node('Transpose', ['x'], ['t'], { attributes: [{ name: 'perm', kind: 'ints', value: [0, 2, 1, 3] }] }),
          node('Transpose', ['i'], ['u'], { attributes: [{ name: 'perm', kind: 'ints', value: [0, 2, 1, 3] }] }),
          node('Attention', [...inputs], ['y'], { attributes: [attribute('TRT_decomposable', 1)] }),
        ],
        ['x', 'v'].map((name) => value(name, [2, 16, 16, 64], 'float16')),
        ['y', 'i', 't', 'u'],
      ),
      rtx,
      [...expected],
    ]),
    // TensorRT takes a scalar for one element.
    ...(
      [
        [[2, 4], [], ['shape-mismatch']],
        [[], [2, 4], ['shape-mismatch']],
        [[], [], ['shape-mismatch']],
        [[2, 1], [], []],
        [['a', 'b'], [], []],
      ] as const
    ).map(([a, b, expected]): [string, OnnxModel, CheckTarget, string[]] => [
      `MatMul of ${a.join('×') || 'a scalar'} and ${b.join('×') || 'a scalar'}`,
      model([node('MatMul', ['a', 'b'], ['y'])], [value('a', [...a]), value('b', [...b])], ['y']),
      rtx,
      [...expected],
    ]),
    ['Cast without a type', model([node('Cast', ['x'], ['y'])], [x], ['y']), rtx, ['model-invalid']],
    [
      'Mod of INT8',
      model([node('Mod', ['x', 'x'], ['y'])], [value('x', [4], 'int8')], [value('y', [4], 'int8')]),
      rtx,
      ['unsupported-type'],
    ],
    [
      'a call that leaves out an input',
      {
        ...model([node('F', ['x', ''], ['y'], { domain: 'f' })], [x], ['y']),
        functions: [
          {
            name: 'F',
            domain: 'f',
            overload: '',
            inputs: ['a', 'b'],
            outputs: ['c'],
            nodes: [node('Relu', ['a'], ['c'])],
          },
        ],
      },
      rtx,
      ['model-invalid'],
    ],
    [
      'a function that calls itself',
      {
        ...model([node('F', ['x'], ['y'], { domain: 'f' })], [x], ['y']),
        functions: [
          {
            name: 'F',
            domain: 'f',
            overload: '',
            inputs: ['a'],
            outputs: ['c'],
            nodes: [node('F', ['a'], ['c'], { domain: 'f' })],
          },
        ],
      },
      rtx,
      ['model-invalid'],
    ],
    ['a Reshape to nothing', model([node('Reshape', ['x'], ['y'])], [x], ['y']), rtx, ['model-invalid']],
    ['a Cast to nothing', model([node('Cast', ['x'], ['y'])], [x], ['y']), rtx, ['model-invalid']],
    [
      'a function that has the name of an operator with attributes',
      {
        ...model([node('Cast', ['x'], ['y'], { domain: 'f' })], [x], ['y']),
        functions: [
          {
            name: 'Cast',
            domain: 'f',
            overload: '',
            inputs: ['a'],
            outputs: ['c'],
            nodes: [node('Relu', ['a'], ['c'])],
          },
        ],
      },
      rtx,
      [],
    ],
    [
      'a large TopK',
      model([node('TopK', ['x', 'k'], ['y', 'i'])], [x], ['y'], [ints('k', [4000])]),
      rtx,
      ['unsupported-form'],
    ],
    [
      'mixed types',
      model([node('Add', ['x', 'z'], ['y'])], [x, value('z', [4, 16], 'float16')], ['y']),
      rtx,
      ['type-mismatch'],
    ],
    [
      'mixed types with casts',
      model([node('Add', ['x', 'z'], ['y'])], [x, value('z', [4, 16], 'float16')], ['y']),
      tensorrt('10.6'),
      [],
    ],
    [
      'training',
      model(
        [node('BatchNormalization', ['x', 'x', 'x', 'x', 'x'], ['y'], { attributes: [attribute('training_mode', 1)] })],
        [x],
        ['y'],
      ),
      rtx,
      ['unsupported-form'],
    ],
    ['a tensor that nothing gives', model([node('Add', ['x', 'lost'], ['y'])], [x], ['y']), rtx, ['model-invalid']],
    ['an output that nothing gives', model([node('Relu', ['x'], ['y'])], [x], ['z']), rtx, ['model-invalid']],
    [
      'a cycle',
      model([node('Add', ['x', 'b'], ['a']), node('Abs', ['a'], ['b']), node('Neg', ['a'], ['y'])], [x], ['y']),
      rtx,
      ['model-unreadable'],
    ],
    ['a node that reads itself', model([node('Add', ['x', 'y'], ['y'])], [x], ['y']), rtx, ['model-unreadable']],
    ['nodes in any order', model([node('Abs', ['a'], ['y']), node('Relu', ['x'], ['a'])], [x], ['y']), rtx, []],
    [
      'a tensor given twice',
      model([node('Relu', ['x'], ['a']), node('Abs', ['x'], ['a']), node('Neg', ['a'], ['y'])], [x], ['y']),
      rtx,
      ['model-invalid'],
    ],
    [
      'an input given again',
      model([node('Relu', ['x'], ['x']), node('Abs', ['x'], ['y'])], [x], ['y']),
      rtx,
      ['model-invalid'],
    ],
    ['two inputs of one name', model([node('Relu', ['x'], ['y'])], [x, x], ['y']), rtx, ['model-invalid']],
    [
      'two initializers of one name',
      model([node('Relu', ['x'], ['y'])], [x], ['y'], [ints('w', [1]), ints('w', [2])]),
      rtx,
      ['model-invalid'],
    ],
    [
      'an initializer that is an input',
      model([node('Relu', ['x'], ['y'])], [x, value('w', [1], 'int64')], ['y'], [ints('w', [1])]),
      rtx,
      [],
    ],
    ['a dropped GPU', model([node('Relu', ['x'], ['y'])], [x], ['y']), tensorrt('10.6', '6.1'), ['gpu-unsupported']],
    ['not in its last version', model([node('Relu', ['x'], ['y'])], [x], ['y']), tensorrt('8.6', '6.1'), []],
    ['a new GPU', model([node('Relu', ['x'], ['y'])], [x], ['y']), tensorrt('10.7', '12.0'), ['gpu-unsupported']],
  ])('%s', (_, one, target, expected) => {
    expect(errors(one, target)).toEqual(expected);
  });

  it('says that a dead node blocks, and that removing it suffices', () => {
    const dead = model([node('Relu', ['x'], ['y']), node('Det', ['x'], ['d'])], [x], ['y']);
    expect(checkModel(dead, rtx)).toMatchObject([{ nodes: ['1'], repair: 'remove-dead-nodes' }]);
  });

  it('knows that an Einsum needs an equation', () => {
    expect(errors(model([node('Einsum', ['x'], ['y'])], [value('x', [2, 3])], ['y']), rtx)).toEqual(['model-invalid']);
  });

  it.each(['constructor', 'toString', '__proto__'])('has no operator %s, which every object has', (op) => {
    const net = model([node(op, ['x'], ['y'])], [value('x', [2])], ['y']);
    expect(errors(net, rtx)).toEqual(['unsupported-op']);
  });

  it('compares the bytes of a tensor with its shape, but not those of a sparse or scattered one', () => {
    const stored = (more: { scattered?: true; sparse?: true }) => {
      const net = model([node('Relu', ['x'], ['y'])], [value('x', [2])], ['y']);
      const { sparse, ...inline } = more;
      const data = { inline: { offset: 0, length: 8, ...inline } };
      const weight: OnnxTensor = { name: 'w', type: 'float', shape: [3], data, ...(sparse && { sparse }) };
      (net.graph.initializers as OnnxTensor[]).push(weight);
      return net;
    };
    expect(errors(stored({}), rtx)).toEqual(['model-invalid']);
    expect(errors(stored({ scattered: true }), rtx)).toEqual([]);
    expect(errors(stored({ sparse: true }), rtx)).toEqual([]);
  });

  it('names the nodes of a cycle and of a repeated name', () => {
    const cycle = model(
      [node('Relu', ['x'], ['y']), node('Add', ['x', 'b'], ['a']), node('Abs', ['a'], ['b'])],
      [x],
      ['y'],
    );
    expect(checkModel(cycle, rtx)[0]!.nodes.toSorted()).toEqual(['1', '2']);
    const twice = model([node('Relu', ['x'], ['y']), node('Abs', ['x'], ['y'])], [x], ['y']);
    expect(checkModel(twice, rtx)[0]!.nodes).toEqual(['0', '1']);
  });

  it('says where its tables are not of the version asked for', () => {
    expect(tableBasis(tensorrt('10.12'))).toMatch(/interpolated between 10\.10 and 10\.15/);
    expect(['8.6', '10.10', '10.15', '11.2'].map((version) => tableBasis(tensorrt(version)))).toEqual(['', '', '', '']);
  });

  it('counts equal problems once, with all nodes', () => {
    const twice = model([node('Det', ['x'], ['a']), node('Det', ['x'], ['b'])], [x], ['a', 'b']);
    expect(checkModel(twice, rtx)).toMatchObject([{ code: 'unsupported-op', nodes: ['0', '1'] }]);
  });

  it('warns of a foreign domain, whose operator is imported as another', () => {
    const foreign = model([node('Relu', ['x'], ['y'], { domain: 'my.ops' })], [x], ['y']);
    expect(checkModel(foreign, rtx)).toMatchObject([{ severity: 'warning', code: 'foreign-domain' }]);
  });
});

describe('shapes', () => {
  const add = model([node('Add', ['x', 'z'], ['y'])], [value('x', ['?', 3]), value('z', ['?', 3])], ['y']);
  const given = (input: string, shape: number[]) => ({ input, min: shape, opt: shape, max: shape });
  it.each([
    ['fit', [given('x', [2, 3]), given('z', [2, 3])], []],
    ['differ where one name makes them equal', [given('x', [2, 3]), given('z', [4, 3])], ['shape-mismatch']],
    ['change a fixed dimension', [given('x', [2, 5]), given('z', [2, 3])], ['profile-inconsistent']],
    ['have another rank', [given('x', [2]), given('z', [2, 3])], ['profile-inconsistent']],
    ['are for an unknown input', [given('x', [2, 3]), given('z', [2, 3]), given('w', [1])], ['unknown-input']],
    ['miss a dynamic input', [given('x', [2, 3])], ['profile-missing']],
  ])('%s', (_, shapes, expected) => {
    expect(errors(add, rtx, shapes)).toEqual(expected);
  });
});

it('raises no alarm on models that were built', async () => {
  const folder = fixturePath('models');
  const built = readdirSync(folder).filter((name) => name.endsWith('.onnx') && name !== 'unsupported_op.onnx');
  expect(built.length).toBeGreaterThan(10);
  for (const name of built) {
    // oxlint-disable-next-line no-await-in-loop -- one model after the other keeps memory low
    const { value: read } = await readModel(bytesOf(readFileSync(join(folder, name))));
    for (const target of [rtx, tensorrt('8.6'), tensorrt('10.6'), tensorrt('11.2')])
      // Built, and computed wrong.
      expect([name, errors(read!, target)]).toEqual([
        name,
        name === 'vit_tiny.onnx' && target.version === '10.6' ? ['known-fault'] : [],
      ]);
  }
});

it('refuses an If of unequal branches unless shapes may decide it', async () => {
  const made = (op: string, input: string[], output: string, attributes: object[] = []) =>
    ({ opType: op, name: output, input, output: [output], attribute: attributes }) as onnx.INodeProto;
  const branch = (name: string, one: onnx.INodeProto) => ({
    name,
    type: 5,
    g: { name, node: [one], output: [{ name: one.output![0] }] },
  });
  const number = (name: string, i: number) => ({ name, type: 2, i });
  const branches = [
    branch('then_branch', made('Relu', ['x'], 't')),
    branch('else_branch', made('ReduceMax', ['x'], 'e', [number('keepdims', 0)])),
  ];
  const found = async (condition: onnx.INodeProto[]) => {
    const graph = {
      name: 'g',
      node: [...condition, made('If', ['c'], 'y', branches)],
      input: [{ name: 'x', type: { tensorType: { elemType: 1, shape: { dim: [{ dimValue: 2 }, { dimValue: 3 }] } } } }],
      output: [{ name: 'y' }],
    };
    const bytes = onnx.ModelProto.encode({ irVersion: 8, opsetImport: [{ domain: '', version: 17 }], graph }).finish();
    return checkModel((await readModel(bytesOf(bytes))).value!, tensorrt('10.6')).filter(
      ({ code }) => code === 'control-flow',
    );
  };
  const sum = made('ReduceSum', ['x'], 's', [number('keepdims', 0)]);
  expect(await found([sum, made('Cast', ['s'], 'c', [number('to', 9)])])).toMatchObject([
    { severity: 'error', repair: 'known-branch', message: expect.stringContaining('different rank') },
  ]);
  expect(await found([made('Size', ['x'], 's'), made('Cast', ['s'], 'c', [number('to', 9)])])).toEqual([]);
});

it('refuses arithmetic of UINT8, and names the repair', () => {
  const add = model([node('Add', ['a', 'b'], ['y'])], [value('a', [4], 'uint8'), value('b', [4], 'uint8')], ['y']);
  for (const target of [tensorrt('10.6'), tensorrt('11.2'), rtx])
    expect(checkModel(add, target)).toContainEqual(
      expect.objectContaining({ severity: 'error', code: 'unsupported-type', repair: 'narrow-integers' }),
    );
});

const floats = (name: string, values: number[]) => ({
  name,
  type: 'float',
  shape: values.length === 1 ? [] : [values.length],
  data: null,
  floats: values,
});
const messages = (one: OnnxModel, target = rtx) => checkModel(one, target).map(({ message }) => message);

it.each([0, -0.5, NaN])('refuses Q/DQ with the scale %d', (scale) => {
  const quantized = (values: number[]) =>
    model([node('QuantizeLinear', ['x', 's'], ['y'])], [value('x', [2, 2])], [value('y', null, 'int8')], [
      floats('s', values),
    ] as never);
  expect(messages(quantized([scale]))).toEqual([expect.stringContaining(`scale ${scale};`)]);
  expect(messages(quantized([0.1, scale]))).toHaveLength(1);
  expect(messages(quantized([0.1]))).toEqual([]);
});

describe('Attention of query and key that are computed alike', () => {
  const attention = (op: string, type: string, weights: [string, string]) =>
    model(
      [
        node(op, ['x', weights[0]], ['q']),
        node(op, ['x', weights[1]], ['k']),
        node('Attention', ['q', 'k', 'x'], ['y'], {
          attributes: [attribute('q_num_heads', 2), attribute('kv_num_heads', 2)],
        }),
      ],
      [value('x', [1, 8, 32], type), value('a', [32], type), value('b', [32], type)],
      ['y'],
    );
  it.each<[string, string, [string, string], boolean]>([
    ['Mul', 'float', ['a', 'a'], true],
    ['Mul', 'float', ['a', 'b'], false],
    // Two products are not merged, nor is what reads more than one tensor in half precision.
    ['MatMul', 'float', ['a', 'a'], false],
    ['Mul', 'float16', ['a', 'a'], false],
  ])('%s of %s by %j crashes the builder: %s', (op, type, weights, crashes) => {
    expect(messages(attention(op, type, weights)).some((text) => text.includes('crashes'))).toBe(crashes);
  });
});

it('refuses a Loop that carries a tensor of changing shape', async () => {
  const typed = (name: string, elemType: number, dims: number[]) => ({
    name,
    type: { tensorType: { elemType, shape: { dim: dims.map((dimValue) => ({ dimValue })) } } },
  });
  const found = async (joined: string[]) => {
    const body = {
      name: 'body',
      node: [
        { opType: 'Identity', input: ['c'], output: ['on'] },
        { opType: 'Concat', input: joined, output: ['w'], attribute: [{ name: 'axis', type: 2, i: 0 }] },
      ],
      input: [typed('i', 7, []), typed('c', 9, []), typed('v', 1, [3])],
      output: [typed('on', 9, []), { name: 'w' }],
    };
    const graph = {
      name: 'g',
      node: [
        { opType: 'Loop', input: ['m', 'go', 'x'], output: ['y'], attribute: [{ name: 'body', type: 5, g: body }] },
      ],
      input: [typed('m', 7, []), typed('go', 9, []), typed('x', 1, [3])],
      output: [{ name: 'y' }],
    } as onnx.IGraphProto;
    const bytes = onnx.ModelProto.encode({ irVersion: 8, opsetImport: [{ domain: '', version: 17 }], graph }).finish();
    return messages((await readModel(bytesOf(bytes))).value!);
  };
  expect(await found(['v', 'v'])).toEqual(['A tensor that Loop carries changes its shape: 3 at first, then 6.']);
  expect(await found(['v'])).toEqual([]);
});

it('advises what TensorRT builds in place of shifts and casts of types that it does not have', () => {
  const shift = model(
    [node('Cast', ['x'], ['u'], { attributes: [attribute('to', 12)] }), node('BitShift', ['u', 's'], ['y'])],
    [value('x', [4])],
    ['y'],
    [{ ...ints('s', [3]), type: 'uint32' }],
  );
  const advice = checkModel(shift, rtx).map((one) => one.advice);
  expect(advice).toContainEqual(expect.stringMatching(/^Store it as INT64.*Div.*Mul and Mod/));
  expect(advice).toContainEqual(expect.stringMatching(/declare an output of the model/));
});

it('refuses a sort whose number of elements follows from shapes, and more indices than elements', () => {
  const sort = model(
    [node('Shape', ['x'], ['s']), node('Gather', ['s', 'last'], ['k']), node('TopK', ['x', 'k'], ['v', 'i'])],
    [value('x', [2, 5000])],
    ['v', 'i'],
    [ints('last', [1])],
  );
  expect(checkModel(sort, rtx)).toMatchObject([{ code: 'unsupported-form' }]);
  const scatter = (count: number) =>
    model(
      [node('ScatterElements', ['x', 'i', 'u'], ['y'])],
      [value('x', [4, 3]), value('i', [count, 3], 'int64'), value('u', [count, 3])],
      ['y'],
    );
  expect(checkModel(scatter(6), rtx)).toMatchObject([{ code: 'unsupported-form' }]);
  expect(checkModel(scatter(4), rtx)).toEqual([]);
});

it('takes GridSample of one type, and no other', () => {
  const sampled = (grid: string) =>
    model(
      [node('GridSample', ['x', 'g'], ['y'])],
      [value('x', [1, 2, 4, 4], 'bfloat16'), value('g', [1, 4, 4, 2], grid)],
      ['y'],
    );
  expect(messages(sampled('bfloat16'))).toEqual([]);
  expect(messages(sampled('float'))).toEqual(['GridSample mixes BF16 and FP32.']);
});
