import { hard, profile, w, x, y, type HardModel } from './hardModel.ts';
import type { Node, Value } from './onnxWriter.ts';

/** Two nodes with odd names between the same tensors. */
const named = (first: string, second: string, middle = 'a'): Node[] => [
  [first, 'Relu', ['x'], [middle]],
  [second, 'MatMul', [middle, 'w'], ['y']],
];
const weights = { weights: [w] };
const dynamic: Value = ['x', 'float', 'batch', 8];
const shapes = {
  inputs: [dynamic],
  outputs: [['y', 'float', 'batch', 8] as Value],
  arguments: profile('x', [1, 8], [4, 8], [16, 8]),
};
const one = { ...shapes, arguments: profile('x', [4, 8], [4, 8], [4, 8]) };

/** Names that break lines, lists and the grammar of fused names. */
/** Reshapes by the batch size that it computes from its input's shape. */
const reshapedByShape = (name: string, more: typeof shapes): HardModel =>
  hard(
    name,
    [
      ['shape', 'Shape', ['x'], ['s']],
      ['n', 'Gather', ['s', 'zero'], ['b']],
      ['un', 'Unsqueeze', ['b', 'axis'], ['b1']],
      ['cat', 'Concat', ['b1', 'eight'], ['t'], { axis: 0 }],
      ['reshape', 'Reshape', ['x', 't'], ['r']],
      ['relu', 'Relu', ['r'], ['y']],
    ],
    {
      ...more,
      weights: [
        ['zero', 'int64', [], 0],
        ['axis', 'int64', [1], 0],
        ['eight', 'int64', [1], 8],
      ],
    },
  );

