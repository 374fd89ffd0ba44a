import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { onnx } from 'onnx-proto';
import { describe, expect, it, test } from 'vitest';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { checkModel } from '../../../../src/features/diagnose/checkModel.ts';
import schema from '../../../../src/kernel/faults/internal/knownFaults.schema.json';
import { KNOWN_FAULTS, knownFaults } from '../../../../src/kernel/faults/knownFaults.ts';
import { planEdit } from '../../../../src/kernel/read/onnx/editModel.ts';
import { editedSource, type OnnxModel } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { catalogue, planRepair, trialOfFaults } from '../../../../src/features/repair/planRepair.ts';
import { RepairSubject } from '../../../../src/features/repair/subject.ts';
import { type JsonSchema, schemaViolations, withoutOtherFields } from '../../../support/jsonSchema.ts';

const fixture = (path: string): string => fileURLToPath(new URL(`../../../fixtures/${path}`, import.meta.url));
const bytesOfModel = (name: string): Buffer => readFileSync(fixture(`wrong/${name}/model.onnx`));
const read = async (bytes: Uint8Array): Promise<OnnxModel> => (await readModel(bytesOf(bytes))).value!;

const found = (model: OnnxModel, version: string, product: 'tensorrt' | 'tensorrt-rtx' = 'tensorrt') =>
  knownFaults(model, { product, version, capability: null });
const kinds = (model: OnnxModel, version: string): string[] =>
  found(model, version).map(({ severity, code, nodes }) => `${severity} ${code} ${nodes.length}`);

test('each row names its source: fixtures of an engine, or threads; its repair is in the catalogue', () => {
  expect(schemaViolations(KNOWN_FAULTS, withoutOtherFields(schema as JsonSchema))).toEqual([]);
  expect(new Set(KNOWN_FAULTS.map(({ id }) => id)).size).toBe(KNOWN_FAULTS.length);
  for (const { id, status, fixtures, seen, sources, repair } of KNOWN_FAULTS) {
    if (status === 'confirmed') expect(seen, id).toBeDefined();
    else expect(sources.length, id).toBeGreaterThan(0);
    expect((fixtures ?? []).length > 0, id).toBe(status === 'confirmed');
    for (const one of fixtures ?? []) expect(existsSync(fixture(one)), one).toBe(true);
    if (repair !== undefined) expect(catalogue.map((one) => one.id)).toContain(repair);
  }
});

/** What an engine gave; see measured.json. */
interface Measured {
  error: number | null;
  referenceMax: number;
  worst: { reference: number; engine: number }[];
  shapes?: { reference: number[]; engine: number[] };
}

/** Name of the fixture, what `check` finds in it, and the repair. */
const forms: readonly (readonly [name: string, found: string[], repair: string | null])[] = [
  ['lost_scale', ['error known-fault 1'], 'merge-scales'],
  ['grid_sample_cubic', ['error known-fault 1'], 'grid-sample-names'],
  ['grid_sample_linear', ['error known-fault 1'], 'grid-sample-names'],
  ['log_sum_exp_axes', ['error known-fault 1', 'unknown known-fault 1'], 'log-sum-exp'],
  ['group_norm_1', ['error known-fault 1'], 'group-norm-means'],
  ['conv_transpose_odd', ['error known-fault 1'], 'transposed-pads'],
  ['average_pool_ceil', ['unknown known-fault 1'], null],
];

