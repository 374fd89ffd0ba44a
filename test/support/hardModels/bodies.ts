import { gate, hard, profile, scanBody, scanSteps, w, x, y, type HardModel } from './hardModel.ts';
import type { Graph, LocalFunction, Node, Value, Weight } from './onnxWriter.ts';

const scalar = (name: string, type: Value[1]): Value => [name, type];
const branch = (name: string, nodes: Node[], weights: Weight[] = []): { graph: Graph } => ({
  graph: { name, outputs: [[nodes.at(-1)![3][0]!, 'float', 4, 8]], nodes, weights },
});
const choose = (name: string, condition: string, output: string, then: Node[], otherwise: Node[]): Node => [
  name,
  'If',
  [condition],
  [output],
  { then_branch: branch('then', then), else_branch: branch('else', otherwise) },
];
const yes: Weight = ['yes', 'bool', [], 1];
const no: Weight = ['no', 'bool', [], 0];
const times: Weight = ['times', 'int64', [], 3];
const c = scalar('c', 'bool');
const after: Node = ['after', 'Exp', ['i'], ['y']];

const body = (nodes: Node[], outputs: string[], name = 'body'): { graph: Graph } => ({
  graph: {
    name,
    inputs: [scalar('n', 'int64'), scalar('on', 'bool'), ...outputs.map((_, i): Value => [`v${i}`, 'float', 4, 8])],
    outputs: [scalar('still', 'bool'), ...outputs.map((output): Value => [output, 'float', 4, 8])],
    nodes: [['still', 'Identity', ['on'], ['still']], ...nodes],
  },
});
const both = [y, ['z', 'float', 4, 8] as Value];

