import { describe, expect, it } from 'vitest';
import {
  checkTritonConfig,
  readPbtxt,
  type TritonModel,
  tritonModel,
  whyNotServed,
  writeTritonConfig,
} from '../../../../../src/features/engines/triton/tritonConfig.ts';
import { buildManifest } from '../../../../support/buildManifest.ts';
import { handReport } from '../../../kernel/picture/graph/handReport.ts';

const port = (name: string, type: string, ...shape: (number | string)[]) => ({ name, type, shape, initializer: false });
const graph = (inputs: ReturnType<typeof port>[], outputs: ReturnType<typeof port>[]) => ({
  name: 'g',
  nodes: [],
  inputs,
  outputs,
  tensors: [],
});
const range = (profile: number, input: string, min: number[], opt: number[], max: number[]) => ({
  profile,
  input,
  min,
  opt,
  max,
});
const bert = tritonModel(
  'bert',
  graph(
    [port('ids', 'int64', 'batch', 'seq'), port('mask', 'int64', 'batch', 'seq')],
    [port('logits', 'float', 'batch', 'seq', 768)],
  ),
  {
    ...handReport([], []),
    builtShapes: [
      range(0, 'ids', [1, 8], [4, 64], [8, 256]),
      range(0, 'mask', [1, 8], [4, 64], [8, 256]),
      range(1, 'ids', [1, 8], [32, 8], [32, 8]),
      range(1, 'mask', [1, 8], [32, 8], [32, 8]),
    ],
  },
);

describe('what Triton needs to know', () => {
  it('is the batch in front of all bindings, and each profile with its optimum', () => {
    expect(bert.maxBatch).toBe(32);
    expect(bert.profiles).toEqual([
      { index: 0, optBatch: 4 },
      { index: 1, optBatch: 32 },
    ]);
  });

  it('is no batch where a size in front is fixed, or the build does not say how large it may be', () => {
    const open = [port('x', 'float', 'n', 3)];
    const shapes = [range(0, 'x', [1, 3], [1, 3], [4, 3])];
    const of = (outputs: ReturnType<typeof port>[], builtShapes: typeof shapes) =>
      tritonModel('m', graph(open, outputs), { ...handReport([], []), builtShapes }).maxBatch;
    expect(of([port('y', 'float', 'n', 2)], shapes)).toBe(4);
    expect(of([port('y', 'float', 1, 2)], shapes)).toBe(0);
    expect(of([port('y', 'float', 'n', 2)], [])).toBe(0);
  });
});

describe('config.pbtxt', () => {
  it('has the bindings without the batch, dynamic batching and the profiles', () => {
    expect(writeTritonConfig(bert)).toBe(`name: "bert"
platform: "tensorrt_plan"
max_batch_size: 32
input [
  {
    name: "ids"
    data_type: TYPE_INT64
    dims: [ -1 ]
  },
  {
    name: "mask"
    data_type: TYPE_INT64
    dims: [ -1 ]
  }
]
output [
  {
    name: "logits"
    data_type: TYPE_FP32
    dims: [ -1, 768 ]
  }
]
dynamic_batching {
  preferred_batch_size: [ 4, 32 ]
}
instance_group [
  {
    count: 1
    kind: KIND_GPU
    profile: [ "0", "1" ]
  }
]
`);
  });

  it('has all sizes of an engine without an open batch, and takes scalars', () => {
    const model = tritonModel('vit', graph([port('x', 'float16', 1, 3)], [port('loss', 'float')]), handReport([], []));
    const text = writeTritonConfig(model);
    expect(text).toContain('max_batch_size: 0');
    expect(text).toContain('dims: [ 1, 3 ]');
    expect(text).toContain('dims: [ 1 ]\n    reshape { shape: [ ] }');
    expect(text).not.toContain('dynamic_batching');
    expect(text).not.toContain('profile:');
    expect(checkTritonConfig(text, model)).toEqual([]);
  });

  it('is read back as it was written, names with quotes and line ends included', () => {
    const name = 'a"b\\c\nd/é:0';
    const model: TritonModel = { ...bert, inputs: [{ name, dataType: 'TYPE_FP32', dims: [-1] }] };
    const { value } = readPbtxt(writeTritonConfig(model));
    const input = value.find((field) => field.name === 'input')!;
    expect(input.value).toContainEqual({ name: 'name', value: name, line: expect.any(Number) });
    expect(checkTritonConfig(writeTritonConfig(model), model)).toEqual([]);
    // As Python's text_format prints it: bytes of UTF-8 in octal digits.
    expect(readPbtxt('name: "\\u00e9\\U0001F600\\a"').value[0]!.value).toBe('é😀\u0007');
    expect(readPbtxt('name: "\\303\\251\\xc3\\xA9\\"\\n"').value[0]!.value).toBe('éé"\n');
  });
});

