import { hard, profile, w, y, type HardModel } from './hardModel.ts';
import type { Graph, Node, Value, Weight } from './onnxWriter.ts';

const open: Value = ['x', 'float', 'N', 8];
const openY: Value = ['y', 'float', 'N', 8];
const dynamic = { inputs: [open], outputs: [openY], arguments: profile('x', [1, 8], [4, 8], [16, 8]) };
const indices: Weight[] = [
  ['zero', 'int64', [], 0],
  ['axis', 'int64', [1], 0],
  ['eight', 'int64', [1], 8],
  ['minus', 'int64', [1], -1],
];
/** Reshapes `from` by the first dimension that it reads of `of`. */
const byShapeOf = (of: string, from: string, to: string): Node[] => [
  ['shape', 'Shape', [of], ['s']],
  ['n', 'Gather', ['s', 'zero'], ['b']],
  ['un', 'Unsqueeze', ['b', 'axis'], ['b1']],
  ['cat', 'Concat', ['b1', 'minus'], ['t'], { axis: 0 }],
  ['reshape', 'Reshape', [from, 't'], [to]],
];

/** Shapes that the file declares and the build contradicts. */
const declarations: HardModel[] = [
  hard('stale_batch', [['relu', 'Relu', ['x'], ['p']], ...byShapeOf('p', 'p', 'r'), ['tanh', 'Tanh', ['r'], ['y']]], {
    ...dynamic,
    weights: indices,
    values: [['p', 'float', 1, 8]],
  }),
  hard(
    'stale_batch_far',
    [
      ['relu', 'Relu', ['x'], ['p']],
      ['mm', 'MatMul', ['p', 'w'], ['q']],
      ['add', 'Add', ['q', 'p'], ['k']],
      ...byShapeOf('k', 'k', 'r'),
      ['tanh', 'Tanh', ['r'], ['y']],
    ],
    {
      ...dynamic,
      weights: [w, ...indices],
      values: [
        ['q', 'float', 1, 8],
        ['k', 'float', 1, 8],
      ],
    },
  ),
  hard(
    'stale_size',
    [
      ['relu', 'Relu', ['x'], ['p']],
      ['size', 'Size', ['p'], ['n']],
      ['cast', 'Cast', ['n'], ['f'], { to: 1 }],
      ['div', 'Div', ['p', 'f'], ['y']],
    ],
    {
      ...dynamic,
      values: [['p', 'float', 1, 8]],
    },
  ),
  hard('stale_output', [['relu', 'Relu', ['x'], ['p']], ...byShapeOf('p', 'p', 'y')], {
    ...dynamic,
    outputs: [['y', 'float', 1, 8]],
    weights: indices,
    values: [['p', 'float', 1, 8]],
  }),
  hard('stale_static', [['relu', 'Relu', ['x'], ['p']], ...byShapeOf('p', 'p', 'r'), ['tanh', 'Tanh', ['r'], ['y']]], {
    weights: indices,
    values: [['p', 'float', 1, 8]],
  }),
  hard(
    'stale_condition',
    [
      ['relu', 'Relu', ['x'], ['p']],
      ['shape', 'Shape', ['p'], ['s']],
      ['n', 'Gather', ['s', 'zero'], ['b']],
      ['equal', 'Equal', ['b', 'one'], ['c']],
      ['cast', 'Cast', ['c'], ['f'], { to: 1 }],
      ['mul', 'Mul', ['p', 'f'], ['y']],
    ],
    {
      ...dynamic,
      weights: [
        ['zero', 'int64', [], 0],
        ['one', 'int64', [], 1],
      ],
      values: [['p', 'float', 1, 8]],
    },
  ),
  hard(
    'declared_symbol_apart',
    [['relu', 'Relu', ['x'], ['p']], ...byShapeOf('p', 'p', 'r'), ['tanh', 'Tanh', ['r'], ['y']]],
    { ...dynamic, weights: indices, values: [['p', 'float', 'M', 8]] },
  ),
  hard(
    'declared_more_than_inferred',
    [
      ['flat', 'Reshape', ['x', 'minus'], ['p']],
      ['shape', 'Shape', ['p'], ['s']],
      ['cast', 'Cast', ['s'], ['f'], { to: 1 }],
      ['mul', 'Mul', ['p', 'f'], ['q']],
      ['fold', 'Reshape', ['q', 'back'], ['y']],
    ],
    {
      ...dynamic,
      weights: [
        ['minus', 'int64', [1], -1],
        ['back', 'int64', [2], [-1, 8]],
      ],
      values: [['p', 'float', 32]],
    },
  ),
  hard(
    'shape_slices_static',
    [
      ['shape', 'Shape', ['x'], ['s']],
      ['cast', 'Cast', ['s'], ['s1'], { to: 6 }],
      ['slice', 'Slice', ['s1', 'axis', 'one'], ['s2']],
      ['squeeze', 'Squeeze', ['s2'], ['s3']],
      ['float', 'Cast', ['s3'], ['f'], { to: 1 }],
      ['mul', 'Mul', ['x', 'f'], ['y']],
    ],
    {
      weights: [
        ['axis', 'int64', [1], 0],
        ['one', 'int64', [1], 1],
      ],
    },
  ),
];