/** Branches, loops and scans where a name, a kernel or a missing path could be taken for another node's. */
const controlFlow: HardModel[] = [
  hard(
    'if_operators_outside',
    [
      ['act', 'Sigmoid', ['x'], ['p']],
      choose('if', 'c', 'i', [['t', 'Relu', ['p'], ['a']]], [['e', 'Sigmoid', ['p'], ['b']]]),
      ['last', 'Relu', ['i'], ['y']],
    ],
    { inputs: [x, c] },
  ),
  hard(
    'if_names_of_main',
    [
      ['act', 'Sigmoid', ['x'], ['p']],
      ['mm', 'MatMul', ['p', 'w'], ['q']],
      choose('if', 'c', 'i', [['mm', 'MatMul', ['q', 'w'], ['a']]], [['act', 'Sigmoid', ['q'], ['b']]]),
      after,
    ],
    { inputs: [x, c], weights: [w] },
  ),
  hard(
    'if_unnamed_all',
    [
      ['', 'Sigmoid', ['x'], ['p']],
      choose('', 'c', 'i', [['', 'Relu', ['p'], ['a']]], [['', 'Sigmoid', ['p'], ['b']]]),
      ['', 'Exp', ['i'], ['y']],
    ],
    { inputs: [x, c] },
  ),
  hard(
    'if_untaken_name_outside',
    [
      ['act', 'Relu', ['x'], ['p']],
      choose('if', 'no', 'i', [['act', 'Relu', ['p'], ['a']]], [['e', 'Neg', ['p'], ['b']]]),
      after,
    ],
    { weights: [no] },
  ),
  hard(
    'if_untaken_deep',
    [
      choose(
        'if',
        'yes',
        'i',
        [['t', 'Neg', ['x'], ['a']]],
        [
          ['e0', 'Relu', ['x'], ['b0']],
          choose('inner', 'c', 'b', [['it', 'Tanh', ['b0'], ['ia']]], [['ie', 'Sigmoid', ['b0'], ['ib']]]),
        ],
      ),
      after,
    ],
    { inputs: [x, c], weights: [yes] },
  ),
  hard(
    'if_nested_data',
    [
      choose(
        'if',
        'c',
        'i',
        [choose('inner', 'd', 'a', [['it', 'Tanh', ['x'], ['ia']]], [['ie', 'Sigmoid', ['x'], ['ib']]])],
        [['e', 'Neg', ['x'], ['b']]],
      ),
      after,
    ],
    { inputs: [x, c, scalar('d', 'bool')] },
  ),
  hard(
    'if_of_batch',
    [
      ['shape', 'Shape', ['x'], ['s']],
      ['batch', 'Gather', ['s', 'zero'], ['n']],
      ['less', 'Greater', ['n', 'four'], ['big']],
      [
        'if',
        'If',
        ['big'],
        ['i'],
        {
          then_branch: {
            graph: { name: 'then', outputs: [['a', 'float', 'N', 8]], nodes: [['t', 'Relu', ['x'], ['a']]] },
          },
          else_branch: {
            graph: { name: 'else', outputs: [['b', 'float', 'N', 8]], nodes: [['e', 'Neg', ['x'], ['b']]] },
          },
        },
      ],
      after,
    ],
    {
      inputs: [['x', 'float', 'N', 8]],
      outputs: [['y', 'float', 'N', 8]],
      weights: [
        ['zero', 'int64', [], 0],
        ['four', 'int64', [], 4],
      ],
      arguments: profile('x', [1, 8], [4, 8], [16, 8]),
    },
  ),
  hard(
    'if_of_constants',
    [
      [
        'if',
        'If',
        ['c'],
        ['i'],
        {
          then_branch: branch('then', [['t', 'Relu', ['tw'], ['a']]], [['tw', 'float', [4, 8], 2]]),
          else_branch: branch('else', [['e', 'Neg', ['ew'], ['b']]], [['ew', 'float', [4, 8], 3]]),
        },
      ],
      ['add', 'Add', ['x', 'i'], ['y']],
    ],
    { inputs: [x, c] },
  ),
  hard(
    'if_twice_same_body',
    [
      choose('if', 'c', 'i', [['t', 'Relu', ['x'], ['a']]], [['e', 'Neg', ['x'], ['b']]]),
      choose('if', 'd', 'j', [['t', 'Relu', ['i'], ['a']]], [['e', 'Neg', ['i'], ['b']]]),
      ['after', 'Exp', ['j'], ['y']],
    ],
    { inputs: [x, c, scalar('d', 'bool')] },
  ),
  hard(
    'if_in_loop',
    [
      [
        'loop',
        'Loop',
        ['times', 'yes', 'x'],
        ['i'],
        {
          body: body(
            [
              ['sig', 'Sigmoid', ['v0'], ['s']],
              choose('if', 'c', 'o', [['t', 'Relu', ['s'], ['a']]], [['e', 'Neg', ['s'], ['b']]]),
            ],
            ['o'],
          ),
        },
      ],
      after,
    ],
    { inputs: [x, c], weights: [yes, times] },
  ),
  // A Loop of no round hands on what it was given; one of its two conditions is enough.
  hard(
    'loop_no_round',
    [
      ['loop', 'Loop', ['never', 'yes', 'x'], ['a'], { body: body([['tanh', 'Tanh', ['v0'], ['o']]], ['o']) }],
      ['next', 'Loop', ['times', 'no', 'a'], ['i'], { body: body([['sin', 'Sin', ['v0'], ['o']]], ['o']) }],
      after,
    ],
    { weights: [yes, times, ['never', 'int64', [], 0], no] },
  ),
  hard(
    'loop_in_if',
    [
      choose(
        'if',
        'c',
        'i',
        [['loop', 'Loop', ['times', 'yes', 'x'], ['a'], { body: body([['tanh', 'Tanh', ['v0'], ['o']]], ['o']) }]],
        [['e', 'Neg', ['x'], ['b']]],
      ),
      after,
    ],
    { inputs: [x, c], weights: [yes, times] },
  ),
  hard(
    'if_output_unread',
    [
      [
        'if',
        'If',
        ['c'],
        ['i', 'unread'],
        {
          then_branch: {
            graph: {
              name: 'then',
              outputs: [
                ['a', 'float', 4, 8],
                ['a2', 'float', 4, 8],
              ],
              nodes: [
                ['t', 'Relu', ['x'], ['a']],
                ['t2', 'Exp', ['a'], ['a2']],
              ],
            },
          },
          else_branch: {
            graph: {
              name: 'else',
              outputs: [
                ['b', 'float', 4, 8],
                ['b2', 'float', 4, 8],
              ],
              nodes: [
                ['e', 'Neg', ['x'], ['b']],
                ['e2', 'Tanh', ['x'], ['b2']],
              ],
            },
          },
        },
      ],
      after,
    ],
    { inputs: [x, c] },
  ),
  hard(
    'loop_output_unread',
    [
      [
        'loop',
        'Loop',
        ['times', 'yes', 'x'],
        ['i', 'unread'],
        {
          body: {
            graph: {
              name: 'body',
              inputs: [scalar('n', 'int64'), scalar('on', 'bool'), ['v', 'float', 4, 8]],
              outputs: [scalar('still', 'bool'), ['o', 'float', 4, 8], ['each', 'float', 4, 8]],
              nodes: [
                ['still', 'Identity', ['on'], ['still']],
                ['tanh', 'Tanh', ['v'], ['o']],
                ['exp', 'Exp', ['v'], ['each']],
              ],
            },
          },
        },
      ],
      after,
    ],
    { weights: [yes, times] },
  ),
  hard(
    'loop_names_outside',
    [
      ['act', 'Relu', ['x'], ['p']],
      ['mm', 'MatMul', ['p', 'w'], ['q']],
      [
        'loop',
        'Loop',
        ['times', 'yes', 'q'],
        ['i'],
        {
          body: body(
            [
              ['act', 'MatMul', ['v0', 'w'], ['m']],
              ['mm', 'Relu', ['m'], ['o']],
            ],
            ['o'],
          ),
        },
      ],
      after,
    ],
    { weights: [w, yes, times] },
  ),
  hard(
    'loop_swaps',
    [
      [
        'loop',
        'Loop',
        ['times', 'yes', 'x', 'q'],
        ['y', 'z'],
        {
          body: body(
            [
              ['first', 'Identity', ['v1'], ['o0']],
              ['second', 'Tanh', ['v0'], ['o1']],
            ],
            ['o0', 'o1'],
          ),
        },
      ],
    ],
    { inputs: [x, ['q', 'float', 4, 8]], outputs: both, weights: [yes, times] },
  ),
  hard(
    'loop_of_captured',
    [
      ['pre', 'Relu', ['x'], ['p']],
      [
        'loop',
        'Loop',
        ['times', 'yes', 'x'],
        ['i'],
        {
          body: body(
            [
              ['copy', 'Identity', ['p'], ['k']],
              ['sum', 'Add', ['v0', 'k'], ['s']],
              ['pass', 'Identity', ['s'], ['o']],
            ],
            ['o'],
          ),
        },
      ],
      after,
    ],
    { weights: [yes, times] },
  ),
  hard(
    'loop_of_constants',
    [
      [
        'loop',
        'Loop',
        ['times', 'yes', 'x'],
        ['i'],
        {
          body: body(
            [
              ['soft', 'Softmax', ['w'], ['k']],
              ['mm', 'MatMul', ['v0', 'k'], ['o']],
            ],
            ['o'],
          ),
        },
      ],
      after,
    ],
    { weights: [w, yes, times] },
  ),
  hard(
    'loop_shape_inside',
    [
      [
        'loop',
        'Loop',
        ['times', 'yes', 'x'],
        ['i'],
        {
          body: body(
            [
              ['shape', 'Shape', ['v0'], ['s']],
              ['flat', 'Reshape', ['v0', 'minus'], ['f']],
              ['tanh', 'Tanh', ['f'], ['t']],
              ['back', 'Reshape', ['t', 's'], ['o']],
            ],
            ['o'],
          ),
        },
      ],
      after,
    ],
    { weights: [['minus', 'int64', [1], -1], yes, times] },
  ),
  hard(
    'scan_reverse',
    [
      [
        'scan',
        'Scan',
        ['init', 'x'],
        ['last', 'y'],
        {
          num_scan_inputs: 1,
          scan_input_directions: [1],
          body: scanBody(scanSteps),
        },
      ],
    ],
    { weights: [['init', 'float', [8], 0]], outputs: [y, ['last', 'float', 8]] },
  ),
  ...(['GRU', 'RNN'] as const).map((op) =>
    hard(
      op.toLowerCase(),
      [
        ['pre', 'Tanh', ['q'], ['p']],
        ['cell', op, ['p', 'cw', 'cr'], ['l'], { hidden_size: 8 }],
        ['drop', 'Squeeze', ['l', 'one'], ['sq']],
        ['post', 'Relu', ['sq'], ['y']],
      ],
      {
        inputs: [['q', 'float', 3, 4, 8]],
        outputs: [['y', 'float', 3, 4, 8]],
        weights: [
          ['cw', 'float', [1, op === 'GRU' ? 24 : 8, 8]],
          ['cr', 'float', [1, op === 'GRU' ? 24 : 8, 8]],
          ['one', 'int64', [1], [1]],
        ],
      },
    ),
  ),
  hard(
    'lstm_both_ways',
    [
      ['first', 'LSTM', ['q', 'lw', 'lr'], ['l', 'h'], { hidden_size: 8, direction: 'bidirectional' }],
      ['turn', 'Transpose', ['l'], ['tr'], { perm: [0, 2, 1, 3] }],
      ['flat', 'Reshape', ['tr', 'to'], ['r']],
      ['mm', 'MatMul', ['r', 'fw'], ['y']],
    ],
    {
      inputs: [['q', 'float', 3, 4, 8]],
      outputs: [
        ['y', 'float', 3, 4, 8],
        ['h', 'float', 2, 4, 8],
      ],
      weights: [
        ['lw', 'float', [2, 32, 8]],
        ['lr', 'float', [2, 32, 8]],
        ['to', 'int64', [3], [3, 4, 16]],
        ['fw', 'float', [16, 8]],
      ],
    },
  ),
];

