import { hard, w, type HardModel } from './hardModel.ts';
import type { Node } from './onnxWriter.ts';

const add: Node = ['add', 'Add', ['x', 'r'], ['y']];
const shape = [4, 8];

/** Operators that make data of nothing, constants that TensorRT computes all the same, and what is folded. */
export const generators: HardModel[] = [
  hard('random_normal_like', [['rnd', 'RandomNormalLike', ['x'], ['r'], { dtype: 1 }], add]),
  hard('random_uniform_like', [['rnd', 'RandomUniformLike', ['x'], ['r'], { dtype: 1 }], add]),
  hard('random_normal', [['rnd', 'RandomNormal', [], ['r'], { dtype: 1, shape }], add]),
  hard('random_uniform', [['rnd', 'RandomUniform', [], ['r'], { dtype: 1, shape }], add]),
  hard('random_unnamed', [['', 'RandomUniform', [], ['r'], { dtype: 1, shape }], add]),
  hard('random_twice', [
    ['rnd', 'RandomUniform', [], ['r0'], { dtype: 1, shape }],
    ['rnd', 'RandomUniform', [], ['r1'], { dtype: 1, shape }],
    ['sum', 'Add', ['r0', 'r1'], ['r']],
    add,
  ]),
  hard('random_output', [['rnd', 'RandomUniform', [], ['r'], { dtype: 1, shape }], add], {
    outputs: [
      ['y', 'float', 4, 8],
      ['r', 'float', 4, 8],
    ],
  }),
  hard('random_dead', [
    ['rnd', 'RandomUniform', [], ['r'], { dtype: 1, shape }],
    ['relu', 'Relu', ['x'], ['y']],
  ]),
  hard(
    'random_scaled',
    [
      ['rnd', 'RandomNormalLike', ['x'], ['r0'], { dtype: 1 }],
      ['half', 'Mul', ['r0', 'c'], ['r1']],
      ['shift', 'Add', ['r1', 'c'], ['r']],
      add,
    ],
    { weights: [['c', 'float', [1], 0.5]] },
  ),
  hard('eye_like', [['eye', 'EyeLike', ['x'], ['r'], { dtype: 1 }], add]),
  hard(
    'eye_then_constant',
    [
      ['eye', 'EyeLike', ['w'], ['e'], { dtype: 1 }],
      ['mm', 'MatMul', ['x', 'e'], ['y']],
    ],
    { weights: [w] },
  ),
  hard('eye_cast', [['eye', 'EyeLike', ['x'], ['e'], { dtype: 7 }], ['cast', 'Cast', ['e'], ['r'], { to: 1 }], add]),
  hard(
    'range_constant',
    [['range', 'Range', ['zero', 'eight', 'one'], ['i']], ['cast', 'Cast', ['i'], ['r'], { to: 1 }], add],
    {
      weights: [
        ['zero', 'int64', [], 0],
        ['eight', 'int64', [], 8],
        ['one', 'int64', [], 1],
      ],
    },
  ),
  hard(
    'constant_of_shape',
    [['fill', 'ConstantOfShape', ['s'], ['r'], { value: { tensor: ['', 'float', [1], 2] } }], add],
    { weights: [['s', 'int64', [2], [4, 8]]] },
  ),
  hard('shape_to_data_static', [
    ['shape', 'Shape', ['x'], ['s']],
    ['cast', 'Cast', ['s'], ['f'], { to: 1 }],
    ['prod', 'ReduceProd', ['f'], ['r']],
    add,
  ]),
  hard('constant_arithmetic', [['two', 'Add', ['c', 'c'], ['c2']], ['four', 'Mul', ['c2', 'c2'], ['r']], add], {
    weights: [['c', 'float', [8], 1]],
  }),
  hard(
    'constant_matmul',
    [
      ['fold', 'MatMul', ['w', 'w'], ['ww']],
      ['soft', 'Softmax', ['ww'], ['ws']],
      ['mm', 'MatMul', ['x', 'ws'], ['y']],
    ],
    { weights: [w] },
  ),
  hard(
    'constant_output',
    [
      ['relu', 'Relu', ['x'], ['y']],
      ['double', 'Add', ['c', 'c'], ['z']],
    ],
    {
      weights: [['c', 'float', [8], 1]],
      outputs: [
        ['y', 'float', 4, 8],
        ['z', 'float', 8],
      ],
    },
  ),
  hard(
    'constant_node_output',
    [
      ['relu', 'Relu', ['x'], ['y']],
      ['const', 'Constant', [], ['z'], { value: { tensor: ['', 'float', [8], 3] } }],
    ],
    {
      outputs: [
        ['y', 'float', 4, 8],
        ['z', 'float', 8],
      ],
    },
  ),
  hard('initializer_output', [['relu', 'Relu', ['x'], ['y']]], {
    weights: [['z', 'float', [8], 1]],
    outputs: [
      ['y', 'float', 4, 8],
      ['z', 'float', 8],
    ],
  }),
  hard('dead_nodes', [
    ['relu', 'Relu', ['x'], ['y']],
    ['dead0', 'Exp', ['x'], ['d0']],
    ['dead1', 'Tanh', ['d0'], ['d1']],
  ]),
  hard('dead_output_of_split', [
    ['split', 'Split', ['x'], ['a', 'b'], { axis: 1 }],
    ['cat', 'Concat', ['b', 'b'], ['y'], { axis: 1 }],
  ]),
  hard(
    'trilu_constant',
    [
      ['mask', 'Trilu', ['w', 'k'], ['m'], { upper: 0 }],
      ['mm', 'MatMul', ['x', 'm'], ['y']],
    ],
    { weights: [w, ['k', 'int64', [], 0]] },
  ),
  hard('expand_constant', [['expand', 'Expand', ['c', 's'], ['r']], add], {
    weights: [
      ['c', 'float', [1, 8]],
      ['s', 'int64', [2], [4, 8]],
    ],
  }),
  hard('bernoulli_like', [['bern', 'Bernoulli', ['p'], ['r'], { dtype: 1 }], add], {
    weights: [['p', 'float', [4, 8], 0.5]],
  }),
];
