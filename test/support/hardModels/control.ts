import { hard, profile, scanBody, w, x, y, type HardModel } from './hardModel.ts';
import type { Graph, Node, Value, Weight } from './onnxWriter.ts';

const scalar = (name: string, type: Value[1]): Value => [name, type];
const branch = (name: string, nodes: Node[], output = nodes.at(-1)![3][0]!): { graph: Graph } => ({
  graph: { name, outputs: [[output, 'float', 4, 8]], nodes },
});
const yes: Weight = ['yes', 'bool', [], 1];
const no: Weight = ['no', 'bool', [], 0];

const choose = (condition: string, then: Node[], otherwise: Node[]): Node => [
  'if',
  'If',
  [condition],
  ['i'],
  { then_branch: branch('then', then), else_branch: branch('else', otherwise) },
];
const after: Node = ['after', 'Exp', ['i'], ['y']];

const step = (carried: Node[], last: string): Graph => ({
  name: 'body',
  inputs: [scalar('n', 'int64'), scalar('on', 'bool'), ['v', 'float', 4, 8]],
  outputs: [scalar('still', 'bool'), [last, 'float', 4, 8]],
  nodes: [['still', 'Identity', ['on'], ['still']], ...carried],
});
const loop = (body: Graph, times = 'times'): Node => [
  'loop',
  'Loop',
  [times, 'yes', 'x'],
  ['i'],
  { body: { graph: body } },
];
const times: Weight = ['times', 'int64', [], 3];