const block = (overload: string, op: string): LocalFunction => ({
  name: 'Blk',
  overload,
  inputs: ['a'],
  outputs: ['b'],
  nodes: [
    ['mm', 'MatMul', ['a', 'a'], ['m']],
    ['act', op, ['m'], ['b']],
  ],
});
const square = {
  inputs: [['x', 'float', 8, 8] as Value],
  outputs: [['y', 'float', 8, 8] as Value],
};

/** Functions: overloads, names that repeat, calls in branches and loops, calls that leave nothing. */
const calls: HardModel[] = [
  hard(
    'function_overloads',
    [
      ['one', 'local.Blk:overload-relu', ['x'], ['p']],
      ['two', 'local.Blk:overload-tanh', ['p'], ['y']],
    ],
    { ...square, functions: [block('overload-relu', 'Relu'), block('overload-tanh', 'Tanh')] },
  ),
  hard(
    'function_overload_twice',
    [
      ['one', 'local.Blk:overload-relu', ['x'], ['p']],
      ['two', 'local.Blk:overload-tanh', ['p'], ['q']],
      ['three', 'local.Blk:overload-relu', ['q'], ['y']],
    ],
    { ...square, functions: [block('overload-relu', 'Relu'), block('overload-tanh', 'Tanh')] },
  ),
  hard(
    'function_overloads_unnamed',
    [
      ['', 'local.Blk:overload-relu', ['x'], ['p']],
      ['', 'local.Blk:overload-tanh', ['p'], ['y']],
    ],
    { ...square, functions: [block('overload-relu', 'Relu'), block('overload-tanh', 'Tanh')] },
  ),
  hard('function_of_identity', [['call', 'local.Same', ['x'], ['i']], after], {
    functions: [{ name: 'Same', inputs: ['a'], outputs: ['b'], nodes: [['same', 'Identity', ['a'], ['b']]] }],
  }),
  hard(
    'function_of_weights',
    [
      ['call', 'local.Gate', ['w'], ['g']],
      ['mm', 'MatMul', ['x', 'g'], ['y']],
    ],
    { functions: [gate], weights: [w] },
  ),
  hard('function_called_as_node', [['sig', 'local.Gate', ['x'], ['p']], ['mul', 'local.Gate', ['p'], ['i']], after], {
    functions: [gate],
  }),
  hard('function_named_as_operator', [['call', 'local.Relu', ['x'], ['p']], ['r', 'Relu', ['p'], ['i']], after], {
    functions: [
      {
        name: 'Relu',
        inputs: ['a'],
        outputs: ['b'],
        nodes: [
          ['r', 'Relu', ['a'], ['s']],
          ['t', 'Tanh', ['s'], ['b']],
        ],
      },
    ],
  }),
  hard(
    'function_in_if',
    [
      ['pre', 'local.Gate', ['x'], ['p']],
      choose('if', 'c', 'i', [['call', 'local.Gate', ['p'], ['a']]], [['e', 'Neg', ['p'], ['b']]]),
      after,
    ],
    { inputs: [x, c], functions: [gate] },
  ),
  hard(
    'function_in_loop',
    [
      ['loop', 'Loop', ['times', 'yes', 'x'], ['i'], { body: body([['call', 'local.Gate', ['v0'], ['o']]], ['o']) }],
      after,
    ],
    { functions: [gate], weights: [yes, times] },
  ),
  hard('function_with_loop', [['call', 'local.Repeat', ['x'], ['i']], after], {
    functions: [
      {
        name: 'Repeat',
        inputs: ['a'],
        outputs: ['b'],
        nodes: [
          ['times', 'Constant', [], ['k'], { value: { tensor: ['', 'int64', [], 3] } }],
          ['yes', 'Constant', [], ['go'], { value: { tensor: ['', 'bool', [], 1] } }],
          ['loop', 'Loop', ['k', 'go', 'a'], ['b'], { body: body([['tanh', 'Tanh', ['v0'], ['o']]], ['o']) }],
        ],
      },
    ],
  }),
  hard(
    'function_with_attribute',
    [
      ['call0', 'local.Leak', ['x'], ['p'], { slope: { float: 0.1 } }],
      ['call1', 'local.Leak', ['p'], ['i'], { slope: { float: 0.7 } }],
      after,
    ],
    {
      functions: [
        {
          name: 'Leak',
          attributes: ['slope'],
          inputs: ['a'],
          outputs: ['b'],
          nodes: [
            ['neg', 'Neg', ['a'], ['s']],
            ['leaky', 'LeakyRelu', ['s'], ['b'], { alpha: { ref: 'slope' } }],
          ],
        },
      ],
    },
  ),
  hard('function_twice_unnamed', [['', 'local.Gate', ['x'], ['p']], ['', 'local.Gate', ['p'], ['i']], after], {
    functions: [gate],
  }),
];

export const bodies: HardModel[] = [...controlFlow, ...calls];
