import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { onnx } from 'onnx-proto';
import { describe, expect, it } from 'vitest';
import { editedSource, type OnnxModel } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { planEdit } from '../../../../src/kernel/read/onnx/editModel.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { catalogue, planRepair } from '../../../../src/features/repair/planRepair.ts';
import { writeMap } from '../../../../src/kernel/network/repairMap.ts';
import { modelFacts } from '../../../../src/kernel/rules/buildFacts.ts';
import { NodeIndex } from '../../../../src/kernel/rules/resolveOverrides.ts';
import { givenValues } from '../../../../src/features/repair/repairResult.ts';
import { RepairSubject } from '../../../../src/features/repair/subject.ts';
import { fixturePath } from '../../../support/fixtures.ts';
import { bytesOf, type ByteSource } from '../../../../src/kernel/base/problem.ts';

type Sizes = ReadonlyMap<string, readonly number[]>;

const subjectOf = async (source: ByteSource, shapes: readonly Sizes[] = [], values?: Sizes) => {
  const { value, problems } = await readModel(source, { spans: true });
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return new RepairSubject(value!, source, {
    shapes,
    ...(values && { values }),
    open: () => Promise.reject(new Error('no external data')),
    compute: () => Promise.resolve(new Map()),
  });
};

/** The bytes of a model after one repair; null: it does not apply. */
async function repaired(bytes: Uint8Array, id: string, shapes: readonly Sizes[] = [], values?: Sizes) {
  const source = bytesOf(bytes);
  const subject = await subjectOf(source, shapes, values);
  const planned = await planRepair(
    subject,
    catalogue.find((one) => one.id === id)!,
    new Set(),
  );
  if (!planned.edits) return { bytes: null, places: [], refused: planned.refused };
  const { value, problems } = await planEdit(subject.model, source, planned.edits);
  expect(problems).toEqual([]);
  const edited = editedSource(value!.segments, source);
  return { bytes: await edited.read(0, edited.size), places: planned.places, refused: planned.refused };
}

const value = (name: string, dims: (string | number)[], elemType = 1) => ({
  name,
  type: {
    tensorType: {
      elemType,
      shape: { dim: dims.map((dim) => (typeof dim === 'string' ? { dimParam: dim } : { dimValue: dim })) },
    },
  },
});

function encoded(graph: onnx.IGraphProto, opset = 17): Uint8Array {
  const model = { irVersion: 9, producerName: 'test', opsetImport: [{ domain: '', version: opset }], graph };
  return onnx.ModelProto.encode(model as onnx.IModelProto).finish();
}

const ints = (name: string, list: number[]): onnx.ITensorProto =>
  ({ name, dims: [list.length], dataType: 7, int64Data: list }) as onnx.ITensorProto;

const opsIn = (bytes: Uint8Array): string[] => onnx.ModelProto.decode(bytes).graph!.node!.map((node) => node.opType!);

// TensorRT 10.6 stops building where the output of QuantizeLinear is declared UINT8.
it('quantize-in-float writes the quantization of a UINT8 output around 0, where the opset has Round', async () => {
  const graph = {
    name: 'g',
    node: [{ opType: 'QuantizeLinear', name: 'q', input: ['x', 's', 'z'], output: ['y'] }],
    input: [value('x', [4])],
    output: [value('y', [4], 2)],
    initializer: [
      { name: 's', dims: [], dataType: 1, floatData: [0.5] },
      { name: 'z', dims: [], dataType: 2, int32Data: [0] },
    ] as onnx.ITensorProto[],
  };
  const { bytes } = await repaired(encoded(graph), 'quantize-in-float');
  const ops = opsIn(bytes!);
  expect(ops.at(-1)).toBe('Cast');
  expect(ops).not.toContain('QuantizeLinear');
  expect((await repaired(encoded(graph, 10), 'quantize-in-float')).bytes).toBeNull();
});

it('name-outputs names the values of a TopK of which only the indices are read', async () => {
  const { bytes } = await repaired(
    encoded({
      name: 'g',
      node: [{ opType: 'TopK', name: 'top', input: ['x', 'k'], output: ['', 'i'] }],
      input: [value('x', [4, 16])],
      output: [value('i', [4, 3], 7)],
      initializer: [ints('k', [3])],
    }),
    'name-outputs',
  );
  expect(onnx.ModelProto.decode(bytes!).graph!.node![0]!.output).toEqual(['top/unused', 'i']);
});