const float = (name: string, ...dims: number[]): Weight => [name, 'float', dims];

/** What depends only on constants, and what TensorRT computes all the same when the engine runs. */
const constants: HardModel[] = [
  hard(
    'constant_softmax',
    [
      ['soft', 'Softmax', ['w'], ['s']],
      ['mm', 'MatMul', ['x', 's'], ['y']],
    ],
    { weights: [w] },
  ),
  hard(
    'constant_topk',
    [
      ['top', 'TopK', ['k4', 'k'], ['v', 'idx'], { axis: 1 }],
      ['add', 'Add', ['x', 'v'], ['y']],
    ],
    {
      weights: [float('k4', 4, 16), ['k', 'int64', [1], 8]],
    },
  ),
  hard(
    'constant_lstm',
    [
      ['lstm', 'LSTM', ['seq', 'lw', 'lr'], ['l'], { hidden_size: 8 }],
      ['drop', 'Squeeze', ['l', 'one'], ['sq']],
      ['sum', 'ReduceSum', ['sq', 'zero'], ['r'], { keepdims: 0 }],
      ['add', 'Add', ['x', 'r'], ['y']],
    ],
    {
      weights: [
        float('seq', 3, 4, 8),
        float('lw', 1, 32, 8),
        float('lr', 1, 32, 8),
        ['one', 'int64', [1], 1],
        ['zero', 'int64', [1], 0],
      ],
    },
  ),
  hard(
    'constant_convolution',
    [
      ['conv', 'Conv', ['img', 'ker'], ['m']],
      ['flat', 'Reshape', ['m', 'to'], ['f']],
      ['add', 'Add', ['x', 'f'], ['y']],
    ],
    { weights: [float('img', 1, 1, 6, 10), float('ker', 1, 1, 3, 3), ['to', 'int64', [2], [4, 8]]] },
  ),
  hard(
    'constant_pool',
    [
      ['pool', 'MaxPool', ['img'], ['m'], { kernel_shape: [3, 3] }],
      ['flat', 'Reshape', ['m', 'to'], ['f']],
      ['add', 'Add', ['x', 'f'], ['y']],
    ],
    {
      weights: [float('img', 1, 1, 6, 10), ['to', 'int64', [2], [4, 8]]],
    },
  ),
  hard(
    'constant_cumsum',
    [
      ['sum', 'CumSum', ['w4', 'k'], ['s']],
      ['add', 'Add', ['x', 's'], ['y']],
    ],
    {
      weights: [float('w4', 4, 8), ['k', 'int64', [], 1]],
    },
  ),
  hard(
    'constant_einsum',
    [
      ['ein', 'Einsum', ['w', 'w'], ['s'], { equation: 'ij,jk->ik' }],
      ['mm', 'MatMul', ['x', 's'], ['y']],
    ],
    {
      weights: [w],
    },
  ),
  hard(
    'constant_chain',
    [
      ['t', 'Transpose', ['w'], ['a'], { perm: [1, 0] }],
      ['mul', 'Mul', ['a', 'half'], ['b']],
      ['sig', 'Sigmoid', ['b'], ['c']],
      ['red', 'ReduceMean', ['c'], ['d'], { axes: [0], keepdims: 1 }],
      ['sub', 'Sub', ['c', 'd'], ['e']],
      ['mm', 'MatMul', ['x', 'e'], ['y']],
    ],
    { weights: [w, ['half', 'float', [], 0.5]] },
  ),
  hard(
    'constant_to_output',
    [
      ['mm', 'MatMul', ['w', 'w'], ['z']],
      ['relu', 'Relu', ['x'], ['y']],
    ],
    {
      weights: [w],
      outputs: [y, ['z', 'float', 8, 8]],
    },
  ),
  hard(
    'constant_where',
    [
      ['cmp', 'Greater', ['w', 'half'], ['c']],
      ['where', 'Where', ['c', 'w', 'half'], ['s']],
      ['mm', 'MatMul', ['x', 's'], ['y']],
    ],
    {
      weights: [w, ['half', 'float', [], 0.1]],
    },
  ),
  hard(
    'constant_gather',
    [
      ['gather', 'Gather', ['table', 'at'], ['s'], { axis: 0 }],
      ['add', 'Add', ['x', 's'], ['y']],
    ],
    {
      weights: [float('table', 16, 8), ['at', 'int64', [4], [3, 1, 2, 0]]],
    },
  ),
];

