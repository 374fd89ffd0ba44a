import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { onnx } from 'onnx-proto';
import { describe, expect, test, vi } from 'vitest';
import {
  convertElements,
  dataTypeNumber,
  type OnnxGraph,
  type OnnxModel,
  segmentBytes,
  segmentSize,
} from '../../../../../src/kernel/read/onnx/onnxModel.ts';
import {
  type EditedModel,
  type EditOptions,
  type ModelEdits,
  planEdit,
} from '../../../../../src/kernel/read/onnx/editModel.ts';
import { readModel } from '../../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf, type ByteSource } from '../../../../../src/kernel/base/problem.ts';
import { fixturePath, modelPath } from '../../../../support/fixtures.ts';
import { type Bytes, concat, float, int, len, model, node, packed, varint } from '../../../../support/wire.ts';

vi.setConfig({ testTimeout: 120_000 });

const fixtures = readdirSync(fixturePath('models')).filter((name) => name.endsWith('.onnx'));

async function open(bytes: Uint8Array): Promise<OnnxModel> {
  const { value, problems } = await readModel(bytesOf(bytes), { spans: true });
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return value!;
}

async function plan(bytes: Uint8Array, edits: ModelEdits, options?: EditOptions): Promise<EditedModel> {
  const { value, problems } = await planEdit(await open(bytes), bytesOf(bytes), edits, options);
  expect(problems).toEqual([]);
  return value!;
}

async function bytesFrom(segments: EditedModel['segments'], files: (file?: string) => ByteSource): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of segmentBytes(segments, files)) pieces.push(piece);
  return concat(...pieces);
}

async function edited(bytes: Uint8Array, edits: ModelEdits): Promise<Uint8Array> {
  const { segments, size } = await plan(bytes, edits);
  const result = await bytesFrom(segments, () => bytesOf(bytes));
  expect(result.length).toBe(size);
  return result;
}

/** What an independent decoder sees, as plain data. */
const decode = (bytes: Uint8Array): onnx.IModelProto =>
  onnx.ModelProto.toObject(onnx.ModelProto.decode(bytes), { longs: Number, bytes: Array, arrays: true });

describe('without edits', () => {
  test.each(fixtures)('%s stays the same file', async (name) => {
    const bytes = readFileSync(fixturePath(`models/${name}`));
    const { segments, size, external } = await plan(bytes, {});
    expect(segments).toEqual([{ copy: { offset: 0, length: bytes.length } }]);
    expect(size).toBe(bytes.length);
    expect(external).toBeNull();
  });

  test('a model that was read without places is read again', async () => {
    const bytes = readFileSync(modelPath('loop_if'));
    const { value } = await readModel(bytesOf(bytes));
    const { value: same } = await planEdit(value!, bytesOf(bytes), { inputs: [] });
    expect(same!.size).toBe(bytes.length);
  });
});

/** The graph of a path in the decoder's result. */
function graphAt(proto: onnx.IModelProto, path: string): onnx.IGraphProto {
  const steps = path === '' ? [] : path.split('/');
  let graph = proto.graph!;
  for (let step = 0; step < steps.length; step += 2) {
    const attribute = graph.node![Number(steps[step])]!.attribute!.find(({ name }) => name === steps[step + 1]);
    graph = attribute!.g!;
  }
  return graph;
}

const graphsOf = (graph: OnnxGraph): OnnxGraph[] => [
  graph,
  ...graph.nodes.flatMap(({ subgraphs }) => subgraphs.flatMap(({ graph: body }) => graphsOf(body))),
];

const positionOf = (id: string): [string, number] => [
  id.slice(0, Math.max(0, id.lastIndexOf('/'))),
  Number(id.split('/').at(-1)),
];