describe('squeeze-axes', () => {
  const model = encoded({
    name: 'g',
    node: [{ opType: 'Squeeze', name: 'sq', input: ['x'], output: ['y'] }],
    input: [value('x', ['batch', 1, 4])],
    output: [{ name: 'y' }],
  });
  const sizes = (...batches: number[]) => batches.map((batch) => new Map([['x', [batch, 1, 4]]]));

  it('writes the axes that are 1 in all shapes', async () => {
    const { bytes, places } = await repaired(model, 'squeeze-axes', sizes(2, 4, 8));
    const { node, initializer } = onnx.ModelProto.decode(bytes!).graph!;
    expect(node).toMatchObject([{ opType: 'Squeeze', name: 'sq', output: ['y'] }]);
    expect(initializer).toHaveLength(1);
    expect(places).toMatchObject([{ name: 'sq', by: ['sq'], note: 'axes 1' }]);
    expect((await repaired(bytes!, 'squeeze-axes', sizes(2))).bytes).toBeNull();
  });

  it('refuses where a dimension is 1 in some shapes only, or not known', async () => {
    expect(await repaired(model, 'squeeze-axes', sizes(1, 4))).toMatchObject({
      bytes: null,
      refused: [{ node: '0', reason: expect.stringContaining('only in some') }],
    });
    expect(await repaired(model, 'squeeze-axes')).toMatchObject({
      refused: [{ reason: expect.stringContaining('not known') }],
    });
  });

  it('does not trust what the file declares of inner tensors', async () => {
    const stale = encoded({
      name: 'g',
      node: [
        { opType: 'Relu', name: 'r', input: ['x'], output: ['t'] },
        { opType: 'Squeeze', name: 'sq', input: ['t'], output: ['y'] },
      ],
      input: [value('x', ['batch', 3])],
      output: [{ name: 'y' }],
      valueInfo: [value('t', [1, 3])],
    });
    expect((await repaired(stale, 'squeeze-axes')).bytes).toBeNull();
  });
});

const makeNode = (opType: string, input: string[], output: string, attribute: object[] = []) =>
  ({ opType, name: output, input, output: [output], attribute }) as onnx.INodeProto;

describe('fix-inputs', () => {
  const model = encoded({
    name: 'g',
    node: [makeNode('Equal', ['sr', 'k'], 'c'), makeNode('Cast', ['c'], 'y', [{ name: 'to', type: 2, i: 1 }])],
    input: [value('sr', [], 7), value('k', [1], 7)],
    output: [{ name: 'y' }],
  });

  it('writes values that were given in place of a shape into the model', async () => {
    const { bytes, places } = await repaired(model, 'fix-inputs', [], new Map([['sr', [16_000]]]));
    const { input, initializer } = onnx.ModelProto.decode(bytes!).graph!;
    expect(input).toMatchObject([{ name: 'k' }]);
    expect(initializer).toMatchObject([{ name: 'sr', dataType: 7 }]);
    expect(places).toMatchObject([{ node: null, name: 'sr', note: 'int64 16000' }]);
    expect((await repaired(model, 'fix-inputs')).bytes).toBeNull();
  });

  it('takes one value that could be a size for a size, unless a failing node reads it', async () => {
    expect((await repaired(model, 'fix-inputs', [], new Map([['k', [1]]]))).bytes).toBeNull();
    const subject = await subjectOf(bytesOf(model), [], new Map([['k', [1]]]));
    const planned = await planRepair(
      subject,
      catalogue.find((one) => one.id === 'fix-inputs')!,
      new Set(['0']),
    );
    expect(planned.edits).not.toBeNull();
  });

  it('tells values from shapes', () => {
    const given = (text: string, shape: number[], elemType = 7) => ({ text, input: value('k', shape, elemType) });
    const cases: [ReturnType<typeof given>, number[] | undefined][] = [
      [given('16000', []), [16_000]],
      [given('3', [1]), [3]],
      [given('1', [1]), undefined],
      [given('2x3', [2]), [2, 3]],
      [given('4', [4]), undefined],
      [given('4', [0]), undefined],
      [given('2x3', [2, 3]), undefined],
      [given('3', [1], 1), undefined],
    ];
    for (const [{ text, input }, expected] of cases) {
      const range = { min: text, opt: text, max: text };
      const { dim } = input.type.tensorType.shape;
      const shape = dim.map((size) => ('dimValue' in size && size.dimValue > 0 ? size.dimValue : null));
      const type = input.type.tensorType.elemType === 7 ? 'int64' : 'float';
      const asked = { graph: { inputs: [{ name: 'k', type, shape }] } } as unknown as OnnxModel;
      expect(givenValues(asked, [{ k: range }]).get('k'), `${text} for ${JSON.stringify(shape)}`).toEqual(expected);
    }
  });
});