describe('the check of an existing config.pbtxt', () => {
  const problemsOf = (text: string) =>
    checkTritonConfig(text, bert).map(({ line, code, message }) => [line, code, message]);
  const good = writeTritonConfig(bert);

  it('accepts what was written, and what leaves things to Triton', () => {
    expect(problemsOf(good)).toEqual([]);
    expect(problemsOf('backend: "tensorrt"\n')).toEqual([]);
    // Other spellings of the same.
    expect(
      problemsOf("platform: 'tensorrt_plan' max_batch_size: 8\ninput { name: 'ids' dims: -1 }, input < name: 'mask' >"),
    ).toEqual([]);
    // A smaller size of an open dimension.
    expect(problemsOf(good.replace('dims: [ -1 ]', 'dims: [ 64 ]'))).toEqual([]);
  });

  it('names each contradiction with its line', () => {
    expect(problemsOf(good.replace('max_batch_size: 32', 'max_batch_size: 64'))).toEqual([
      [3, 'batch', 'max_batch_size is 64, but the engine takes at most 32.'],
    ]);
    expect(problemsOf(good.replace('"tensorrt_plan"', '"onnxruntime_onnx"'))[0]![1]).toBe('platform');
    expect(problemsOf(good.replace('name: "mask"', 'name: "mask:0"'))).toEqual([
      [10, 'unknown', 'The engine has no input "mask:0"; its inputs are "ids", "mask".'],
      [5, 'missing', 'The engine\'s input "mask" is missing.'],
    ]);
    expect(problemsOf(good.replace('TYPE_FP32', 'TYPE_FP16'))).toEqual([
      [19, 'type', 'output "logits" is TYPE_FP16, but the engine\'s is TYPE_FP32.'],
    ]);
    expect(problemsOf(good.replace('[ -1, 768 ]', '[ -1, 1024 ]'))).toEqual([
      [20, 'dims', 'output "logits" has dims [ -1, 1024 ], but the engine\'s are [ -1, 768 ] without the batch.'],
    ]);
    expect(problemsOf(good.replace('"1" ]', '"2" ]'))).toEqual([
      [30, 'profile', 'The engine has no optimization profile 2: it has 0, 1.'],
    ]);
  });

  it('names what protobuf rejects: a field that is given twice, and a comma behind the last value', () => {
    expect(problemsOf('name: "a"\nname: "b"\n')).toEqual([
      [2, 'repeated', "'name' is given twice, so Triton cannot read the file. Keep one."],
    ]);
    expect(problemsOf('input [\n { name: "x" },\n]')).toEqual([[3, 'pbtxt', "a value is missing between ',' and ']'"]]);
  });

  it('says where a text is broken, and never throws', () => {
    expect(problemsOf('name: "a"\ninput [ { name: "x" ')).toEqual([[2, 'pbtxt', "'}' is missing"]]);
    expect(problemsOf('name "a"')).toEqual([[1, 'pbtxt', "':' is missing after 'name'"]]);
    for (let end = 0; end < good.length; end++) {
      expect(() => problemsOf(good.slice(0, end))).not.toThrow();
      expect(() => problemsOf(`${good.slice(0, end)}]${good.slice(end + 1)}`)).not.toThrow();
    }
    expect(problemsOf(`${'a {'.repeat(100_000)}`)[0]![2]).toBe('the messages are nested too deeply');
  });
});

describe('what Triton cannot serve', () => {
  const rtx = { product: 'tensorrt-rtx', version: '1.7.1' } as const;
  it.each([
    ['an engine of TensorRT-RTX', buildManifest({ tensorrt: rtx }), /TensorRT-RTX, and Triton's backend/],
    ['a failed build', buildManifest({ result: 'failed' }), /its result is 'failed'/],
    ['a build that runs', buildManifest({ result: 'running' }), /still running/],
  ])('%s', (_, manifest, reason) => expect(whyNotServed(manifest)).toMatch(reason));

  it('an engine of TensorRT is not refused, nor one of which the product is not known', () => {
    expect(whyNotServed(buildManifest())).toBeNull();
    expect(whyNotServed(buildManifest({ tensorrt: { product: null, version: null } }))).toBeNull();
  });
});