const pair = (first: string, second: string): Node[] => [
  [first, 'Relu', ['x'], ['a']],
  [second, 'MatMul', ['a', 'w'], ['b']],
  ['last', 'Softmax', ['b'], ['y']],
];

/** Names that are also another thing's. */
const collisions: HardModel[] = [
  hard('name_too_long', pair(`r${'e'.repeat(5000)}`, 'mm'), { weights: [w] }),
  hard('name_long', pair(`r${'e'.repeat(3995)}`, `m${'m'.repeat(4080)}`), { weights: [w] }),
  hard('name_bar_break', pair('a\n|\u001eb', 'c | d\u001f | e'), { weights: [w] }),
  hard('name_token', pair('a]\u001f[ONNX Layer: last', 'b'), { weights: [w] }),
  hard('name_unnamed_of_other', pair('node_of_b', ''), { weights: [w] }),
  hard(
    'name_numbered',
    [
      ['n', 'Relu', ['x'], ['a']],
      ['n', 'MatMul', ['a', 'w'], ['b']],
      ['n_1', 'MatMul', ['b', 'w'], ['d']],
      ['n_0', 'Tanh', ['d'], ['y']],
    ],
    { weights: [w] },
  ),
  hard(
    'name_same_spelling',
    [
      ['/a.b/MatMul', 'MatMul', ['x', 'w'], ['a']],
      ['relu', 'Relu', ['a'], ['p']],
      ['/a_b/MatMul', 'MatMul', ['p', 'w'], ['b']],
      ['soft', 'Softmax', ['b'], ['y']],
    ],
    { weights: [w] },
  ),
  hard('name_escaped', pair('gr\u00f6\u00dfe \\n', 'x\u0301\u4e2d'), { weights: [w] }),
  hard(
    'names_all_one',
    [
      ['n', 'Relu', ['x'], ['a']],
      ['n', 'Relu', ['x'], ['b']],
      ['n', 'MatMul', ['a', 'w'], ['d']],
      ['n', 'MatMul', ['b', 'w'], ['e']],
      ['n', 'Add', ['d', 'e'], ['y']],
    ],
    { weights: [w] },
  ),
  hard(
    'name_clone',
    [
      ['a', 'Relu', ['x'], ['p']],
      ['a_clone_0', 'MatMul', ['p', 'w'], ['b']],
      ['b_clone_1', 'Softmax', ['b'], ['y']],
    ],
    { weights: [w] },
  ),
];