/** The same edits on the decoder's result: what the edited file must decode to. */
function expected(bytes: Uint8Array, edits: ModelEdits): onnx.IModelProto {
  const proto = decode(bytes);
  const nodeAt = (id: string): onnx.INodeProto => {
    const [path, index] = positionOf(id);
    return graphAt(proto, path).node![index]!;
  };
  for (const { node: id, index, tensor } of edits.inputs ?? []) nodeAt(id).input![index] = tensor;
  for (const { node: id, index, tensor } of edits.outputs ?? []) nodeAt(id).output![index] = tensor;
  for (const { graph, name, to } of edits.values ?? []) {
    const { input, output, valueInfo } = graphAt(proto, graph);
    for (const value of [...input!, ...output!, ...valueInfo!]) {
      if (value.name === name && value.type?.tensorType) value.type.tensorType.elemType = dataTypeNumber(to)!;
    }
  }
  const insertions = new Map<onnx.IGraphProto, { at: number; cast: onnx.INodeProto }[]>();
  for (const cast of edits.casts ?? []) {
    const graph = graphAt(proto, cast.graph);
    const list = insertions.get(graph) ?? [];
    insertions.set(graph, list);
    const to = onnx.NodeProto.create({
      input: [cast.input],
      output: [cast.output],
      name: cast.name,
      opType: 'Cast',
      attribute: [{ name: 'to', i: dataTypeNumber(cast.to)!, type: onnx.AttributeProto.AttributeType.INT }],
    });
    const plain = onnx.ModelProto.toObject(onnx.ModelProto.create({ graph: { node: [to] } }), {
      longs: Number,
      arrays: true,
    });
    list.push({ at: cast.after === null ? 0 : positionOf(cast.after)[1] + 1, cast: plain.graph.node[0] });
  }
  for (const [graph, list] of insertions) {
    const before = (at: number): onnx.INodeProto[] => list.filter((one) => one.at === at).map(({ cast }) => cast);
    graph.node = [...graph.node!.flatMap((one, index) => [...before(index), one]), ...before(graph.node!.length)];
  }
  return proto;
}

/** Edits of everything but weights, at random places. */
const randomEdits = (found: OnnxModel): fc.Arbitrary<ModelEdits> => {
  const graphs = graphsOf(found.graph);
  const name = fc.string({ maxLength: 200, unit: 'grapheme' });
  const wired = (list: 'inputs' | 'outputs'): fc.Arbitrary<NonNullable<ModelEdits['inputs']>> => {
    const places = found.nodes.flatMap(({ id, [list]: tensors }) => tensors.map((_, index) => ({ node: id, index })));
    return fc.uniqueArray(
      fc.tuple(fc.constantFrom(...places), name).map(([place, tensor]) => ({ ...place, tensor })),
      { maxLength: 5, selector: ({ node: id, index }) => `${id} ${index}` },
    );
  };
  const graph = fc.constantFrom(...graphs);
  const type = fc.constantFrom('float16', 'bfloat16', 'float', 'type 300');
  const cast = fc
    .tuple(graph, fc.nat(), name, name, name, fc.constantFrom('float16', 'float'))
    .map(([{ path, nodes }, at, input, output, called, to]) => {
      const after = nodes[at % (nodes.length + 1)]?.id ?? null;
      return { graph: path, name: called, input, output, to, after };
    });
  const valued = graphs.flatMap(({ path, inputs, outputs, values }) =>
    [...inputs, ...outputs, ...values]
      .filter((value) => value.type)
      .map((value) => ({ graph: path, name: value.name })),
  );
  const value = fc.tuple(fc.constantFrom(...valued), type).map(([place, to]) => ({ ...place, to }));
  return fc.record({
    inputs: wired('inputs'),
    outputs: wired('outputs'),
    casts: fc.array(cast, { maxLength: 5 }),
    values: fc.uniqueArray(value, { maxLength: 4, selector: (one) => `${one.graph} ${one.name}` }),
  });
};

describe('random edits', () => {
  test.each(['loop_if', 'unnamed', 'two_inputs_multi_out', 'lstm_gru'])(
    '%s: an independent decoder sees the edits and nothing else, and all other bytes are copied',
    async (name) => {
      const bytes = readFileSync(modelPath(name));
      const found = await open(bytes);
      await fc.assert(
        fc.asyncProperty(randomEdits(found), async (edits) => {
          const { segments } = await plan(bytes, edits);
          const result = await bytesFrom(segments, () => bytesOf(bytes));
          expect(decode(result)).toEqual(expected(bytes, edits));
          expectCopied(bytes, segments, edits);
        }),
        { numRuns: 60 },
      );
    },
  );
});

test('very many Casts at one place are put together in one go', async () => {
  const count = 100_000;
  const casts = Array.from({ length: count }, (_, i) => ({
    graph: '',
    name: `cast ${i}`,
    input: 'x',
    output: `x ${i}`,
    to: 'float16',
    after: null,
  }));
  const result = await open(await edited(model(node('Relu', ['x'], ['y']), len(12, len(1, 'y'))), { casts }));
  expect(result.nodes).toHaveLength(count + 1);
  expect(result.nodes.at(-2)).toMatchObject({ name: `cast ${count - 1}`, op: 'Cast' });
  expect(result.nodes.at(-1)).toMatchObject({ op: 'Relu' });
});