describe.each(forms)('%s, of which an engine was wrong', (name, expected) => {
  it('is found in the version that was tried, and in no other that nobody reported', async () => {
    const model = await read(bytesOfModel(name));
    expect(kinds(model, '10.6')).toEqual(expected);
    for (const version of ['8.6', '10.5', '10.8', '11.2']) expect(kinds(model, version), version).toEqual([]);
    expect(found(model, '1.7', 'tensorrt-rtx')).toEqual([]);
    // An H100 was tried, a GeForce 1080 was not.
    const elsewhere = knownFaults(model, { product: 'tensorrt', version: '10.6', capability: '6.1' });
    expect(elsewhere.map(({ severity }) => severity)).not.toContain('error');
  });

  it('was wrong', () => {
    // An archive lists the names of its files as they are.
    const values = readFileSync(fixture(`wrong/${name}/values.npz`), 'latin1');
    for (const part of ['input/', 'reference/', 'engine/']) expect(values, part).toContain(part);
    expect(gunzipSync(readFileSync(fixture(`wrong/${name}/log.txt.gz`))).toString()).toContain('[TRT]');
    const { error, referenceMax, worst, shapes } = JSON.parse(
      readFileSync(fixture(`wrong/${name}/measured.json`), 'utf8'),
    ) as Measured;
    if (shapes) return expect(shapes.engine).not.toEqual(shapes.reference);
    const most = Math.max(...worst.map(({ reference, engine }) => Math.abs(reference - engine))) / referenceMax;
    expect(most).toBeCloseTo(error!, 5);
    return expect(most).toBeGreaterThan(0.05);
  });
});

it.each(forms.flatMap(([name, , id]) => (id === null ? [] : [[name, id]])))(
  '%s is no error and has no such form after the repair %s',
  async (name, id) => {
    const source = bytesOf(bytesOfModel(name));
    const { value: model } = await readModel(source, { spans: true });
    expect(trialOfFaults(model!, { product: 'tensorrt', version: '10.6.0' }).error).toMatchObject({
      code: 'known-fault',
      repair: id,
    });
    const subject = new RepairSubject(model!, source, {
      shapes: [],
      open: () => Promise.reject(new Error('no external data')),
      compute: () => Promise.resolve(new Map()),
    });
    const { edits } = await planRepair(
      subject,
      catalogue.find((one) => one.id === id)!,
      new Set(),
    );
    const { value } = await planEdit(model!, source, edits!);
    const { value: repaired } = await readModel(editedSource(value!.segments, source));
    expect(
      checkModel(repaired!, { product: 'tensorrt', version: '10.6', capability: null }).filter(
        ({ severity }) => severity === 'error',
      ),
    ).toEqual([]);
  },
);

type Node = [op: string, inputs: string[], output: string, attributes?: Record<string, number | number[] | string>];
type Constants = Record<string, { ints: number[] } | { floats: number[] } | { weight: number[] }>;

function modelOf(
  nodes: Node[],
  inputs: Record<string, number[]>,
  constants: Constants,
  opset = 17,
): Promise<OnnxModel> {
  const attribute = ([name, given]: [string, number | number[] | string]): onnx.IAttributeProto =>
    typeof given === 'number'
      ? { name, type: 2, i: given }
      : typeof given === 'string'
        ? { name, type: 3, s: new TextEncoder().encode(given) }
        : { name, type: 7, ints: given };
  const valueOf = (name: string, dims: number[] | null): onnx.IValueInfoProto => ({
    name,
    type: {
      tensorType: { elemType: 1, ...(dims && { shape: { dim: dims.map((dimValue) => ({ dimValue })) } }) },
    },
  });
  const graph: onnx.IGraphProto = {
    name: 'g',
    node: nodes.map(([opType, input, output, attributes = {}]) => ({
      opType,
      name: output,
      input,
      output: [output],
      attribute: Object.entries(attributes).map(attribute),
    })),
    input: Object.entries(inputs).map(([name, dims]) => valueOf(name, dims)),
    output: [valueOf(nodes.at(-1)![2], null)],
    initializer: Object.entries(constants).map(([name, given]) =>
      'ints' in given
        ? { name, dims: [given.ints.length], dataType: 7, int64Data: given.ints }
        : 'floats' in given
          ? { name, dims: given.floats.length === 1 ? [] : [given.floats.length], dataType: 1, floatData: given.floats }
          : {
              name,
              dims: given.weight,
              dataType: 1,
              floatData: Array<number>(given.weight.reduce((a, b) => a * b)).fill(0.1),
            },
    ),
  };
  const model = { irVersion: 9, opsetImport: [{ domain: '', version: opset }], graph };
  return read(onnx.ModelProto.encode(model as onnx.IModelProto).finish());
}