/** One network for two ranges of shapes. */
const two = [...profile('x', [1, 8], [2, 8], [4, 8]), ...profile('x', [8, 8], [16, 8], [64, 8])];
const profiles: HardModel[] = [
  hard('profiles_two', pair('relu', 'mm'), { ...dynamic, weights: [w], arguments: two }),
  hard(
    'profiles_reshape',
    [...byShapeOf('x', 'x', 'r'), ['mm', 'MatMul', ['r', 'w'], ['m']], ['soft', 'Softmax', ['m'], ['y']]],
    {
      ...dynamic,
      weights: [w, ...indices],
      arguments: two,
    },
  ),
  hard('profiles_static_and_open', pair('relu', 'mm'), {
    ...dynamic,
    weights: [w],
    arguments: [...profile('x', [4, 8], [4, 8], [4, 8]), ...profile('x', [1, 8], [16, 8], [64, 8])],
  }),
  hard('profiles_static_shapes', [...byShapeOf('x', 'x', 'r'), ['exp', 'Exp', ['r'], ['y']]], {
    ...dynamic,
    weights: indices,
    arguments: [...profile('x', [4, 8], [4, 8], [4, 8]), ...profile('x', [1, 8], [16, 8], [64, 8])],
  }),
  hard(
    'profiles_condition',
    [
      ['shape', 'Shape', ['x'], ['s']],
      ['n', 'Gather', ['s', 'zero'], ['b']],
      ['less', 'Less', ['b', 'four'], ['c']],
      [
        'if',
        'If',
        ['c'],
        ['y'],
        {
          then_branch: {
            graph: { name: 'then', outputs: [['a', 'float', 'N', 8]], nodes: [['t', 'Relu', ['x'], ['a']]] },
          },
          else_branch: {
            graph: { name: 'else', outputs: [['d', 'float', 'N', 8]], nodes: [['e', 'Neg', ['x'], ['d']]] },
          },
        },
      ],
    ],
    { ...dynamic, weights: [...indices, ['four', 'int64', [], 4]], arguments: two },
  ),
];

/** Pairs of QuantizeLinear and DequantizeLinear around one tensor. */
const scales: Weight[] = [
  ['s', 'float', [], 0.1],
  ['s2', 'float', [], 0.2],
  ['z0', 'int8', [], 0],
];
const qdq = (name: string, from: string, to: string, scale = 's'): Node[] => [
  [`${name}_q`, 'QuantizeLinear', [from, scale, 'z0'], [`${to}_8`]],
  [`${name}_dq`, 'DequantizeLinear', [`${to}_8`, scale, 'z0'], [to]],
];
const image: Pick<Graph, 'inputs' | 'outputs'> = {
  inputs: [['i', 'float', 1, 8, 8, 8]],
  outputs: [['o', 'float', 1, 8, 8, 8]],
};
const kernels: Weight[] = [float('k1', 8, 8, 3, 3), float('k2', 8, 8, 3, 3)];
const conv = (name: string, from: string, weight: string, to: string): Node => [
  name,
  'Conv',
  [from, weight],
  [to],
  { pads: [1, 1, 1, 1], kernel_shape: [3, 3] },
];
const quantized: HardModel[] = [
  hard(
    'quantized_chain',
    [
      ...qdq('in', 'i', 'a'),
      ...qdq('w1', 'k1', 'f1'),
      conv('c1', 'a', 'f1', 'm'),
      ['r', 'Relu', ['m'], ['n']],
      ...qdq('mid', 'n', 'p'),
      ...qdq('w2', 'k2', 'f2'),
      conv('c2', 'p', 'f2', 'o'),
    ],
    { ...image, weights: [...kernels, ...scales] },
  ),
  hard(
    'quantized_half',
    [
      ...qdq('in', 'i', 'a'),
      ...qdq('w1', 'k1', 'f1'),
      conv('c1', 'a', 'f1', 'm'),
      ['r', 'Relu', ['m'], ['n']],
      conv('c2', 'n', 'k2', 'o'),
    ],
    { ...image, weights: [...kernels, ...scales] },
  ),
  hard(
    'quantized_residual',
    [
      ...qdq('in', 'i', 'a'),
      ...qdq('w1', 'k1', 'f1'),
      conv('c1', 'a', 'f1', 'm'),
      ...qdq('sum', 'm', 'b', 's2'),
      ['add', 'Add', ['b', 'a'], ['o']],
    ],
    { ...image, weights: [...kernels, ...scales] },
  ),
  hard(
    'quantized_through_views',
    [
      ...qdq('in', 'x', 'a'),
      ['t', 'Transpose', ['a'], ['b'], { perm: [1, 0] }],
      ...qdq('again', 'b', 'd'),
      ['r', 'Reshape', ['d', 'to'], ['e']],
      ['mm', 'MatMul', ['e', 'w'], ['y']],
    ],
    { weights: [w, ...scales, ['to', 'int64', [2], [4, 8]]] },
  ),
];

