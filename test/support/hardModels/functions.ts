import { gate, hard, type HardModel } from './hardModel.ts';
import type { Graph, Node } from './onnxWriter.ts';

const after: Node = ['after', 'Exp', ['i'], ['y']];
const branch = (name: string, nodes: Node[]): { graph: Graph } => ({
  graph: { name, outputs: [[nodes.at(-1)![3][0]!, 'float', 4, 8]], nodes },
});

/** Local functions: called twice, in each other, with the names of outer nodes or none. */
export const functions: HardModel[] = [
  hard('function', [['pre', 'Relu', ['x'], ['p']], ['call', 'local.Gate', ['p'], ['i']], after], {
    functions: [gate],
  }),
  hard('function_twice', [['call0', 'local.Gate', ['x'], ['p']], ['call1', 'local.Gate', ['p'], ['i']], after], {
    functions: [gate],
  }),
  hard(
    'function_twice_same_name',
    [['call', 'local.Gate', ['x'], ['p']], ['call', 'local.Gate', ['p'], ['i']], after],
    {
      functions: [gate],
    },
  ),
  hard('function_unnamed', [['', 'local.Gate', ['x'], ['i']], after], {
    functions: [
      {
        name: 'Gate',
        inputs: ['a'],
        outputs: ['b'],
        nodes: [
          ['', 'Sigmoid', ['a'], ['s']],
          ['', 'Mul', ['a', 's'], ['b']],
        ],
      },
    ],
  }),
  hard('function_name_outside', [['sig', 'Relu', ['x'], ['p']], ['mul', 'local.Gate', ['p'], ['i']], after], {
    functions: [gate],
  }),
  hard('function_nested', [['call', 'local.Twice', ['x'], ['i']], after], {
    functions: [
      gate,
      {
        name: 'Twice',
        inputs: ['a'],
        outputs: ['c'],
        nodes: [
          ['first', 'local.Gate', ['a'], ['b']],
          ['second', 'local.Gate', ['b'], ['c']],
        ],
      },
    ],
  }),
  hard('function_of_constants', [['call', 'local.Half', ['x'], ['i']], after], {
    functions: [
      {
        name: 'Half',
        inputs: ['a'],
        outputs: ['b'],
        nodes: [
          ['half', 'Constant', [], ['h'], { value: { tensor: ['', 'float', [], 0.5] } }],
          ['mul', 'Mul', ['a', 'h'], ['b']],
        ],
      },
    ],
  }),
  hard('function_output_unread', [['call', 'local.Two', ['x'], ['i', 'unread']], after], {
    functions: [
      {
        name: 'Two',
        inputs: ['a'],
        outputs: ['b', 'd'],
        nodes: [
          ['tanh', 'Tanh', ['a'], ['b']],
          ['turn', 'Transpose', ['a'], ['t'], { perm: [1, 0] }],
          ['mm', 'MatMul', ['a', 't'], ['m']],
          ['act', 'Relu', ['m'], ['d']],
        ],
      },
    ],
  }),
  hard('function_dead_inside', [['call', 'local.Part', ['x'], ['i']], after], {
    functions: [
      {
        name: 'Part',
        inputs: ['a'],
        outputs: ['b'],
        nodes: [
          ['dead', 'Exp', ['a'], ['d']],
          ['same', 'Identity', ['a'], ['e']],
          ['tanh', 'Tanh', ['e'], ['b']],
        ],
      },
    ],
  }),
  hard('function_with_if', [['call', 'local.Choose', ['x'], ['i']], after], {
    weights: [],
    functions: [
      {
        name: 'Choose',
        inputs: ['a'],
        outputs: ['b'],
        nodes: [
          ['cond', 'Constant', [], ['c'], { value: { tensor: ['', 'bool', [], 1] } }],
          [
            'if',
            'If',
            ['c'],
            ['b'],
            {
              then_branch: branch('then', [['t', 'Relu', ['a'], ['ta']]]),
              else_branch: branch('else', [['e', 'Neg', ['a'], ['ea']]]),
            },
          ],
        ],
      },
    ],
  }),
];
