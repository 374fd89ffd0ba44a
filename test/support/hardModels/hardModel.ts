import { writeModel, type Graph, type LocalFunction, type Node, type Value, type Weight } from './onnxWriter.ts';

/** A small model that makes some plausible statement about its engine wrong. */
export interface HardModel {
  name: string;
  bytes: Uint8Array;
  /** Arguments for the driver, beside the model. */
  arguments: string[];
}

interface More extends Partial<Graph> {
  functions?: LocalFunction[];
  opset?: number;
  arguments?: string[];
}

export const x: Value = ['x', 'float', 4, 8];
export const y: Value = ['y', 'float', 4, 8];
export const w: Weight = ['w', 'float', [8, 8]];

/** A model from `x` to `y`, both of 4 by 8 floats, where nothing else is given. */
export function hard(name: string, nodes: Node[], more: More = {}): HardModel {
  const { functions = [], opset, arguments: extra = [], ...graph } = more;
  return {
    name,
    bytes: writeModel({ inputs: [x], outputs: [y], ...graph, nodes }, functions, opset),
    arguments: extra,
  };
}

/** Shapes of one dynamic input for the driver: minimum, optimum, maximum. */
export const profile = (name: string, ...[min, opt, max]: [number[], number[], number[]]): string[] => [
  '--profile',
  JSON.stringify({ [name]: { min, opt, max } }),
];

/** The body of a Scan over the rows of a matrix: state `s` and element `e` to the next state `t` and the result `z`. */
export const scanBody = (nodes: Node[]): { graph: Graph } => ({
  graph: {
    name: 'body',
    inputs: [
      ['s', 'float', 8],
      ['e', 'float', 8],
    ],
    outputs: [
      ['t', 'float', 8],
      ['z', 'float', 8],
    ],
    nodes,
  },
});

/** The steps of most of these bodies. */
export const scanSteps: Node[] = [
  ['mul', 'Mul', ['s', 'e'], ['m']],
  ['sum', 'Add', ['m', 'e'], ['t']],
  ['sig', 'Sigmoid', ['t'], ['z']],
];

/** A function: a · Sigmoid(a). */
export const gate: LocalFunction = {
  name: 'Gate',
  inputs: ['a'],
  outputs: ['b'],
  nodes: [
    ['sig', 'Sigmoid', ['a'], ['s']],
    ['mul', 'Mul', ['a', 's'], ['b']],
  ],
};
