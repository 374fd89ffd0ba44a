import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { inferTensors, type InferredTensors } from '../../../../src/kernel/network/network.ts';
import { createModelGraph, type ModelGraph } from '../../../../src/kernel/network/modelGraph.ts';
import type { Shape } from '../../../../src/kernel/network/outputTypes.ts';
import type { OnnxModel } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { fixturePath, readFixture } from '../../../support/fixtures.ts';
import { buildModel, type ShortGraph } from '../fusion/buildModel.ts';

/** Type and shape by tensor. */
type Recorded = Record<string, [string | null, Shape]>;

/** What ONNX's own inference says (test/fixtures/inferTensors.py). */
const recorded = JSON.parse(new TextDecoder().decode(readFixture('inferredTensors.json.gz'))) as Record<
  string,
  { tensors: Recorded; numbers?: Record<string, number>; fixed?: Recorded }
>;

/** The scales of a Resize are floats, which the reader passes over: what follows from them is declared or not known. */
const behindScales: Record<string, number> = { 'fusion_zoo.onnx': 9, 'yolo_like.onnx': 4 };

/** The model with nothing declared inside; numbers in place of the names of dimensions. */
async function undeclared(file: string, numbers: Record<string, number> = {}): Promise<OnnxModel> {
  const { value } = await readModel(bytesOf(readFileSync(fixturePath(`models/${file}`))));
  const model = value!;
  model.graph.values = [];
  for (const input of [...model.graph.inputs, ...model.graph.outputs])
    input.shape = input.shape && input.shape.map((dim) => numbers[dim ?? ''] ?? dim);
  return model;
}

/** Where what was inferred contradicts the record, and where it says less. */
function compare(graph: ModelGraph, { types, shapes }: InferredTensors, record: Recorded) {
  const wrong: string[] = [];
  const less: string[] = [];
  for (const [name, [type, shape]] of Object.entries(record)) {
    const tensor = graph.byName.get(name)!;
    const own = shapes[tensor]!;
    const told = `${name} ${types[tensor]} ${JSON.stringify(own)}, recorded ${type} ${JSON.stringify(shape)}`;
    if (types[tensor] !== type) wrong.push(told);
    if (own === null || shape === null) {
      if (shape !== null) less.push(told);
      continue;
    }
    const differs = (at: number): boolean => own[at] !== null && typeof shape[at] === 'number' && own[at] !== shape[at];
    if (own.length !== shape.length || own.some((_, at) => differs(at))) wrong.push(told);
    else if (own.some((dim, at) => dim === null && shape[at] !== null)) less.push(told);
  }
  return { wrong, less };
}

describe.each(Object.keys(recorded))('%s', (file) => {
  test('infers what ONNX infers, and nothing else', async () => {
    const graph = createModelGraph(await undeclared(file));
    const { wrong, less } = compare(graph, inferTensors(graph), recorded[file]!.tensors);
    expect(wrong).toEqual([]);
    expect(less.length).toBe(behindScales[file] ?? 0);
  });
});

describe.each(Object.keys(recorded).filter((file) => recorded[file]!.numbers))('%s', (file) => {
  const numbers = recorded[file]!.numbers!;
  const fixed = recorded[file]!.fixed!;

  test('names of dimensions are right wherever numbers in their place say so', async () => {
    const graph = createModelGraph(await undeclared(file));
    const { types, shapes } = inferTensors(graph);
    const filled = shapes.map((shape) => shape && shape.map((dim) => numbers[dim ?? ''] ?? dim));
    expect(compare(graph, { types, shapes: filled }, fixed).wrong).toEqual([]);
  });

  test('with numbers in their place nothing is left open', async () => {
    const graph = createModelGraph(await undeclared(file, numbers));
    expect(compare(graph, inferTensors(graph), fixed)).toEqual({ wrong: [], less: [] });
  });
});

/** Shapes of the outputs of a small model. */
function shapesOf(short: ShortGraph, prepare: (model: OnnxModel) => void = () => undefined): Record<string, Shape> {
  const model = buildModel(short);
  prepare(model);
  const graph = createModelGraph(model);
  const { shapes } = inferTensors(graph);
  return Object.fromEntries([...graph.byName].map(([name, tensor]) => [name, shapes[tensor]!]));
}

