import { hard, w, type HardModel } from './hardModel.ts';

const relu8 = ['float', 4, 8] as const;

/** Nodes that change nothing, or nearly nothing, in every place where one may stand. */
export const identities: HardModel[] = [
  hard('identity_through', [['pass', 'Identity', ['x'], ['y']]]),
  hard('identity_unnamed', [['', 'Identity', ['x'], ['y']]]),
  hard('identity_chain', [
    ['i0', 'Identity', ['x'], ['a']],
    ['i1', 'Identity', ['a'], ['b']],
    ['i2', 'Identity', ['b'], ['y']],
  ]),
  hard(
    'identity_two_outputs',
    [
      ['i0', 'Identity', ['x'], ['y']],
      ['i1', 'Identity', ['x'], ['z']],
    ],
    {
      outputs: [
        ['y', ...relu8],
        ['z', ...relu8],
      ],
    },
  ),
  hard(
    'identity_beside_work',
    [
      ['pass', 'Identity', ['x'], ['z']],
      ['relu', 'Relu', ['x'], ['y']],
    ],
    {
      outputs: [
        ['y', ...relu8],
        ['z', ...relu8],
      ],
    },
  ),
  hard('identity_last', [
    ['relu', 'Relu', ['x'], ['a']],
    ['pass', 'Identity', ['a'], ['y']],
  ]),
  hard(
    'identity_last_also_read',
    [
      ['relu', 'Relu', ['x'], ['a']],
      ['pass', 'Identity', ['a'], ['y']],
      ['exp', 'Exp', ['a'], ['z']],
    ],
    {
      outputs: [
        ['y', ...relu8],
        ['z', ...relu8],
      ],
    },
  ),
  hard('identity_first', [
    ['pass', 'Identity', ['x'], ['a']],
    ['relu', 'Relu', ['a'], ['y']],
  ]),
  hard(
    'identity_of_weight',
    [
      ['pass', 'Identity', ['w'], ['v']],
      ['mm', 'MatMul', ['x', 'v'], ['y']],
    ],
    { weights: [w] },
  ),
  hard(
    'identity_of_weight_output',
    [
      ['relu', 'Relu', ['x'], ['y']],
      ['pass', 'Identity', ['w'], ['z']],
    ],
    {
      weights: [w],
      outputs: [
        ['y', ...relu8],
        ['z', 'float', 8, 8],
      ],
    },
  ),
  hard('dropout', [
    ['relu', 'Relu', ['x'], ['a']],
    ['drop', 'Dropout', ['a'], ['b']],
    ['exp', 'Exp', ['b'], ['y']],
  ]),
  hard('dropout_through', [['drop', 'Dropout', ['x'], ['y']]]),
  hard('dropout_mask', [['drop', 'Dropout', ['x'], ['y', 'mask']]]),
  hard(
    'cast_of_output',
    [
      ['relu', 'Relu', ['x'], ['a']],
      ['cast', 'Cast', ['a'], ['y'], { to: 10 }],
    ],
    { outputs: [['y', 'half', 4, 8]] },
  ),
  hard('cast_same_type', [
    ['cast', 'Cast', ['x'], ['a'], { to: 1 }],
    ['relu', 'Relu', ['a'], ['y']],
  ]),
  hard('cast_through', [['cast', 'Cast', ['x'], ['y'], { to: 1 }]]),
  hard('cast_pair', [
    ['down', 'Cast', ['x'], ['h'], { to: 10 }],
    ['up', 'Cast', ['h'], ['y'], { to: 1 }],
  ]),
  hard(
    'cast_int64_input',
    [
      ['cast', 'Cast', ['i'], ['f'], { to: 1 }],
      ['relu', 'Relu', ['f'], ['y']],
    ],
    { inputs: [['i', 'int64', 4, 8]] },
  ),
  hard(
    'cast_bool_output',
    [
      ['less', 'Less', ['x', 'c'], ['b']],
      ['cast', 'Cast', ['b'], ['y'], { to: 7 }],
    ],
    { weights: [['c', 'float', [1], 0]], outputs: [['y', 'int64', 4, 8]] },
  ),
  hard('reshape_through', [['flat', 'Reshape', ['x', 's'], ['y']]], {
    weights: [['s', 'int64', [1], [32]]],
    outputs: [['y', 'float', 32]],
  }),
  hard(
    'reshape_of_output',
    [
      ['relu', 'Relu', ['x'], ['a']],
      ['flat', 'Reshape', ['a', 's'], ['y']],
    ],
    { weights: [['s', 'int64', [1], [32]]], outputs: [['y', 'float', 32]] },
  ),
  hard('transpose_pair', [
    ['t0', 'Transpose', ['x'], ['a'], { perm: [1, 0] }],
    ['t1', 'Transpose', ['a'], ['b'], { perm: [1, 0] }],
    ['relu', 'Relu', ['b'], ['y']],
  ]),
  hard('transpose_pair_through', [
    ['t0', 'Transpose', ['x'], ['a'], { perm: [1, 0] }],
    ['t1', 'Transpose', ['a'], ['y'], { perm: [1, 0] }],
  ]),
  hard(
    'views',
    [
      ['un', 'Unsqueeze', ['x', 'axis'], ['a']],
      ['relu', 'Relu', ['a'], ['b']],
      ['sq', 'Squeeze', ['b', 'axis'], ['c']],
      ['flat', 'Flatten', ['c'], ['y'], { axis: 1 }],
    ],
    { weights: [['axis', 'int64', [1], [0]]] },
  ),
  hard(
    'nothing_to_pad',
    [
      ['pad', 'Pad', ['x', 'p'], ['a']],
      ['max', 'Max', ['a'], ['b']],
      ['sum', 'Sum', ['b'], ['c']],
      ['exp', 'Exp', ['c'], ['y']],
    ],
    { weights: [['p', 'int64', [4], 0]] },
  ),
  hard('nothing_through', [['max', 'Max', ['x'], ['y']]]),
  hard('concat_of_one', [
    ['cat', 'Concat', ['x'], ['a'], { axis: 0 }],
    ['relu', 'Relu', ['a'], ['y']],
  ]),
  hard('concat_through', [['cat', 'Concat', ['x'], ['y'], { axis: 0 }]]),
  hard(
    'slice_of_all',
    [
      ['slice', 'Slice', ['x', 'from', 'to'], ['a']],
      ['relu', 'Relu', ['a'], ['y']],
    ],
    {
      weights: [
        ['from', 'int64', [2], 0],
        ['to', 'int64', [2], 1000],
      ],
    },
  ),
  hard(
    'add_zero',
    [
      ['plus', 'Add', ['x', 'c'], ['a']],
      ['times', 'Mul', ['a', 'o'], ['b']],
      ['relu', 'Relu', ['b'], ['y']],
    ],
    {
      weights: [
        ['c', 'float', [1], 0],
        ['o', 'float', [1], 1],
      ],
    },
  ),
  hard(
    'expand_to_same',
    [
      ['expand', 'Expand', ['x', 's'], ['a']],
      ['relu', 'Relu', ['a'], ['y']],
    ],
    { weights: [['s', 'int64', [2], [4, 8]]] },
  ),
  hard('twins', [
    ['left', 'Sigmoid', ['x'], ['a']],
    ['right', 'Sigmoid', ['x'], ['b']],
    ['mul', 'Mul', ['a', 'b'], ['y']],
  ]),
  hard(
    'twin_outputs',
    [
      ['left', 'MatMul', ['x', 'w'], ['y']],
      ['right', 'MatMul', ['x', 'w'], ['z']],
    ],
    {
      weights: [w],
      outputs: [
        ['y', ...relu8],
        ['z', ...relu8],
      ],
    },
  ),
];
