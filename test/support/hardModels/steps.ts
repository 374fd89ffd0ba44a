import { hard, scanBody, scanSteps, w, type HardModel } from './hardModel.ts';
import type { Graph, LocalFunction, Node, Value, Weight } from './onnxWriter.ts';

const sequence: Value = ['q', 'float', 3, 4, 8];
const result: Value = ['y', 'float', 3, 4, 8];
const one: Weight = ['one', 'int64', [1], [1]];
const cell = (
  name: string,
  op: 'LSTM' | 'GRU' | 'RNN',
  from: string,
  to: string,
): { nodes: Node[]; weights: Weight[] } => {
  const gates = { LSTM: 4, GRU: 3, RNN: 1 }[op];
  return {
    nodes: [
      [name, op, [from, `${name}w`, `${name}r`], [`${to}4`], { hidden_size: 8 }],
      [`${name}_drop`, 'Squeeze', [`${to}4`, 'one'], [to]],
    ],
    weights: [
      [`${name}w`, 'float', [1, 8 * gates, 8]],
      [`${name}r`, 'float', [1, 8 * gates, 8]],
    ],
  };
};
const cells = (name: string, parts: ReturnType<typeof cell>[], before: Node[], after: Node[]): HardModel =>
  hard(name, [...before, ...parts.flatMap(({ nodes }) => nodes), ...after], {
    inputs: [sequence],
    outputs: [result],
    weights: [one, ...parts.flatMap(({ weights }) => weights)],
  });
const scan = (name: string, from: string, to: string, nodes: Node[]): Node => [
  name,
  'Scan',
  [`${name}_init`, from],
  [`${to}_last`, to],
  {
    num_scan_inputs: 1,
    body: scanBody(nodes),
  },
];
const start = (name: string): Weight => [`${name}_init`, 'float', [8], 0];

/** Loops that follow, feed or resemble each other: a step's kernel could be taken for another loop's, or for a neighbor's. */
const loops: HardModel[] = [
  cells('lstm_chain', [cell('a', 'LSTM', 'q', 'h'), cell('b', 'LSTM', 'h', 'k')], [], [['relu', 'Relu', ['k'], ['y']]]),
  cells(
    'lstm_then_gru',
    [cell('a', 'LSTM', 'p', 'h'), cell('b', 'GRU', 'g', 'k')],
    [['pre', 'Tanh', ['q'], ['p']]],
    [
      ['between', 'Sigmoid', ['h'], ['g']],
      ['relu', 'Relu', ['k'], ['y']],
    ],
  ),
  cells(
    'rnn_beside_rnn',
    [cell('a', 'RNN', 'q', 'h'), cell('b', 'RNN', 'q', 'k')],
    [],
    [['sum', 'Add', ['h', 'k'], ['y']]],
  ),
  cells(
    'gru_with_same_work_outside',
    [cell('a', 'GRU', 'p', 'h')],
    [
      ['sig', 'Sigmoid', ['q'], ['g']],
      ['mul', 'Mul', ['q', 'g'], ['p']],
    ],
    [
      ['tanh', 'Tanh', ['h'], ['k']],
      ['back', 'Mul', ['k', 'h'], ['y']],
    ],
  ),
  hard('scan_chain', [scan('one', 'x', 'h', scanSteps), scan('two', 'h', 'y', scanSteps)], {
    weights: [start('one'), start('two')],
  }),
  hard(
    'scan_beside_its_operators',
    [
      ['pre', 'Sigmoid', ['x'], ['p']],
      scan('scan', 'p', 'h', scanSteps),
      ['post', 'Sigmoid', ['h'], ['k']],
      ['last', 'Add', ['k', 'h'], ['y']],
    ],
    { weights: [start('scan')] },
  ),
  hard('scan_then_products', [scan('scan', 'x', 'h', scanSteps), ['mm', 'MatMul', ['h', 'w'], ['y']]], {
    weights: [start('scan'), w],
  }),
];

const taken = (name: string, nodes: Node[]): LocalFunction => ({ name, inputs: ['a'], outputs: ['b'], nodes });