test('what an unknown operator makes is not known, and what follows from it neither', () => {
  const short: ShortGraph = {
    inputs: { x: ['n', 8] },
    outputs: ['z'],
    nodes: [
      ['plugin', 'Plugin', ['x'], ['y']],
      ['relu', 'Relu', ['y'], ['z']],
    ],
  };
  const { y, z } = shapesOf(short, (model) => (model.nodes[0]!.domain = 'com.example'));
  expect([y, z]).toEqual([null, null]);
});

test('sizes with two different names are not taken for equal', () => {
  const short: ShortGraph = {
    inputs: { a: ['n', 8], b: ['m', 8], c: [1, 8], d: ['n', 1] },
    outputs: ['ab', 'ac', 'ad'],
    nodes: [
      ['1', 'Add', ['a', 'b'], ['ab']],
      ['2', 'Add', ['a', 'c'], ['ac']],
      ['3', 'Add', ['a', 'd'], ['ad']],
    ],
  };
  const { ab, ac, ad } = shapesOf(short);
  expect([ab, ac, ad]).toEqual([
    [null, 8],
    ['n', 8],
    ['n', 8],
  ]);
});

test('branches with different shapes give what they have in common; a Loop carries what may change', () => {
  const short: ShortGraph = {
    inputs: { x: ['n', 8], y: ['n', 4] },
    outputs: ['z'],
    nodes: [
      [
        'if',
        'If',
        ['c'],
        ['z'],
        {
          then_branch: { outputs: ['t'], nodes: [['then', 'Relu', ['x'], ['t']]] },
          else_branch: { outputs: ['e'], nodes: [['else', 'Relu', ['y'], ['e']]] },
        },
      ],
    ],
  };
  expect(shapesOf(short)['z']).toEqual(['n', null]);
});

test('a Scan takes its inputs apart and puts the results together, along the axes that it names', () => {
  const scanned = (seq: (string | number)[], axes: [name: string, values: number[]][]) =>
    shapesOf(
      {
        inputs: { x: ['n', 8], seq },
        outputs: ['last', 'all'],
        nodes: [
          [
            'scan',
            'Scan',
            ['x', 'seq'],
            ['last', 'all'],
            {
              body: {
                inputs: ['state', 'slice'],
                outputs: ['sum', 'out'],
                nodes: [
                  ['add', 'Add', ['state', 'slice'], ['sum']],
                  ['relu', 'Relu', ['slice'], ['out']],
                ],
              },
            },
          ],
        ],
      },
      ({ nodes: [scan] }) => {
        for (const input of scan!.subgraphs[0]!.graph.inputs) input.shape = null;
        scan!.attributes = [
          { name: 'num_scan_inputs', kind: 'int', value: 1 },
          ...axes.map(([name, value]) => ({ name, kind: 'ints' as const, value })),
        ];
      },
    );
  expect(scanned(['T', 'n', 8], [])).toMatchObject({ last: ['n', 8], all: ['T', 'n', 8] });
  const turned: [string, number[]][] = [
    ['scan_input_axes', [1]],
    ['scan_output_axes', [-1]],
  ];
  expect(scanned(['n', 5, 8], turned)).toMatchObject({ last: ['n', 8], all: ['n', 8, 5] });
  expect(scanned(['n', 5, 8], [['scan_input_axes', [7]]])).toMatchObject({ last: ['n', 8], all: null });
});

test('an attribute that a function takes from its call is that of the call', () => {
  const short: ShortGraph = { inputs: { x: ['n', 8, 4] }, outputs: ['y'], nodes: [['call', 'Turn', ['x'], ['y']]] };
  const turned = (perm: number[] | null) =>
    shapesOf(short, (model) => {
      const [call] = model.nodes;
      call!.domain = 'local';
      if (perm) call!.attributes = [{ name: 'order', kind: 'ints', value: perm }];
      const attributes = [{ name: 'perm', kind: 'ints' as const, value: null, reference: 'order' }];
      const node = {
        ...call!,
        id: 'functions/0/0',
        op: 'Transpose',
        domain: '',
        inputs: ['a'],
        outputs: ['b'],
        attributes,
      };
      model.functions.push({
        name: 'Turn',
        domain: 'local',
        overload: '',
        inputs: ['a'],
        outputs: ['b'],
        nodes: [node],
      });
    })['y'];
  expect(turned([2, 0, 1])).toEqual([4, 'n', 8]);
  expect(turned(null)).toBeNull();
});