it('known-branch also decides an If inside of one that stays', async () => {
  const inner = makeNode('If', ['c'], 'v', [
    { name: 'then_branch', type: 5, g: { name: 't', node: [makeNode('Relu', ['x'], 'w')], output: [{ name: 'w' }] } },
    { name: 'else_branch', type: 5, g: { name: 'e', node: [makeNode('Det', ['x'], 'd')], output: [{ name: 'd' }] } },
  ]);
  const model = encoded({
    name: 'g',
    node: [
      makeNode('Shape', ['x'], 's'),
      makeNode('Gather', ['s', 'zero'], 'n'),
      makeNode('Equal', ['n', 'two'], 'c'),
      makeNode('If', ['open'], 'y', [
        { name: 'then_branch', type: 5, g: { name: 'a', node: [inner], output: [{ name: 'v' }] } },
        {
          name: 'else_branch',
          type: 5,
          g: { name: 'b', node: [makeNode('Sin', ['x'], 'z')], output: [{ name: 'z' }] },
        },
      ]),
    ],
    input: [value('x', ['b', 3]), value('open', [], 9)],
    output: [{ name: 'y' }],
    initializer: [
      { name: 'zero', dims: [], dataType: 7, int64Data: [0] },
      { name: 'two', dims: [], dataType: 7, int64Data: [2] },
    ] as onnx.ITensorProto[],
  });
  const { bytes, places } = await repaired(model, 'known-branch', [new Map([['x', [2, 3]]])]);
  expect(places).toMatchObject([{ name: 'v', note: 'the condition is true' }]);
  const outer = onnx.ModelProto.decode(bytes!).graph!.node!.find(({ opType }) => opType === 'If')!;
  expect(outer.attribute![0]!.g!.node).toMatchObject([{ opType: 'Relu', name: 'v', output: ['v'] }]);
});

it('known-branch keeps the branches that nested Ifs take, and what subgraphs inside of them read', async () => {
  const node = (opType: string, input: string[], output: string[], attribute: object[] = []) => ({
    opType,
    name: output[0],
    input,
    output,
    attribute,
  });
  const body = (nodes: object[], output: string) => ({ name: output, node: nodes, output: [{ name: output }] });
  const conditional = (condition: string, output: string, then: object, other: object) =>
    node(
      'If',
      [condition],
      [output],
      [
        { name: 'then_branch', type: 5, g: then },
        { name: 'else_branch', type: 5, g: other },
      ],
    );
  const size = (axis: string) => [
    node('Gather', ['shape', axis], [`d${axis}`]),
    node('Equal', [`d${axis}`, 'one'], [`c${axis}`]),
  ];
  const open = conditional('open', 'u', body([node('Neg', ['t'], ['m'])], 'm'), body([node('Abs', ['t'], ['n'])], 'n'));
  const inner = conditional(
    'c1',
    'v',
    body([node('Relu', ['x'], ['t']), open], 'u'),
    body([node('Det', ['x'], ['w'])], 'w'),
  );
  const graph = {
    name: 'g',
    node: [
      node('Shape', ['x'], ['shape']),
      ...size('0'),
      ...size('1'),
      conditional('c0', 'y', body([inner], 'v'), body([node('Sin', ['x'], ['z'])], 'z')),
    ],
    input: [value('x', ['b', 1]), value('open', [], 9)],
    output: [{ name: 'y' }],
    initializer: [0, 1].map((at) => ({ name: String(at), dims: [], dataType: 7, int64Data: [at] })),
  };
  graph.initializer.push({ name: 'one', dims: [], dataType: 7, int64Data: [1] });
  const model = encoded(graph as unknown as onnx.IGraphProto);
  const { bytes, places } = await repaired(model, 'known-branch', [new Map([['x', [1, 1]]])]);
  expect(places).toMatchObject([{ name: 'y', note: 'the condition is true' }]);
  const { node: nodes } = onnx.ModelProto.decode(bytes!).graph!;
  const kept = nodes!.filter(({ opType }) => ['Relu', 'If', 'Identity'].includes(opType!));
  expect(kept).toMatchObject([
    { opType: 'Relu', output: ['t'] },
    { opType: 'If', output: ['y'] },
  ]);
  expect(kept[1]!.attribute![0]!.g!.node).toMatchObject([{ opType: 'Neg', input: ['t'] }]);
  // With a batch of 2 the condition is false; of both only the inner one is known.
  expect(opsIn((await repaired(model, 'known-branch', [new Map([['x', [2, 1]]])])).bytes!)).toContain('Sin');
  const both = [1, 2].map((batch) => new Map([['x', [batch, 1]]]));
  expect((await repaired(model, 'known-branch', both)).places).toMatchObject([{ name: 'v' }]);
});