/** If, Loop and Scan: taken and not taken branches, shared names, captures, nests. */
export const control: HardModel[] = [
  hard('if_true', [choose('yes', [['t', 'Relu', ['x'], ['a']]], [['e', 'Neg', ['x'], ['b']]]), after], {
    weights: [yes],
  }),
  hard('if_false', [choose('no', [['t', 'Relu', ['x'], ['a']]], [['e', 'Neg', ['x'], ['b']]]), after], {
    weights: [no],
  }),
  hard('if_constant_node', [
    ['cond', 'Constant', [], ['c'], { value: { tensor: ['', 'bool', [], 1] } }],
    choose('c', [['t', 'Relu', ['x'], ['a']]], [['e', 'Neg', ['x'], ['b']]]),
    after,
  ]),
  hard(
    'if_computed_constant',
    [
      ['less', 'Less', ['one', 'two'], ['c']],
      choose('c', [['t', 'Relu', ['x'], ['a']]], [['e', 'Neg', ['x'], ['b']]]),
      after,
    ],
    {
      weights: [
        ['one', 'float', [], 1],
        ['two', 'float', [], 2],
      ],
    },
  ),
  hard(
    'if_shape_constant',
    [
      ['size', 'Size', ['x'], ['s']],
      ['equal', 'Equal', ['s', 'k'], ['c']],
      choose('c', [['t', 'Relu', ['x'], ['a']]], [['e', 'Neg', ['x'], ['b']]]),
      after,
    ],
    { weights: [['k', 'int64', [], 32]] },
  ),
  hard(
    'if_not_constant',
    [['not', 'Not', ['yes'], ['c']], choose('c', [['t', 'Relu', ['x'], ['a']]], [['e', 'Neg', ['x'], ['b']]]), after],
    { weights: [yes] },
  ),
  hard('if_same_names', [choose('no', [['b', 'Relu', ['x'], ['a']]], [['b', 'Relu', ['x'], ['a']]]), after], {
    weights: [no],
  }),
  hard(
    'if_same_names_true',
    [
      choose(
        'yes',
        [
          ['b', 'Relu', ['x'], ['a']],
          ['c', 'Tanh', ['a'], ['d']],
        ],
        [
          ['b', 'Neg', ['x'], ['a']],
          ['c', 'Tanh', ['a'], ['d']],
        ],
      ),
      after,
    ],
    { weights: [yes] },
  ),
  hard(
    'if_name_outside',
    [['b', 'Relu', ['x'], ['p']], choose('no', [['b', 'Relu', ['p'], ['a']]], [['b', 'Neg', ['p'], ['a']]]), after],
    { weights: [no] },
  ),
  hard('if_unnamed', [choose('no', [['', 'Relu', ['x'], ['a']]], [['', 'Neg', ['x'], ['b']]]), after], {
    weights: [no],
  }),
  hard('if_data', [choose('c', [['t', 'Relu', ['x'], ['a']]], [['e', 'Neg', ['x'], ['b']]]), after], {
    inputs: [x, scalar('c', 'bool')],
  }),
  hard(
    'if_data_same_names',
    [
      choose('c', [['b', 'Relu', ['x'], ['a']]], [['b', 'Relu', ['p'], ['a']]]),
      after,
      ['pre', 'Exp', ['x'], ['p']],
    ].toSorted((a, b) => Number(b[0] === 'pre') - Number(a[0] === 'pre')) as Node[],
    { inputs: [x, scalar('c', 'bool')] },
  ),
  hard(
    'if_branches_of_identity',
    [choose('c', [['t', 'Identity', ['x'], ['a']]], [['e', 'Neg', ['x'], ['b']]]), after],
    { inputs: [x, scalar('c', 'bool')] },
  ),
  hard(
    'if_nested_constant',
    [
      choose(
        'no',
        [['t', 'Relu', ['x'], ['a']]],
        [
          [
            'inner',
            'If',
            ['yes'],
            ['b'],
            {
              then_branch: branch('then', [['it', 'Sigmoid', ['x'], ['ia']]]),
              else_branch: branch('else', [['ie', 'Tanh', ['x'], ['ib']]]),
            },
          ],
        ],
      ),
      after,
    ],
    { weights: [yes, no] },
  ),
  hard(
    'if_captures',
    [
      ['pre', 'MatMul', ['x', 'w'], ['p']],
      choose('c', [['t', 'Add', ['p', 'x'], ['a']]], [['e', 'MatMul', ['p', 'w'], ['b']]]),
      after,
    ],
    { weights: [w], inputs: [x, scalar('c', 'bool')] },
  ),
  hard(
    'if_two_constant',
    [
      choose('yes', [['t', 'Relu', ['x'], ['a']]], [['e', 'Neg', ['x'], ['b']]]),
      [
        'if2',
        'If',
        ['no'],
        ['j'],
        {
          then_branch: branch('then', [['t', 'Exp', ['i'], ['a']]]),
          else_branch: branch('else', [['e', 'Tanh', ['i'], ['b']]]),
        },
      ],
      ['after', 'Exp', ['j'], ['y']],
    ],
    { weights: [yes, no] },
  ),
  hard('loop_static', [loop(step([['mm', 'MatMul', ['v', 'w'], ['o']]], 'o')), after], { weights: [w, yes, times] }),
  hard(
    'loop_captures',
    [
      ['pre', 'Relu', ['x'], ['p']],
      loop(
        step(
          [
            ['sum', 'Add', ['v', 'p'], ['s']],
            ['tanh', 'Tanh', ['s'], ['o']],
          ],
          'o',
        ),
      ),
      after,
    ],
    { weights: [yes, times] },
  ),
  hard('loop_identity', [loop(step([['same', 'Identity', ['v'], ['o']]], 'o')), after], { weights: [yes, times] }),
  hard(
    'loop_counts',
    [
      loop(
        step(
          [
            ['cast', 'Cast', ['n'], ['f'], { to: 1 }],
            ['sum', 'Add', ['v', 'f'], ['o']],
          ],
          'o',
        ),
      ),
      after,
    ],
    { weights: [yes, times] },
  ),
  hard(
    'loop_nested',
    [
      loop(
        step(
          [
            [
              'inner',
              'Loop',
              ['times', 'yes', 'v'],
              ['q'],
              {
                body: {
                  graph: {
                    name: 'deep',
                    inputs: [scalar('m', 'int64'), scalar('go', 'bool'), ['u', 'float', 4, 8]],
                    outputs: [scalar('gone', 'bool'), ['r', 'float', 4, 8]],
                    nodes: [
                      ['still', 'Identity', ['go'], ['gone']],
                      ['tanh', 'Tanh', ['u'], ['r']],
                    ],
                  },
                },
              },
            ],
            ['tanh', 'Add', ['q', 'v'], ['o']],
          ],
          'o',
        ),
      ),
      after,
    ],
    { weights: [yes, times] },
  ),
  hard(
    'scan',
    [
      [
        'scan',
        'Scan',
        ['init', 'x'],
        ['last', 'y'],
        {
          num_scan_inputs: 1,
          body: scanBody([
            ['sum', 'Add', ['s', 'e'], ['t']],
            ['tanh', 'Tanh', ['t'], ['z']],
          ]),
        },
      ],
    ],
    { weights: [['init', 'float', [8], 0]], outputs: [y, ['last', 'float', 8]] },
  ),
  hard(
    'lstm',
    [
      ['lstm', 'LSTM', ['q', 'lw', 'lr'], ['l'], { hidden_size: 8 }],
      ['drop', 'Squeeze', ['l', 'one'], ['y']],
    ],
    {
      inputs: [['q', 'float', 3, 4, 8]],
      outputs: [['y', 'float', 3, 4, 8]],
      weights: [
        ['lw', 'float', [1, 32, 8]],
        ['lr', 'float', [1, 32, 8]],
        ['one', 'int64', [1], [1]],
      ],
    },
  ),
  hard('loop_dynamic', [loop(step([['mm', 'MatMul', ['v', 'w'], ['o']]], 'o'), 'k'), after], {
    weights: [w, yes],
    inputs: [x, scalar('k', 'int64')],
    arguments: profile('k', [], [], []),
  }),
];