test('very many weights and declared types are found by their names', async () => {
  const names = Array.from({ length: 50_000 }, (_, i) => `w${i}`);
  const typed = (name: string): Bytes => len(13, len(1, name), len(2, len(1, int(1, 1), len(2))));
  const weights = names.map((name) => len(5, int(2, 1), len(8, name), len(9, new Uint8Array(4))));
  const parts = Buffer.concat([...weights, ...names.map(typed)]);
  const file = model(node('Sum', ['w0'], ['y']), parts, len(12, len(1, 'y')));
  const { segments, size } = await plan(file, {
    initializers: names.map((name) => ({ graph: '', name, from: 'float', to: 'float16' })),
    values: names.map((name) => ({ graph: '', name, to: 'float16' })),
  });
  expect(segments.filter((segment) => 'convert' in segment)).toHaveLength(names.length);
  expect(size).toBe(file.length - 2 * names.length);
});

/** The copied ranges go through the file in order, and leave out no more than the edited fields and length prefixes. */
function expectCopied(bytes: Uint8Array, segments: EditedModel['segments'], edits: ModelEdits): void {
  let at = 0;
  let left = 0;
  for (const segment of segments) {
    if (!('copy' in segment)) continue;
    expect(segment.copy.offset).toBeGreaterThanOrEqual(at);
    left += segment.copy.offset - at;
    at = segment.copy.offset + segment.copy.length;
  }
  left += bytes.length - at;
  const count = Object.values(edits).flat().length;
  // A field of a node is at most 100 bytes in these models, and a place is in at most five messages.
  expect(left).toBeLessThanOrEqual(count * (100 + 5 * 6));
}