it('leaves constants of random operators alone when it folds', async () => {
  const graph = {
    name: 'g',
    node: [
      { opType: 'RandomNormal', name: 'r', output: ['t'], attribute: [{ name: 'shape', type: 7, ints: [2, 2] }] },
      { opType: 'Det', name: 'd', input: ['t'], output: ['u'] },
      { opType: 'Add', name: 'a', input: ['x', 'u'], output: ['y'] },
    ],
    input: [value('x', [1])],
    output: [value('y', [1])],
  } as unknown as onnx.IGraphProto;
  const subject = await subjectOf(bytesOf(encoded(graph)));
  const fold = catalogue.find(({ id }) => id === 'fold-constants')!;
  expect((await planRepair(subject, fold, new Set(['1', '2']))).edits).toBeNull();
});

it('a weight that another node reads stays, one that nothing reads any more goes', async () => {
  const model = (shared: boolean) =>
    encoded({
      name: 'g',
      node: [
        { opType: 'DequantizeLinear', name: 'd', input: ['w', 's', 'z'], output: ['f'] },
        { opType: 'Add', name: 'a', input: ['x', 'f'], output: ['y'] },
        ...(shared ? [{ opType: 'Identity', name: 'i', input: ['w'], output: ['v'] }] : []),
      ],
      input: [value('x', [4])],
      output: [value('y', [4]), ...(shared ? [value('v', [4], 2)] : [])],
      initializer: [
        { name: 'w', dims: [4], dataType: 2, rawData: Uint8Array.of(0, 1, 200, 255) },
        { name: 's', dims: [], dataType: 1, floatData: [0.5] },
        { name: 'z', dims: [], dataType: 2, int32Data: [100] },
        { name: 'unused', dims: [1], dataType: 1, floatData: [1] },
      ] as onnx.ITensorProto[],
    });
  const names = async (shared: boolean) => {
    const { bytes } = await repaired(model(shared), 'dequantize-constants');
    return onnx.ModelProto.decode(bytes!).graph!.initializer!.map(({ name }) => name);
  };
  const made = 'd/dequantize-constants/constant';
  expect(await names(false)).toEqual(['unused', made]);
  expect(await names(true)).toEqual(['w', 'unused', made]);
  const { bytes } = await repaired(model(false), 'dequantize-constants');
  const { rawData } = onnx.ModelProto.decode(bytes!).graph!.initializer!.find(({ name }) => name === made)!;
  expect([...new Float32Array(new Uint8Array(rawData!).buffer)]).toEqual([-50, -49.5, 50, 77.5]);
});

/** Nodes that no repair concerns, and nodes that one repair each answers. */
const kinds = {
  plain: (input: string, output: string, name: string): onnx.INodeProto[] => [
    { opType: 'Relu', name, input: [input], output: [output], docString: `doc of ${name}` },
  ],
  slice: (input: string, output: string, name: string): onnx.INodeProto[] => [
    { opType: 'Slice', name, input: [input, 'starts', 'ends'], output: [output] },
  ],
  optional: (input: string, output: string, name: string): onnx.INodeProto[] => [
    { opType: 'Optional', name: `${name}_o`, input: [input], output: [`${output}_o`] },
    { opType: 'OptionalGetElement', name, input: [`${output}_o`], output: [output] },
  ],
  pool: (input: string, output: string, name: string): onnx.INodeProto[] => [
    { opType: 'Dropout', name, input: [input], output: [output, `${output}_mask`] },
  ],
};

const repairOf = { slice: 'slice-axes', optional: 'unwrap-optionals', pool: 'remove-unused-outputs' } as const;