export const names: HardModel[] = [
  hard('name_line_break', named('re\nlu', 'm\nm'), weights),
  hard('name_carriage_return', named('re\r\nlu', 'mm\r'), weights),
  hard('name_tab', named('re\tlu', 'm\tm'), weights),
  hard('name_separators', named('re\u001elu', 'm\u001fm'), weights),
  hard('name_bell', named('re\u0007lu', 'm\u001bm'), weights),
  hard('name_next_line', named('re\u0085lu', 'm\u2028m'), weights),
  hard('name_leading_break', named('\nrelu', 'mm\n'), weights),
  hard('name_blank_line', named('re\n\nlu', 'm\n\nm\n'), weights),
  hard('name_brackets', named('a] [ONNX Layer: b', 'c | d (If)'), weights),
  hard('name_plus', named('a + b', 'a || b'), weights),
  hard('name_pwn', named('PWN(a, b)', 'x copy'), weights),
  hard('name_dots', named('a...b', '{ForeignNode[a...b]}'), weights),
  hard('name_kernel', named('relu_myl0_0', '__myl_Relu_myl0_1'), weights),
  hard('name_of_tensor', named('y', 'x'), weights),
  hard('name_unicode', named('größe', '节点'), weights),
  hard('name_quotes', named('"a"', "b'c\\d"), weights),
  hard(
    'name_suffix',
    [
      ['n', 'Relu', ['x'], ['a']],
      ['n_0', 'MatMul', ['a', 'w'], ['b']],
      ['n', 'Tanh', ['b'], ['y']],
    ],
    weights,
  ),
  hard('name_spaces', named(' relu ', 'm m'), weights),
  hard(
    'names_shared',
    [
      ['n', 'Relu', ['x'], ['a']],
      ['n', 'MatMul', ['a', 'w'], ['b']],
      ['n', 'Relu', ['b'], ['c']],
      ['n', 'MatMul', ['c', 'w'], ['d']],
      ['n', 'Softmax', ['d'], ['y']],
    ],
    weights,
  ),
  hard(
    'names_missing',
    [
      ['', 'Relu', ['x'], ['a']],
      ['', 'MatMul', ['a', 'w'], ['b']],
      ['', 'Softmax', ['b'], ['y']],
    ],
    weights,
  ),
  hard(
    'name_like_unnamed',
    [
      ['node_of_b', 'Relu', ['x'], ['a']],
      ['', 'MatMul', ['a', 'w'], ['b']],
      ['', 'Softmax', ['b'], ['y']],
    ],
    weights,
  ),
  hard(
    'first_output_empty',
    [
      ['top', 'TopK', ['x', 'k'], ['', 'idx'], { axis: 1 }],
      ['cast', 'Cast', ['idx'], ['y'], { to: 1 }],
    ],
    { weights: [['k', 'int64', [1], 8]] },
  ),
  hard(
    'first_output_empty_unnamed',
    [
      ['', 'TopK', ['x', 'k'], ['', 'idx'], { axis: 1 }],
      ['', 'Cast', ['idx'], ['y'], { to: 1 }],
    ],
    { weights: [['k', 'int64', [1], 8]] },
  ),
  hard(
    'optional_inputs',
    [
      ['clip', 'Clip', ['x', '', 'most'], ['a']],
      ['resize', 'Resize', ['i', '', 'scales'], ['z'], { mode: 'nearest' }],
      ['relu', 'Relu', ['a'], ['y']],
    ],
    {
      inputs: [x, ['i', 'float', 1, 1, 4, 4]],
      outputs: [y, ['z', 'float', 1, 1, 8, 8]],
      weights: [
        ['most', 'float', [], 1],
        ['scales', 'float', [4], [1, 1, 2, 2]],
      ],
    },
  ),
  hard(
    'topk',
    [
      ['top', 'TopK', ['x', 'k'], ['v', 'idx'], { axis: 1 }],
      ['relu', 'Relu', ['v'], ['y']],
    ],
    { weights: [['k', 'int64', [1], 8]], outputs: [y, ['idx', 'int64', 4, 8]] },
  ),
  hard('split_concat', [
    ['split', 'Split', ['x'], ['a', 'b'], { axis: 1 }],
    ['relu', 'Relu', ['a'], ['c']],
    ['cat', 'Concat', ['c', 'b'], ['y'], { axis: 1 }],
  ]),
  hard('concat_of_input', [['cat', 'Concat', ['x', 'x'], ['y'], { axis: 0 }]], { outputs: [['y', 'float', 8, 8]] }),
  hard('gather', [['gather', 'Gather', ['table', 'i'], ['y'], { axis: 0 }]], {
    inputs: [['i', 'int64', 4]],
    weights: [['table', 'float', [16, 8]]],
  }),
  hard(
    'quantized',
    [
      ['qx', 'QuantizeLinear', ['x', 's', 'z'], ['xq']],
      ['dx', 'DequantizeLinear', ['xq', 's', 'z'], ['xd']],
      ['qw', 'QuantizeLinear', ['w', 's', 'z'], ['wq']],
      ['dw', 'DequantizeLinear', ['wq', 's', 'z'], ['wd']],
      ['mm', 'MatMul', ['xd', 'wd'], ['m']],
      ['qm', 'QuantizeLinear', ['m', 's', 'z'], ['mq']],
      ['dm', 'DequantizeLinear', ['mq', 's', 'z'], ['y']],
    ],
    { weights: [w, ['s', 'float', [], 0.1], ['z', 'int8', [], 0]] },
  ),
  hard(
    'quantized_conv',
    [
      ['qx', 'QuantizeLinear', ['i', 's', 'z'], ['xq']],
      ['dx', 'DequantizeLinear', ['xq', 's', 'z'], ['xd']],
      ['qw', 'QuantizeLinear', ['k', 's', 'z'], ['wq']],
      ['dw', 'DequantizeLinear', ['wq', 's', 'z'], ['wd']],
      ['conv', 'Conv', ['xd', 'wd'], ['m']],
      ['relu', 'Relu', ['m'], ['z0']],
    ],
    {
      inputs: [['i', 'float', 1, 8, 8, 8]],
      outputs: [['z0', 'float', 1, 8, 6, 6]],
      weights: [
        ['k', 'float', [8, 8, 3, 3]],
        ['s', 'float', [], 0.1],
        ['z', 'int8', [], 0],
      ],
    },
  ),
  hard(
    'conv_bn_relu',
    [
      ['conv', 'Conv', ['i', 'k'], ['m']],
      ['bn', 'BatchNormalization', ['m', 'p', 'p', 'p', 'p'], ['n']],
      ['relu', 'Relu', ['n'], ['z']],
    ],
    {
      inputs: [['i', 'float', 1, 8, 8, 8]],
      outputs: [['z', 'float', 1, 8, 6, 6]],
      weights: [
        ['k', 'float', [8, 8, 3, 3]],
        ['p', 'float', [8], 1],
      ],
    },
  ),
  hard(
    'gemm_softmax',
    [
      ['gemm', 'Gemm', ['x', 'w', 'b'], ['g']],
      ['soft', 'Softmax', ['g'], ['y']],
    ],
    { weights: [w, ['b', 'float', [8]]] },
  ),
  hard(
    'attention',
    [
      ['q', 'MatMul', ['x', 'w'], ['qq']],
      ['kt', 'Transpose', ['x'], ['k'], { perm: [1, 0] }],
      ['qk', 'MatMul', ['qq', 'k'], ['s']],
      ['scale', 'Div', ['s', 'c'], ['sc']],
      ['soft', 'Softmax', ['sc'], ['p']],
      ['pv', 'MatMul', ['p', 'x'], ['y']],
    ],
    { weights: [w, ['c', 'float', [], 2.8]] },
  ),
  hard(
    'dynamic_batch',
    [
      ['relu', 'Relu', ['x'], ['a']],
      ['mm', 'MatMul', ['a', 'w'], ['y']],
    ],
    { ...shapes, weights: [w] },
  ),
  reshapedByShape('dynamic_one_shape', one),
  reshapedByShape('dynamic_reshape', shapes),
  hard(
    'dynamic_shape_output',
    [
      ['shape', 'Shape', ['x'], ['s']],
      ['relu', 'Relu', ['x'], ['y']],
    ],
    {
      ...shapes,
      outputs: [
        ['y', 'float', 'batch', 8],
        ['s', 'int64', 2],
      ],
    },
  ),
  hard(
    'dynamic_shape_to_data',
    [
      ['shape', 'Shape', ['x'], ['s']],
      ['cast', 'Cast', ['s'], ['f'], { to: 1 }],
      ['prod', 'ReduceProd', ['f'], ['p']],
      ['div', 'Div', ['x', 'p'], ['y']],
    ],
    shapes,
  ),
  hard(
    'dynamic_fill',
    [
      ['shape', 'Shape', ['x'], ['s']],
      ['fill', 'ConstantOfShape', ['s'], ['r'], { value: { tensor: ['', 'float', [1], 2] } }],
      ['add', 'Add', ['x', 'r'], ['y']],
    ],
    shapes,
  ),
  hard(
    'dynamic_range',
    [
      ['shape', 'Shape', ['x'], ['s']],
      ['n', 'Gather', ['s', 'zero'], ['b']],
      ['range', 'Range', ['zero', 'b', 'one'], ['i']],
      ['cast', 'Cast', ['i'], ['f'], { to: 1 }],
      ['un', 'Unsqueeze', ['f', 'axis'], ['c']],
      ['add', 'Add', ['x', 'c'], ['y']],
    ],
    {
      ...shapes,
      weights: [
        ['zero', 'int64', [], 0],
        ['one', 'int64', [], 1],
        ['axis', 'int64', [1], 1],
      ],
    },
  ),
  hard(
    'dynamic_random',
    [
      ['rnd', 'RandomNormalLike', ['x'], ['r'], { dtype: 1 }],
      ['add', 'Add', ['x', 'r'], ['y']],
    ],
    shapes,
  ),
  hard(
    'dynamic_if',
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
            graph: { name: 'then', outputs: [['p', 'float', 'batch', 8]], nodes: [['t', 'Relu', ['x'], ['p']]] },
          },
          else_branch: {
            graph: { name: 'else', outputs: [['q', 'float', 'batch', 8]], nodes: [['e', 'Neg', ['x'], ['q']]] },
          },
        },
      ],
    ],
    {
      ...shapes,
      weights: [
        ['zero', 'int64', [], 0],
        ['four', 'int64', [], 4],
      ],
    },
  ),
  hard(
    'nonzero',
    [
      ['nz', 'NonZero', ['x'], ['i']],
      ['cast', 'Cast', ['i'], ['y'], { to: 1 }],
    ],
    { outputs: [['y', 'float', 2, 'found']] },
  ),
  hard('marked_output', named('relu', 'mm'), { ...weights, arguments: ['--output', 'a'] }),
];