/** Nodes that only give data another place or shape, between kernels that name others. */
const views: HardModel[] = [
  hard(
    'views_of_heads',
    [
      ['q', 'MatMul', ['x', 'w'], ['qx']],
      ['k', 'MatMul', ['x', 'w2'], ['kx']],
      ['qr', 'Reshape', ['qx', 'to'], ['q3']],
      ['kr', 'Reshape', ['kx', 'to'], ['k3']],
      ['qt', 'Transpose', ['q3'], ['q4'], { perm: [1, 0, 2] }],
      ['kt', 'Transpose', ['k3'], ['k4'], { perm: [1, 2, 0] }],
      ['scale', 'Mul', ['q4', 'half'], ['q5']],
      ['qk', 'MatMul', ['q5', 'k4'], ['s']],
      ['soft', 'Softmax', ['s'], ['p']],
      ['v', 'MatMul', ['p', 'q4'], ['o']],
      ['ot', 'Transpose', ['o'], ['o3'], { perm: [1, 0, 2] }],
      ['or', 'Reshape', ['o3', 'back'], ['y']],
    ],
    {
      weights: [
        w,
        float('w2', 8, 8),
        ['half', 'float', [], 0.5],
        ['to', 'int64', [3], [4, 2, 4]],
        ['back', 'int64', [2], [4, 8]],
      ],
    },
  ),
  hard(
    'views_split_join',
    [
      ['split', 'Split', ['x'], ['a', 'b'], { axis: 1 }],
      ['sa', 'Softmax', ['a'], ['a1']],
      ['mb', 'MatMul', ['b', 'w4'], ['b1']],
      ['cat', 'Concat', ['b1', 'a1'], ['c'], { axis: 1 }],
      ['sq', 'Unsqueeze', ['c', 'axis'], ['c1']],
      ['red', 'ReduceMean', ['c1'], ['m'], { axes: [2], keepdims: 1 }],
      ['sub', 'Sub', ['c1', 'm'], ['d']],
      ['back', 'Squeeze', ['d', 'axis'], ['y']],
    ],
    { weights: [float('w4', 4, 4), ['axis', 'int64', [1], 0]] },
  ),
  hard(
    'views_only',
    [
      ['r', 'Reshape', ['x', 'to'], ['a']],
      ['t', 'Transpose', ['a'], ['b'], { perm: [1, 0] }],
      ['s', 'Slice', ['b', 'from', 'end', 'from'], ['c']],
      ['u', 'Unsqueeze', ['c', 'from'], ['y']],
    ],
    {
      outputs: [['y', 'float', 1, 8, 4]],
      weights: [
        ['to', 'int64', [2], [4, 8]],
        ['from', 'int64', [1], 0],
        ['end', 'int64', [1], 8],
      ],
    },
  ),
];

export const claims: HardModel[] = [...declarations, ...constants, ...collisions, ...profiles, ...quantized, ...views];