/** Attention of two heads of 4 from one merged product; `change` makes a twin of it. */
function attention(change: (nodes: Node[], constants: Constants) => void = () => {}): Promise<OnnxModel> {
  const constants: Constants = {
    w: { weight: [8, 24] },
    shape: { ints: [1, 5, 3, 2, 4] },
    i0: { ints: [0] },
    i1: { ints: [1] },
    axes: { ints: [0] },
    s: { floats: [0.5] },
    t: { floats: [0.25] },
    each: { floats: [1, 2, 3, 4] },
  };
  const nodes: Node[] = [
    ['MatMul', ['x', 'w'], 'qkv'],
    ['Reshape', ['qkv', 'shape'], 'five'],
    ['Transpose', ['five'], 'parts', { perm: [2, 0, 3, 1, 4] }],
    ['Gather', ['parts', 'i0'], 'q1', { axis: 0 }],
    ['Squeeze', ['q1', 'axes'], 'q'],
    ['Gather', ['parts', 'i1'], 'k1', { axis: 0 }],
    ['Squeeze', ['k1', 'axes'], 'k'],
    ['Transpose', ['k'], 'kt', { perm: [0, 1, 3, 2] }],
    ['Mul', ['q', 's'], 'qs'],
    ['Mul', ['t', 'kt'], 'ks'],
    ['MatMul', ['qs', 'ks'], 'qk'],
    ['Softmax', ['qk'], 'y'],
  ];
  change(nodes, constants);
  return modelOf(nodes, { x: [1, 5, 8], q0: [1, 2, 5, 4], k0: [1, 2, 4, 5] }, constants);
}
const node = (nodes: Node[], output: string): Node => nodes.find(([, , name]) => name === output)!;

test.each<[string, (nodes: Node[], constants: Constants) => void, 'wrong' | 'remark' | 'right']>([
  ['as it is', () => {}, 'wrong'],
  ['k of plain inputs, q merged', (nodes) => (node(nodes, 'ks')[1] = ['k0', 't']), 'wrong'],
  [
    'q and k of plain inputs',
    (nodes) => ((node(nodes, 'qs')[1] = ['q0', 's']), (node(nodes, 'ks')[1] = ['k0', 't'])),
    'right',
  ],
  ['only q scaled', (nodes) => (node(nodes, 'qk')[1] = ['qs', 'kt']), 'right'],
  ['k scaled by a number for each column', (nodes) => (node(nodes, 'qs')[1] = ['q', 'each']), 'right'],
  ['another order of axes', (nodes) => (node(nodes, 'parts')[3] = { perm: [2, 0, 1, 3, 4] }), 'remark'],
  [
    'scaled q read by something else',
    (nodes) => nodes.push(['Relu', ['qs'], 'z'], ['Add', ['z', 'z'], 'last']),
    'right',
  ],
  [
    'k after a normalization',
    (nodes) => (nodes.splice(7, 0, ['Tanh', ['k'], 'kn']), (node(nodes, 'kt')[1] = ['kn'])),
    'wrong',
  ],
  [
    'q and k after a normalization',
    (nodes) => {
      nodes.splice(7, 0, ['Tanh', ['k'], 'kn'], ['Tanh', ['q'], 'qn']);
      node(nodes, 'kt')[1] = ['kn'];
      node(nodes, 'qs')[1] = ['qn', 's'];
    },
    'right',
  ],
])('two scales of q·k: %s', async (_, change, verdict) => {
  const model = await attention(change);
  expect(kinds(model, '10.6')).toEqual(
    { wrong: ['error known-fault 1'], remark: ['unknown reported-fault 1'], right: [] }[verdict],
  );
  expect(kinds(model, '10.7')).toEqual(verdict === 'wrong' ? ['unknown reported-fault 1'] : []);
});

const cumSums = (axes: [string, string]): Promise<OnnxModel> =>
  modelOf(
    [
      ['CumSum', ['x', axes[0]], 'a'],
      ['CumSum', ['x', axes[1]], 'b'],
      ['Add', ['a', 'b'], 'y'],
    ],
    { x: [4, 4] },
    { zero: { ints: [0] }, one: { ints: [1] } },
  );
