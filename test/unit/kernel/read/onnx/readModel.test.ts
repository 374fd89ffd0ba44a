import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { OnnxTensor } from '../../../../../src/kernel/read/onnx/onnxModel.ts';
import { readModel, sniffModel } from '../../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf, type ByteSource } from '../../../../../src/kernel/base/problem.ts';
import { captureBytes, modelPath } from '../../../../support/fixtures.ts';
import { type Bytes, concat, float, int, len, model, node, packed, varint } from '../../../../support/wire.ts';

const read = (...parts: Bytes[]): ReturnType<typeof readModel> => readModel(bytesOf(concat(...parts)));
const relu = node('Relu', ['x'], ['y'], len(3, 'relu'));
const output = len(12, len(1, 'y'));

/** The only initializer of a model that has one. */
async function readTensor(...fields: Bytes[]): Promise<OnnxTensor> {
  const { value, problems } = await read(model(relu, output, len(5, len(8, 'w'), ...fields)));
  expect(problems).toEqual([]);
  return value!.graph.initializers[0]!;
}

describe('ids and order', () => {
  test('subgraph nodes come right after their owner and are named by its id, the attribute and the position', async () => {
    const { value } = await readModel(bytesOf(readFileSync(modelPath('loop_if'))));
    const ids = value!.nodes.map(({ id, op }) => `${id} ${op}`);
    const owner = value!.graph.nodes.find(({ op }) => op === 'If')!;
    const at = ids.indexOf(`${owner.id} If`);
    const { attribute, graph: branch } = owner.subgraphs[0]!;
    expect(branch.path).toBe(`${owner.id}/${attribute}`);
    expect(ids.slice(at + 1, at + 1 + branch.nodes.length)).toEqual(
      branch.nodes.map(({ op }, index) => `${owner.id}/${attribute}/${index} ${op}`),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("an attribute's name may stand behind its graph, and graphs in a list are numbered", async () => {
    const body = [node('Neg', ['a'], ['b']), len(2, 'body')];
    const { value, problems } = await read(
      model(
        len(
          1,
          len(5, len(6, ...body), len(1, 'then_branch')),
          len(5, len(11, ...body), len(11), len(1, 'all')),
          len(4, 'X'),
        ),
        output,
      ),
    );
    expect(problems).toEqual([]);
    expect(value!.nodes.map(({ id }) => id)).toEqual(['0', '0/then_branch/0', '0/all[1]/0']);
    expect(value!.graph.nodes[0]!.subgraphs.map(({ attribute, graph }) => [attribute, graph.name])).toEqual([
      ['then_branch', 'body'],
      ['all[1]', 'body'],
      ['all[2]', ''],
    ]);
  });

  test('functions keep their nodes to themselves', async () => {
    const { value } = await read(
      model(relu, output),
      len(
        25,
        len(1, 'f'),
        len(10, 'my.domain'),
        len(13, 'v2'),
        len(4, 'a'),
        len(5, 'b'),
        len(7, len(4, 'Abs')),
        len(7),
      ),
    );
    expect(value!.nodes).toHaveLength(1);
    expect(value!.functions[0]).toMatchObject({ name: 'f', domain: 'my.domain', overload: 'v2', inputs: ['a'] });
    expect(value!.functions[0]!.nodes.map(({ id, op }) => [id, op])).toEqual([
      ['functions/0/0', 'Abs'],
      ['functions/0/1', ''],
    ]);
  });
});

describe('tensors', () => {
  test.each([
    [1, 'float'],
    [16, 'bfloat16'],
    [17, 'float8e4m3fn'],
    [20, 'float8e5m2fnuz'],
    [21, 'uint4'],
    [22, 'int4'],
    [23, 'float4e2m1'],
    [24, 'float8e8m0'],
    [25, 'uint2'],
    [26, 'int2'],
    [27, 'float6e2m3'],
    [28, 'float6e3m2'],
    [99, 'type 99'],
  ])('data type %i is %s', async (number, name) => {
    expect((await readTensor(int(2, number))).type).toBe(name);
  });

  test('values of small integer tensors, from whichever field holds them', async () => {
    const le = (...bytes: number[]): Bytes => Uint8Array.from(bytes);
    const minusOne = new Uint8Array(8).fill(255);
    expect((await readTensor(packed(1, [2]), int(2, 7), packed(7, [-1, 5]))).ints).toEqual([-1, 5]);
    expect((await readTensor(int(1, 2), int(2, 7), int(7, -1), int(7, 5))).ints).toEqual([-1, 5]);
    expect((await readTensor(packed(1, [1]), int(2, 7), len(9, minusOne))).ints).toEqual([-1]);
    expect((await readTensor(len(9, minusOne), int(2, 7))).ints).toEqual([-1]);
    expect((await readTensor(packed(1, [2]), int(2, 6), packed(5, [-7, 7]))).ints).toEqual([-7, 7]);
    expect((await readTensor(packed(1, [3]), int(2, 9), len(9, le(1, 0, 1)))).ints).toEqual([1, 0, 1]);
    expect((await readTensor(packed(1, [2]), int(2, 5), len(9, le(254, 255, 1, 0)))).ints).toEqual([-2, 1]);
    expect((await readTensor(packed(1, [3]), int(2, 22), len(9, le(0xf1, 0x07)))).ints).toEqual([1, -1, 7]);
    expect((await readTensor(packed(1, [3]), int(2, 21), packed(5, [0xf1, 0x07]))).ints).toEqual([1, 15, 7]);
    expect((await readTensor(packed(1, [4]), int(2, 26), len(9, le(0b11_10_01_00)))).ints).toEqual([0, 1, -2, -1]);
    expect((await readTensor(packed(1, [1]), int(2, 13), packed(11, [2n ** 63n]))).ints).toEqual([2 ** 63]);
    expect((await readTensor(packed(1, [0]), int(2, 7))).ints).toEqual([]);
  });

  test('no values where elements and shape do not fit, or are too many, or are no integers', async () => {
    expect((await readTensor(packed(1, [3]), int(2, 7), packed(7, [1, 2]))).ints).toBeUndefined();
    expect((await readTensor(packed(1, [65]), int(2, 7), len(9, new Uint8Array(520)))).ints).toBeUndefined();
    expect((await readTensor(packed(1, [65]), int(2, 7), packed(7, Array(65).fill(1)))).ints).toBeUndefined();
    expect((await readTensor(packed(1, [1]), int(2, 1), len(9, new Uint8Array(4)))).ints).toBeUndefined();
  });

  test('where the bytes are', async () => {
    const bytes = concat(model(relu, output, len(5, packed(1, [3]), int(2, 1), len(8, 'w'), len(9, 'abcdefghijkl'))));
    const { value } = await readModel(bytesOf(bytes));
    const data = value!.graph.initializers[0]!.data;
    if (!data || !('inline' in data)) throw new Error('no inline data');
    expect(new TextDecoder().decode(bytes.subarray(data.inline.offset, data.inline.offset + data.inline.length))).toBe(
      'abcdefghijkl',
    );
    expect(data.inline.field).toBeUndefined();

    const floats = len(4, new Uint8Array(Float32Array.of(1, 2).buffer));
    expect((await readTensor(packed(1, [2]), int(2, 1), floats)).data).toMatchObject({
      inline: { length: 8, field: 'float' },
    });
    expect((await readTensor(packed(1, [2]), int(2, 1), float(4, 1), float(4, 2))).data).toMatchObject({
      inline: { length: 10, field: 'float', scattered: true },
    });
    expect((await readTensor(int(2, 8), len(6, 'one'), len(6, 'two'))).data).toMatchObject({
      inline: { length: 10, field: 'string', scattered: true },
    });
    expect((await readTensor(packed(1, [2]), int(2, 1))).data).toBeNull();
  });

  test('external data is described, never opened', async () => {
    const entry = (key: string, value: string): Bytes => len(13, len(1, key), len(2, value));
    const tensor = await readTensor(entry('location', '../../etc/passwd'), entry('offset', '4096'), int(14, 1));
    expect(tensor.data).toEqual({ external: { location: '../../etc/passwd', offset: '4096' } });
    const hostile = await readTensor(entry('__proto__', 'x'), int(14, 1));
    expect(Object.entries((hostile.data as { external: object }).external)).toEqual([['__proto__', 'x']]);
  });

  test('sparse tensors: dense shape, type and place of the values', async () => {
    const sparse = len(
      15,
      len(1, packed(1, [1]), int(2, 1), len(8, 's'), len(9, 'abcd')),
      len(2, int(2, 7)),
      packed(3, [3, 4]),
    );
    const { value } = await read(model(relu, output, sparse));
    expect(value!.graph.initializers).toMatchObject([{ name: 's', type: 'float', shape: [3, 4], sparse: true }]);
  });
});

describe('attributes', () => {
  const attributes = async (...fields: Bytes[]): Promise<object[]> => {
    const { value, problems } = await read(model(node('X', [], ['y'], ...fields), output));
    expect(problems).toEqual([]);
    return value!.graph.nodes[0]!.attributes;
  };

  test('every kind, and those that writers of proto3 leave empty', async () => {
    const found = await attributes(
      len(5, len(1, 'axis'), int(3, -1), int(20, 2)),
      len(5, len(1, 'alpha'), float(2, 0.5), int(20, 1)),
      len(5, len(1, 'mode'), len(4, 'linear'), int(20, 3)),
      len(5, len(1, 'perm'), packed(8, [1, 0]), int(20, 7)),
      len(5, len(1, 'pads'), int(8, 1), int(8, 2), int(20, 7)),
      len(5, len(1, 'scales'), float(7, 1), float(7, 2), int(20, 6)),
      len(5, len(1, 'names'), len(9, 'a'), len(9, 'b'), int(20, 8)),
      len(5, len(1, 'value'), len(5, packed(1, [1]), int(2, 7), packed(7, [9])), int(20, 4)),
      len(5, len(1, 'keepdims'), int(20, 2)),
      len(5, len(1, 'type'), len(14, len(1, int(1, 1))), int(20, 13)),
      len(5, len(1, 'old'), int(3, 4)),
      len(5, len(1, 'given'), len(21, 'outer'), int(20, 2)),
      len(5, len(1, 'new'), int(20, 77)),
    );
    expect(found).toEqual([
      { name: 'axis', kind: 'int', value: -1 },
      { name: 'alpha', kind: 'float', value: 0.5 },
      { name: 'mode', kind: 'string', value: 'linear' },
      { name: 'perm', kind: 'ints', value: [1, 0] },
      { name: 'pads', kind: 'ints', value: [1, 2] },
      { name: 'scales', kind: 'floats', value: [1, 2] },
      { name: 'names', kind: 'strings', value: ['a', 'b'] },
      { name: 'value', kind: 'tensor', value: expect.objectContaining({ type: 'int64', shape: [1], ints: [9] }) },
      { name: 'keepdims', kind: 'int', value: 0 },
      { name: 'type', kind: 'other', value: null },
      { name: 'old', kind: 'int', value: 4 },
      { name: 'given', kind: 'int', value: null, reference: 'outer' },
      { name: 'new', kind: 'other', value: null },
    ]);
  });

  test('of long lists and strings the beginning is kept, and their length', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => index);
    const found = await attributes(
      len(5, len(1, 'ints'), packed(8, many), int(20, 7)),
      len(5, len(1, 'floats'), len(7, new Uint8Array(Float32Array.from(many).buffer)), int(20, 6)),
      len(5, len(1, 'text'), len(4, 'é'.repeat(5000)), int(20, 3)),
    );
    expect(found).toMatchObject([
      { value: many.slice(0, 256), count: 1000 },
      { value: many.slice(0, 256), count: 1000 },
      { value: 'é'.repeat(2048), count: 10_000 },
    ]);
  });
});

test('types of values: fixed, symbolic and unknown dimensions, unknown rank, and what is no tensor', async () => {
  const value = (name: string, ...type: Bytes[]): Bytes => len(11, len(1, name), ...type);
  const tensor = (...fields: Bytes[]): Bytes => len(2, len(1, ...fields));
  const { value: found } = await read(
    model(
      relu,
      output,
      value('a', tensor(int(1, 1), len(2, len(1, int(1, 3)), len(1, len(2, 'batch')), len(1), len(1, int(1, -1))))),
      value('scalar', tensor(int(1, 7), len(2))),
      value('rank unknown', tensor(int(1, 7))),
      value('sequence', len(2, len(4, len(1, len(1, int(1, 1)))))),
      value('none'),
      value('future', tensor(int(1, 1000), len(77, 'what'))),
    ),
  );
  expect(found!.graph.inputs).toEqual([
    { name: 'a', type: 'float', shape: [3, 'batch', null, null] },
    { name: 'scalar', type: 'int64', shape: [] },
    { name: 'rank unknown', type: 'int64', shape: null },
    { name: 'sequence', type: null, shape: null },
    { name: 'none', type: null, shape: null },
    { name: 'future', type: 'type 1000', shape: null },
  ]);
});

test('metadata of model, graph and node, opsets, overload; unknown fields are passed over', async () => {
  const entry = (field: number): Bytes => len(field, len(1, 'k'), len(2, 'v'));
  const { value, problems } = await read(
    int(1, 10),
    len(2, 'pytorch'),
    len(3, '2.9'),
    len(4, 'ai.acme'),
    int(99, 7),
    float(98, 1),
    len(97, 'unknown'),
    len(7, node('X', [], ['y'], entry(9), len(8, 'o'), len(10, 'device')), output, entry(16), len(14, 'annotation')),
    len(8, len(1, 'ai.onnx.ml'), int(2, 3)),
    len(8, int(2, 24)),
    entry(14),
    len(20, len(3, len(1, 'w'), len(2, 'w2'))),
  );
  expect(problems).toEqual([]);
  expect(value).toMatchObject({
    irVersion: 10,
    trains: true,
    producer: 'pytorch',
    producerVersion: '2.9',
    domain: 'ai.acme',
    opsets: [
      { domain: 'ai.onnx.ml', version: 3 },
      { domain: '', version: 24 },
    ],
    metadata: [{ key: 'k', value: 'v' }],
    graph: { metadata: [{ key: 'k', value: 'v' }] },
    nodes: [{ overload: 'o', metadata: [{ key: 'k', value: 'v' }] }],
  });
});

describe('what cannot be read', () => {
  const codes = async (...parts: Bytes[]): Promise<string[]> => (await read(...parts)).problems.map(({ code }) => code);
  const utf8 = (text: string): Bytes => new TextEncoder().encode(text);

  test('an empty file', async () => {
    expect(await read()).toMatchObject({ value: undefined, problems: [{ code: 'empty-file', severity: 'error' }] });
  });

  test.each([
    ['text', utf8('graph { node }\n'), 'text file'],
    ['JSON', utf8('{"graph": []}'), 'JSON'],
    ['a Git LFS pointer', utf8('version https://git-lfs.github.com/spec/v1\noid sha256:1'), 'git lfs pull'],
    ['a web page', utf8('<!DOCTYPE html><html></html>'), 'web page'],
    ['gzip', Uint8Array.of(0x1f, 0x8b, 8, 0, 1, 2, 3), 'gzip'],
    ['a ZIP archive', utf8('PK\x03\x04abcdefgh'), 'ZIP'],
    ['an engine', utf8('ftrt\x00\x01\x02'), 'TensorRT engine'],
    ['zeros', new Uint8Array(100), 'damaged'],
    ['one byte', Uint8Array.of(8), 'damaged'],
    ['another protobuf', concat(len(1, 'hello'), len(2, 'world')), 'damaged'],
  ])('%s', async (_, bytes, hint) => {
    const { value, problems } = await read(bytes);
    expect(value).toBeUndefined();
    expect(problems).toMatchObject([{ code: 'not-onnx', severity: 'error' }]);
    expect(problems[0]!.message).toContain(hint);
  });

  test('no graph, no nodes, no outputs, no opset', async () => {
    expect(await codes(int(1, 8))).toEqual(['no-graph']);
    expect(await codes(model())).toEqual(['no-nodes', 'no-outputs']);
    expect(await codes(int(1, 8), len(7, relu, output))).toEqual(['no-opset']);
  });

  test('a broken node costs only itself', async () => {
    const broken = node('Add', ['a'], ['b'], len(3, 'bad'), len(5, len(1, 'axis'), Uint8Array.of(0x0b)));
    const { value, problems } = await read(model(relu, broken, relu, output));
    expect(value!.nodes.map(({ op }) => op)).toEqual(['Relu', 'Add', 'Relu']);
    expect(problems).toMatchObject([{ code: 'malformed', node: '1' }]);
    expect(problems[0]!.message).toContain('attribute "axis" of node 1 "bad" (Add)');
    expect(problems[0]!.offset).toBeGreaterThan(0);
  });

  test.each([
    ['a group', Uint8Array.of(0x0b, 0x0c)],
    ['a varint of eleven bytes', Uint8Array.of(0x18, ...Array<number>(10).fill(0xff), 1)],
    ['a length of 2^62', concat(Uint8Array.of(0x0a), Uint8Array.of(...Array<number>(8).fill(0xff), 0x3f))],
    ['a negative length', concat(Uint8Array.of(0x0a), Uint8Array.of(...Array<number>(9).fill(0xff), 1))],
    ['field number 0', Uint8Array.of(0x02, 0x00)],
    ['a tag that never ends', Uint8Array.of(0x80, 0x80, 0x80, 0x80, 0x80, 0x80)],
  ])('%s inside a node', async (_, bytes) => {
    const { value, problems } = await read(model(node('Add', ['a'], ['b'], bytes), relu, output));
    expect(problems).toMatchObject([{ code: 'malformed', severity: 'error', node: '0' }]);
    expect(value!.nodes.map(({ op }) => op)).toEqual(['Add', 'Relu']);
  });

  test('problems are many only up to a point', async () => {
    const bad = node('Add', [], [], Uint8Array.of(0x0b));
    const { problems } = await read(model(...Array<Bytes>(50).fill(bad), output));
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toMatchObject({
      code: 'more-problems',
      message: expect.stringContaining('30 more') as string,
    });
  });

  const nested = (depth: number): Bytes => {
    let graph = node('Neg', ['a'], ['b']);
    for (let level = 0; level < depth; level++)
      graph = node('If', ['c'], ['d'], len(5, len(1, 'then_branch'), len(6, graph)));
    return model(graph, output);
  };

  test('graphs nested 100 deep are read, deeper ones are an error', async () => {
    const deep = await read(nested(100));
    expect(deep.problems).toEqual([]);
    expect(deep.value!.nodes).toHaveLength(101);
    const tooDeep = await read(nested(1000));
    expect(tooDeep.problems).toMatchObject([{ code: 'too-deep', severity: 'error' }]);
    expect(tooDeep.value!.nodes).toHaveLength(101);
  });

  test('a cut-off file: what came before, what was being read, and where', async () => {
    const whole = readFileSync(modelPath('vit_tiny'));
    const { value, problems } = await readModel(bytesOf(whole.subarray(0, 20_000)));
    expect(problems).toMatchObject([{ code: 'truncated', severity: 'error' }]);
    expect(problems[0]!.message).toMatch(/truncated: the file ends at byte 20000, in the middle of .*node \d+/);
    expect(problems[0]!.offset).toBeLessThanOrEqual(20_000);
    expect(value!.nodes.length).toBeGreaterThan(10);
    expect(value!.irVersion).toBe(8);
  });

  test('a source that fails, or ends before its size', async () => {
    const fails: ByteSource = { size: 1000, read: () => Promise.reject(new Error('EIO: i/o error')) };
    expect(await readModel(fails)).toMatchObject({ value: undefined, problems: [{ code: 'unreadable' }] });
    const bytes = concat(model(relu, output));
    const shorter: ByteSource = {
      size: bytes.length + 5000,
      read: (offset, length) => bytesOf(bytes).read(offset, length),
    };
    expect((await readModel(shorter)).value!.nodes).toHaveLength(1);
  });

  test('stops when told to', async () => {
    const signal = { aborted: false };
    const whole = bytesOf(readFileSync(modelPath('deep_encoder_11k')));
    let seen = 0;
    const result = await readModel(whole, {
      signal,
      onNodes: (count) => ((seen = count), (signal.aborted = count > 1000)),
    });
    expect(result).toMatchObject({ value: undefined, problems: [{ code: 'cancelled' }] });
    expect(seen).toBeLessThan(14_000);
  });
});

test('recognizes models by their beginning', () => {
  expect(sniffModel(readFileSync(modelPath('vit_tiny')).subarray(0, 512))).toBe(true);
  expect(sniffModel(concat(model(relu)))).toBe(true);
  expect(sniffModel(new Uint8Array(0))).toBe(false);
  expect(sniffModel(new TextEncoder().encode('[I] TensorRT version: 10.6.0\n'))).toBe(false);
  expect(sniffModel(new TextEncoder().encode('{"Layers": []}'))).toBe(false);
  expect(sniffModel(captureBytes('tensorrt-10.6.0/bert_base.fp16/log.txt')!.subarray(0, 512))).toBe(false);
});

describe('weights stay where they are', () => {
  /** A file of which only the ends are real; the gigabytes between them are zeros. */
  function hugeFile(head: Bytes, gap: number, tail: Bytes): ByteSource & { bytesRead: number; largest: number } {
    return {
      size: head.length + gap + tail.length,
      bytesRead: 0,
      largest: 0,
      read(offset, length) {
        this.bytesRead += length;
        this.largest = Math.max(this.largest, length);
        const bytes = new Uint8Array(length);
        const tailAt = head.length + gap;
        if (offset < head.length) bytes.set(head.subarray(offset, offset + length));
        if (offset + length > tailAt)
          bytes.set(tail.subarray(Math.max(0, offset - tailAt)), Math.max(0, tailAt - offset));
        return Promise.resolve(bytes);
      },
    };
  }

  /** The head of a field of which the payload is `length` bytes. */
  const headOf = (field: number, length: number): Bytes => concat(varint(field * 8 + 2), varint(length));

  test('three gigabytes in one tensor: a few kilobytes are read', async () => {
    const gap = 3 * 2 ** 30;
    const begin = concat(packed(1, [gap / 4]), int(2, 1), len(8, 'w'), headOf(9, gap));
    const initializer = concat(headOf(5, begin.length + gap), begin);
    const nodes = concat(relu, output);
    const after = concat(len(2, 'graph name'));
    const head = concat(
      int(1, 8),
      headOf(7, nodes.length + initializer.length + gap + after.length),
      nodes,
      initializer,
    );
    const file = hugeFile(head, gap, concat(after, len(8, len(1, ''), int(2, 17))));
    const { value, problems } = await readModel(file);
    expect(problems).toEqual([]);
    expect(value!.graph.name).toBe('graph name');
    expect(value!.graph.initializers[0]!.data).toEqual({ inline: { offset: head.length, length: gap } });
    expect(file.bytesRead).toBeLessThan(20_000);
  });

  test('a length that lies costs no memory', async () => {
    const claims = concat(int(1, 8), headOf(7, 2 ** 40), headOf(1, 2 ** 39), headOf(3, 2 ** 38));
    const { value, problems } = await readModel(bytesOf(claims));
    expect(problems).toMatchObject([{ code: 'truncated' }]);
    expect(value!.nodes).toEqual([]);
    const file = hugeFile(claims, 2 ** 41, new Uint8Array(0));
    const result = await readModel(file);
    expect(file.largest).toBeLessThanOrEqual(2 ** 20);
    expect(result.problems.length).toBeGreaterThan(0);
  });
});