/** Functions that the parser takes for an operator of their name. */
const operators: HardModel[] = [
  hard('function_softmax', [['call', 'local.Softmax', ['x'], ['y']]], {
    functions: [taken('Softmax', [['neg', 'Neg', ['a'], ['b']]])],
  }),
  hard(
    'function_operator_twice',
    [
      ['call0', 'local.Tanh', ['x'], ['p']],
      ['mm', 'MatMul', ['p', 'w'], ['q']],
      ['call1', 'local.Tanh', ['q'], ['y']],
    ],
    {
      weights: [w],
      functions: [
        taken('Tanh', [
          ['mm', 'Exp', ['a'], ['c']],
          ['inner', 'Neg', ['c'], ['b']],
        ]),
      ],
    },
  ),
  hard(
    'function_operator_unnamed',
    [
      ['', 'local.Sigmoid', ['x'], ['p']],
      ['', 'Sigmoid', ['p'], ['y']],
    ],
    { functions: [taken('Sigmoid', [['', 'Relu', ['a'], ['b']]])] },
  ),
  hard('function_calls_operator', [['call', 'local.Outer', ['x'], ['y']]], {
    functions: [
      taken('Abs', [['e', 'Exp', ['a'], ['b']]]),
      taken('Outer', [
        ['in', 'local.Abs', ['a'], ['c']],
        ['e', 'Neg', ['c'], ['b']],
      ]),
    ],
  }),
];

const heads: Pick<Graph, 'inputs' | 'outputs'> = {
  inputs: [['x', 'float', 1, 16, 32]],
  outputs: [['y', 'float', 1, 16, 32]],
};
const attention = (name: string, axis: 0 | 2, scaled: 'both' | 'scores'): HardModel => {
  const inFront = axis === 0;
  const scores: Node[] =
    scaled === 'both'
      ? [
          ['kt', 'Transpose', ['k'], ['k1'], { perm: [0, 1, 3, 2] }],
          ['scale_q', 'Mul', ['q', 'half'], ['q1']],
          ['scale_k', 'Mul', ['k1', 'half'], ['k2']],
          ['qk', 'MatMul', ['q1', 'k2'], ['s']],
        ]
      : [
          ['kt', 'Transpose', ['k'], ['k2'], { perm: [0, 1, 3, 2] }],
          ['qk', 'MatMul', ['q', 'k2'], ['s0']],
          ['scale_s', 'Mul', ['s0', 'half'], ['s']],
        ];
  return hard(
    name,
    [
      ['qkv', 'MatMul', ['x', 'wqkv'], ['m']],
      ['bias', 'Add', ['m', 'b'], ['n']],
      ['fold', 'Reshape', ['n', 'to'], ['r']],
      ['turn', 'Transpose', ['r'], ['t'], { perm: inFront ? [2, 0, 3, 1, 4] : [0, 3, 2, 1, 4] }],
      ['part', 'Split', ['t'], ['q0', 'k0', 'v0'], { axis }],
      ...['q', 'k', 'v'].map((one): Node => [`drop_${one}`, 'Squeeze', [`${one}0`, 'at'], [one]]),
      ...scores,
      ['soft', 'Softmax', ['s'], ['p']],
      ['pv', 'MatMul', ['p', 'v'], ['o']],
      ['turn_back', 'Transpose', ['o'], ['o1'], { perm: [0, 2, 1, 3] }],
      ['unfold', 'Reshape', ['o1', 'back'], ['y']],
    ],
    {
      ...heads,
      weights: [
        ['wqkv', 'float', [32, 96]],
        ['b', 'float', [96]],
        ['half', 'float', [], 0.5],
        ['at', 'int64', [1], axis],
        ['to', 'int64', [5], [1, 16, 3, 2, 16]],
        ['back', 'int64', [3], [1, 16, 32]],
      ],
    },
  );
};

/** Attentions whose heads are split from one product, in front or within, scaled before or behind the scores. */
const split: HardModel[] = [
  attention('heads_split_in_front', 0, 'both'),
  attention('heads_split_within', 2, 'both'),
  attention('heads_scaled_scores', 0, 'scores'),
];

export const steps: HardModel[] = [...loops, ...operators, ...split];