describe('weights', () => {
  const floats = (...values: number[]): Bytes => new Uint8Array(Float32Array.from(values).buffer);
  const weight = (name: string, ...data: Bytes[]): Bytes => len(5, packed(1, [3]), int(2, 1), len(8, name), ...data);
  const halves = [0x3c00, 0xc000, 0x3555];
  const half = new Uint8Array(Uint16Array.from(halves).buffer);
  const values = floats(1, -2, 1 / 3);
  const relu = node('Relu', ['w'], ['y']);
  const output = len(12, len(1, 'y'));
  const toHalf = { initializers: [{ graph: '', name: 'w', from: 'float', to: 'float16' }] };
  const initializer = (bytes: Uint8Array): onnx.ITensorProto => decode(bytes).graph!.initializer![0]!;

  test.each([
    ['raw data', len(9, values)],
    ['float data', len(4, values)],
  ])('%s becomes raw data of the new type, and the rest stays', async (_, data) => {
    const file = model(relu, weight('w', data, len(12, 'a doc string')), output, len(2, 'graph'));
    const { segments } = await plan(file, toHalf);
    expect(segments.filter((segment) => 'convert' in segment)).toHaveLength(1);
    const result = await edited(file, toHalf);
    expect(initializer(result)).toMatchObject({
      dataType: 10,
      rawData: [...half],
      floatData: [],
      docString: 'a doc string',
    });
    expect(decode(result).graph).toMatchObject({ name: 'graph', output: [{ name: 'y' }] });
  });

  test('16-bit floats in a list of numbers, and back to 32 bits', async () => {
    const file = model(relu, len(5, packed(1, [3]), int(2, 10), len(8, 'w'), packed(5, halves)), output);
    const result = await edited(file, { initializers: [{ graph: '', name: 'w', from: 'float16', to: 'float' }] });
    const back = floats(1, -2, 0.333251953125);
    expect(initializer(result)).toMatchObject({ dataType: 1, rawData: [...back], int32Data: [] });
  });

  test('a tensor without data changes its type alone', async () => {
    expect(initializer(await edited(model(relu, weight('w'), output), toHalf))).toMatchObject({ dataType: 10 });
  });

  test('constants, also in subgraphs', async () => {
    const constant = node(
      'Constant',
      [],
      ['c'],
      len(5, len(1, 'value'), len(5, packed(1, [3]), int(2, 1), len(9, values)), int(20, 4)),
    );
    const file = model(node('If', ['x'], ['y'], len(5, len(1, 'then_branch'), len(6, constant), int(20, 5))), output);
    const result = decode(
      await edited(file, { constants: [{ node: '0/then_branch/0', from: 'float', to: 'bfloat16' }] }),
    );
    const tensor = graphAt(result, '0/then_branch').node![0]!.attribute![0]!.t!;
    expect(tensor).toMatchObject({ dataType: 16, rawData: [0x80, 0x3f, 0x00, 0xc0, 0xab, 0x3e] });
  });

  test('a constant of one number becomes a tensor, and what is too large stays finite', async () => {
    const attribute = len(5, len(1, 'value_float'), float(2, -3e38), int(20, 1), len(13, 'a doc string'));
    const file = model(node('Constant', [], ['c'], attribute), node('Relu', ['c'], ['y']), output);
    const half = await edited(file, { constants: [{ node: '0', from: 'float', to: 'float16' }] });
    const [found] = decode(half).graph!.node![0]!.attribute!;
    expect(found).toMatchObject({ name: 'value', type: 4, docString: 'a doc string' });
    expect(found!.t).toMatchObject({ dims: [], dataType: 10, rawData: [0xff, 0xfb] });
    expect(found!.f ?? 0).toBe(0);
    expect((await open(half)).nodes[0]!.attributes[0]).toMatchObject({ name: 'value', kind: 'tensor' });
  });

  test('external data goes to a file of its own, once for tied weights; what is not converted stays', async () => {
    const entry = (key: string, text: string): Bytes => len(13, len(1, key), len(2, text));
    const at = (offset: number): Bytes[] => [
      entry('location', 'weights.bin'),
      entry('offset', String(offset)),
      entry('length', '12'),
      entry('checksum', 'abc'),
      entry('future', 'kept'),
      int(14, 1),
    ];
    const file = model(relu, weight('w', ...at(12)), weight('tied', ...at(12)), weight('other', ...at(0)), output);
    const edits = { initializers: ['w', 'tied'].map((name) => ({ graph: '', name, from: 'float', to: 'float16' })) };
    const result = await plan(file, edits, { externalFile: 'model.fp16.data' });
    expect(result.external).toEqual({
      location: 'model.fp16.data',
      size: 6,
      segments: [{ convert: { file: 'weights.bin', offset: 12, length: 12, from: 'float', to: 'float16' } }],
    });
    const changed = await open(await bytesFrom(result.segments, () => bytesOf(file)));
    const place = { location: 'model.fp16.data', offset: '0', length: '6', future: 'kept' };
    expect(changed.graph.initializers.map(({ type, data }) => [type, data])).toEqual([
      ['float16', { external: place }],
      ['float16', { external: place }],
      ['float', (await open(file)).graph.initializers[2]!.data],
    ]);
    const bytes = await bytesFrom(result.external!.segments, () => bytesOf(concat(new Uint8Array(12), values)));
    expect(bytes).toEqual(half);
  });

  test('three gigabytes are planned by reading some kilobytes, and converted piece by piece', async () => {
    const gap = 3 * 2 ** 30;
    const begin = concat(packed(1, [gap / 4]), int(2, 1), len(8, 'w'), varint(9 * 8 + 2), varint(gap));
    const tensor = concat(varint(5 * 8 + 2), varint(begin.length + gap), begin);
    const head = concat(
      int(1, 8),
      varint(7 * 8 + 2),
      varint(relu.length + output.length + tensor.length + gap),
      relu,
      output,
      tensor,
    );
    let bytesRead = 0;
    const huge: ByteSource = {
      size: head.length + gap,
      read: (offset, length) => {
        bytesRead += length;
        const bytes = new Uint8Array(Math.max(0, Math.min(length, head.length + gap - offset)));
        if (offset < head.length) bytes.set(head.subarray(offset, offset + bytes.length));
        return Promise.resolve(bytes);
      },
    };
    const { value: found } = await readModel(huge, { spans: true });
    const { value, problems } = await planEdit(found!, huge, toHalf);
    expect(problems).toEqual([]);
    expect(bytesRead).toBeLessThan(40_000);
    expect(value!.size).toBeGreaterThan(gap / 2);
    expect(value!.segments.reduce((sum, segment) => sum + segmentSize(segment), 0)).toBe(value!.size);
    let pieces = 0;
    for await (const piece of segmentBytes(value!.segments, () => huge)) {
      expect(piece.length).toBeLessThanOrEqual(2 ** 20);
      if (++pieces > 10) break;
    }
  });

  test('a file that would reach 2 GiB is refused', async () => {
    const gap = 2 ** 30;
    const begin = concat(packed(1, [gap / 2]), int(2, 10), len(8, 'w'), varint(9 * 8 + 2), varint(gap));
    const tensor = concat(varint(5 * 8 + 2), varint(begin.length + gap), begin);
    const head = concat(
      int(1, 8),
      varint(7 * 8 + 2),
      varint(relu.length + output.length + tensor.length + gap),
      relu,
      output,
      tensor,
    );
    const large: ByteSource = {
      size: head.length + gap,
      read: (offset, length) => {
        const bytes = new Uint8Array(Math.max(0, Math.min(length, head.length + gap - offset)));
        if (offset < head.length) bytes.set(head.subarray(offset, offset + bytes.length));
        return Promise.resolve(bytes);
      },
    };
    const { value: found } = await readModel(large);
    const edits = { initializers: [{ graph: '', name: 'w', from: 'float16', to: 'float' }] };
    expect(await planEdit(found!, large, edits)).toMatchObject({ value: undefined, problems: [{ code: 'too-large' }] });
  });
});