const pool = (size: number): Promise<OnnxModel> =>
  modelOf(
    [
      [
        'AveragePool',
        ['x'],
        'y',
        { kernel_shape: [2], strides: [2], ceil_mode: 1, count_include_pad: 1, pads: [1, 0] },
      ],
    ],
    { x: [1, 2, size] },
    {},
  );
const transposed = (outputs: number, more: Record<string, string> = {}): Promise<OnnxModel> =>
  modelOf(
    [['ConvTranspose', ['x', 'w'], 'y', { strides: [2], output_shape: [outputs], ...more }]],
    { x: [1, 2, 5] },
    { w: { weight: [2, 2, 3] } },
  );
const sampled = (mode: string | null, opset: number): Promise<OnnxModel> =>
  modelOf(
    [['GridSample', ['x', 'g'], 'y', mode === null ? {} : { mode }]],
    { x: [1, 2, 4, 4], g: [1, 3, 3, 2] },
    {},
    opset,
  );
const routed = (clip: boolean): Promise<OnnxModel> =>
  modelOf(
    [
      ['TopK', ['x', 'two'], 'values'],
      ['Reshape', ['values', 'flat'], 'places'],
      [clip ? 'Clip' : 'Identity', ['places'], 'index'],
      ['Gather', ['experts', 'index'], 'y'],
    ],
    { x: [3, 4] },
    { experts: { weight: [4, 2, 2] }, two: { ints: [2] }, flat: { ints: [-1] } },
  );

/** A rotary embedding and what reads it. */
function rotated(behind: string): Promise<OnnxModel> {
  const joined: Node[] = [
    ['Neg', ['x'], 'n'],
    ['Slice', ['x', 'i', 'j'], 's'],
    ['Concat', ['n', 's'], 'c', { axis: 1 }],
  ];
  const summed: Node[] = [
    ['Mul', ['c', 'z'], 'm'],
    ['Add', ['z', 'm'], 'a'],
    [behind, ['a', 'k'], 'y'],
  ];
  return modelOf([...joined, ...summed], { x: [3, 8], z: [3, 16], k: [16] }, { i: { ints: [0] }, j: { ints: [3] } });
}

const cyclic = (): Promise<OnnxModel> =>
  modelOf(
    [
      ['Identity', ['b'], 'a'],
      ['Identity', ['a'], 'b'],
      ['Clip', ['a'], 'index'],
      ['Gather', ['experts', 'index'], 'y'],
    ],
    { x: [3, 4] },
    { experts: { weight: [4, 2, 2] } },
  );

test.each<[string, () => Promise<OnnxModel>, string, string[]]>([
  ['CumSums of two axes', () => cumSums(['zero', 'one']), '10.11', ['unknown reported-fault 2']],
  ['CumSums of two axes, before', () => cumSums(['zero', 'one']), '10.7', []],
  ['CumSums of one axis', () => cumSums(['one', 'one']), '10.11', []],
  ['a last window behind the padding', () => pool(8), '10.6', ['unknown known-fault 1']],
  ['windows that fit', () => pool(7), '10.6', []],
  ['an odd padding', () => transposed(10), '10.6', ['error known-fault 1']],
  ['a cycle before a Clip', () => cyclic(), '10.6', []],
  ['an even padding', () => transposed(9), '10.6', []],
  ['an odd padding, at the other end', () => transposed(10, { auto_pad: 'SAME_UPPER' }), '10.6', []],
  ['linear', () => sampled('linear', 20), '10.6', ['error known-fault 1']],
  ['linear, as others reported', () => sampled('linear', 20), '10.13', ['unknown reported-fault 1']],
  ['linear without its name', () => sampled(null, 20), '10.6', []],
  ['nearest', () => sampled('nearest', 20), '10.6', []],
  ['bilinear', () => sampled('bilinear', 16), '10.6', []],
  ['experts', () => routed(true), '10.6', ['unknown reported-fault 1']],
  ['a look-up', () => routed(false), '10.6', []],
  ['a norm behind a rotation', () => rotated('LayerNormalization'), '10.6', ['unknown reported-fault 1']],
  ['a sum behind a rotation', () => rotated('Sum'), '10.6', []],
])('%s', async (_, make, version, expected) => {
  expect(kinds(await make(), version)).toEqual(expected);
});