it('keeps every byte of what it does not concern, and changes nothing the second time', async () => {
  const lists = fc.array(fc.constantFrom(...(Object.keys(kinds) as (keyof typeof kinds)[])), {
    minLength: 1,
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(lists, fc.constantFrom(...(['slice', 'optional', 'pool'] as const)), async (list, which) => {
      const node = list.flatMap((kind, index) => kinds[kind](`t${index}`, `t${index + 1}`, `n${index}`));
      const graph = {
        name: 'g',
        docString: 'kept',
        node,
        input: [value('t0', [4, 4, 4])],
        output: [value(`t${list.length}`, ['a', 'b', 'c'])],
        initializer: [ints('starts', [0]), ints('ends', [4])],
      };
      const before = encoded(graph);
      const { bytes, places } = await repaired(before, repairOf[which]);
      expect(places).toHaveLength(list.filter((kind) => kind === which).length);
      if (bytes === null) return;
      // Untouched nodes are in the result byte for byte, in their order.
      let at = 0;
      const whole = Buffer.from(bytes);
      for (const one of node) {
        const isTouched =
          one.opType === 'Optional' || one.opType === 'OptionalGetElement'
            ? which === 'optional'
            : one.opType === { slice: 'Slice', pool: 'Dropout', optional: '' }[which];
        if (isTouched) continue;
        const found = whole.indexOf(onnx.NodeProto.encode(one).finish(), at);
        expect(found, one.name!).toBeGreaterThanOrEqual(at);
        at = found + 1;
      }
      const decoded = onnx.ModelProto.decode(bytes);
      expect(decoded.producerName).toBe('test');
      expect(decoded.graph!.docString).toBe('kept');
      expect((await repaired(bytes, repairOf[which])).bytes).toBeNull();
      // Every tensor that is read is made.
      const made = new Set(['t0', '', ...decoded.graph!.initializer!.map(({ name }) => name!)]);
      for (const { input, output } of decoded.graph!.node!) {
        for (const name of input!) expect(made).toContain(name);
        for (const name of output!) made.add(name);
      }
      expect(made).toContain(`t${list.length}`);
    }),
    { numRuns: 60 },
  );
});

it('unrolls a sequence into its tensors', async () => {
  const { bytes } = await repaired(
    encoded({
      name: 'g',
      node: [
        { opType: 'SequenceEmpty', name: 'e', output: ['s0'] },
        { opType: 'SequenceInsert', name: 'i', input: ['s0', 'x'], output: ['s1'] },
        { opType: 'SequenceInsert', name: 'j', input: ['s1', 'x'], output: ['s2'] },
        {
          opType: 'ConcatFromSequence',
          name: 'c',
          input: ['s2'],
          output: ['y'],
          attribute: [{ name: 'axis', type: 2, i: 0 }],
        },
      ] as onnx.INodeProto[],
      input: [value('x', [2])],
      output: [value('y', [4])],
    }),
    'unroll-sequences',
  );
  expect(opsIn(bytes!)).toEqual(['Concat']);
});

it('has ids of its own for all repairs, in kebab case, each with what a page of the docs says', () => {
  const ids = catalogue.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { id, title, rejected, proof } of catalogue) {
    expect(id).toMatch(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/);
    expect(title).toMatch(/^[A-Z].*[^.]$/);
    for (const text of [rejected, proof]) expect(text).toMatch(/\.$/);
  }
});

it('selects what repairs wrote by the name of the original', async () => {
  const graph = {
    name: 'g',
    node: [
      makeNode('Mul', ['x', 'x'], 'd/expand-determinant/Mul'),
      makeNode('Sub', ['d/expand-determinant/Mul', 'x'], 'd'),
    ],
    input: [value('x', [2])],
    output: [{ name: 'd' }],
  };
  const { model } = await subjectOf(bytesOf(encoded(graph)));
  const place = { node: '0', name: 'd', operator: 'Det', by: model.nodes.map(({ name }) => name), note: null };
  const step = { id: 'expand-determinant', title: '', class: 'rounding' as const, places: [place] };
  const index = new NodeIndex(modelFacts({ ...model, metadata: [writeMap([step], null, null)] }, 'm.onnx'));
  expect([...index.named('d')]).toEqual([0, 1]);
  expect([...new NodeIndex(modelFacts(model, 'm.onnx')).named('d')]).toEqual([1]);
});

it('gives nested Loops without a condition one each', async () => {
  const { bytes, places } = await repaired(readFileSync(fixturePath('failures/loop_loop.onnx')), 'loop-condition');
  expect(places).toHaveLength(2);
  const loops = (graph: onnx.IGraphProto): onnx.INodeProto[] =>
    graph.node!.flatMap((node) => [node, ...node.attribute!.flatMap(({ g }) => (g ? loops(g) : []))]);
  const inputs = loops(onnx.ModelProto.decode(bytes!).graph!).filter(({ opType }) => opType === 'Loop');
  expect(inputs.map(({ input }) => input![1])).not.toContain('');
  expect(inputs).toHaveLength(2);
});