describe('what cannot be edited', () => {
  const file = model(
    node('Relu', ['x'], ['y'], len(3, 'relu')),
    len(5, packed(1, [4]), int(2, 1), len(8, 'short'), len(9, new Uint8Array(12))),
    len(5, packed(1, [1]), int(2, 7), len(8, 'ints'), packed(7, [1])),
    len(12, len(1, 'y')),
  );
  const retype = (name: string, from = 'float', to = 'float16'): ModelEdits => ({
    initializers: [{ graph: '', name, from, to }],
  });

  test.each<[string, ModelEdits, string]>([
    ['a node that is not there', { inputs: [{ node: '7', index: 0, tensor: 'a' }] }, 'no node 7'],
    ['an input that is not there', { inputs: [{ node: '0', index: 3, tensor: 'a' }] }, 'no input 3'],
    ['an output that is not there', { outputs: [{ node: '0', index: 1, tensor: 'a' }] }, 'no output 1'],
    ['an initializer that is not there', retype('w'), 'no initializer "w"'],
    ['another type than it is', retype('ints'), 'it is int64, not float'],
    ['integers', retype('ints', 'int64', 'int32'), 'from int64 to int32'],
    ['data that does not fit the shape', retype('short'), 'has 12 bytes, but its shape needs 16'],
    ['a constant that is none', { constants: [{ node: '0', from: 'float', to: 'float16' }] }, 'is not a Constant'],
    [
      'a type that is declared nowhere',
      { values: [{ graph: '', name: 'y', to: 'float16' }] },
      'does not declare the type',
    ],
    [
      'a graph that is not there',
      { casts: [{ graph: '0/body', name: 'c', input: 'a', output: 'b', to: 'float', after: null }] },
      'no graph',
    ],
    [
      'a place in another graph',
      { casts: [{ graph: '', name: 'c', input: 'a', output: 'b', to: 'float', after: '1' }] },
      'no node 1',
    ],
    [
      'a type that is none',
      { casts: [{ graph: '', name: 'c', input: 'a', output: 'b', to: 'fp99', after: '0' }] },
      'is not an ONNX data type',
    ],
  ])('%s', async (_, edits, reason) => {
    const { value, problems } = await planEdit(await open(file), bytesOf(file), edits);
    expect(value).toBeUndefined();
    expect(problems).toMatchObject([{ severity: 'error', code: 'cannot-edit' }]);
    expect(problems[0]!.message).toContain(reason);
  });

  test('a damaged file, a graph in pieces, and a source that fails later', async () => {
    const whole = readFileSync(modelPath('loop_if'));
    const { value: found } = await readModel(bytesOf(whole));
    const cut = bytesOf(whole.subarray(0, 1000));
    expect(await planEdit(found!, cut, {})).toMatchObject({ value: undefined, problems: [{ code: 'truncated' }] });
    const pieces = concat(model(node('Relu', ['x'], ['y'])), len(7, len(12, len(1, 'y'))));
    const { value: merged } = await readModel(bytesOf(pieces), { spans: true });
    expect(merged!.graph.outputs).toHaveLength(1);
    expect(await planEdit(merged!, bytesOf(pieces), {})).toMatchObject({ problems: [{ code: 'cannot-edit' }] });
    const gone: ByteSource = { size: whole.length, read: () => Promise.reject(new Error('gone')) };
    const edits = { inputs: [{ node: '0', index: 0, tensor: 'a' }] };
    expect(await planEdit(await open(whole), gone, edits)).toMatchObject({
      value: undefined,
      problems: [{ message: expect.stringContaining('gone') as string }],
    });
  });

  test('a file that has changed under the plan gives problems, never an exception', async () => {
    const whole = readFileSync(modelPath('loop_if'));
    const found = await open(whole);
    await fc.assert(
      fc.asyncProperty(
        randomEdits(found),
        fc.nat(whole.length),
        fc.uint8Array({ minLength: 1, maxLength: 40 }),
        async (edits, at, noise) => {
          const changed = Uint8Array.from(whole);
          changed.set(noise.subarray(0, whole.length - at), at);
          const { value, problems } = await planEdit(found, bytesOf(changed), edits);
          expect(value === undefined).toBe(problems.length > 0);
        },
      ),
      { numRuns: 150 },
    );
  });

  test('bytes that end early are an error, not a short file', async () => {
    const { segments } = await plan(file, {});
    await expect(bytesFrom(segments, () => bytesOf(file.subarray(0, 20)))).rejects.toThrow('ends at byte 20');
  });
});

describe('conversion', () => {
  const bits16 = (bytes: Uint8Array): number => new DataView(bytes.buffer).getUint16(0, true);
  const of = (value: number): Uint8Array => new Uint8Array(Float32Array.of(value).buffer);
  /** V8's own: Node 24 has 16-bit floats. */
  const f16round = (value: number): number => (Math as unknown as { f16round(value: number): number }).f16round(value);

  test('every 16-bit float becomes a 32-bit one and itself again', () => {
    const all = new Uint8Array(Uint16Array.from({ length: 65_536 }, (_, bits) => bits).buffer);
    const isNan = (bits: number, top: number): boolean => (bits & top) === top && (bits & ~(top | 0x8000)) !== 0;
    for (const [type, top] of [
      ['float16', 0x7c00],
      ['bfloat16', 0x7f80],
    ] as const) {
      const back = convertElements(convertElements(all, type, 'float'), 'float', type);
      const view = new DataView(back.buffer);
      for (let bits = 0; bits < 65_536; bits++) {
        const found = view.getUint16(bits * 2, true);
        if (isNan(bits, top) ? !isNan(found, top) : found !== bits) throw new Error(`${type} ${bits} became ${found}`);
      }
    }
  });

  test('to float16: as the engine rounds, but never from finite to infinite', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true }), (value) => {
        const found = convertElements(convertElements(of(value), 'float', 'float16'), 'float16', 'float');
        const rounded = f16round(value);
        const finite = Number.isFinite(value) && !Number.isFinite(rounded) ? Math.sign(value) * 65504 : rounded;
        expect(new Float32Array(found.buffer)[0]).toBe(finite);
      }),
      { numRuns: 20_000 },
    );
  });

  test('to bfloat16: to the nearest, ties to even', () => {
    fc.assert(
      fc.property(
        fc.float({ noNaN: true, max: Math.fround(3.38e38), min: Math.fround(-3.38e38), noDefaultInfinity: true }),
        (value) => {
          const bits = new DataView(of(value).buffer).getUint32(0, true);
          const nearest = ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
          expect(bits16(convertElements(of(value), 'float', 'bfloat16'))).toBe(nearest);
        },
      ),
      { numRuns: 20_000 },
    );
  });

  test('bytes at any place in a buffer', () => {
    const buffer = new Uint8Array(13);
    buffer.set(of(1), 1);
    buffer.set(of(-2), 5);
    for (const [type, bits] of [
      ['float16', [0x3c00, 0xc000]],
      ['bfloat16', [0x3f80, 0xc000]],
    ] as const) {
      // What a file gives is a Buffer, whose slice() is no copy.
      for (const bytes of [buffer.subarray(1, 9), Buffer.from(buffer.buffer, 1, 8)])
        expect([...new Uint16Array(convertElements(bytes, 'float', type).buffer)]).toEqual(bits);
    }
  });

  test('what is lost is counted', () => {
    const loss = { clamped: 0, vanished: 0 };
    const values = new Uint8Array(Float32Array.of(1e6, -3.4e38, Infinity, NaN, 1e-9, 0, 65519, 65504).buffer);
    const half = convertElements(values, 'float', 'float16', loss);
    expect(loss).toEqual({ clamped: 2, vanished: 1 });
    const back = new Float32Array(convertElements(half, 'float16', 'float').buffer);
    expect([...back]).toEqual([65504, -65504, Infinity, NaN, 0, 0, 65504, 65504]);
    const wide = new Uint8Array(Float64Array.of(1e300, 0.1).buffer);
    expect([...new Float32Array(convertElements(wide, 'double', 'float').buffer)]).toEqual([
      3.4028234663852886e38,
      Math.fround(0.1),
    ]);
  });
});
