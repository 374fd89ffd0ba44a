import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onnx } from 'onnx-proto';
import { beforeAll, expect, test } from 'vitest';
import { writePlugin, type WrittenPlugin } from '../../src/features/surgery/node/writePlugin.ts';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { runProcess } from '../../src/kernel/node/tools/runProcess.ts';
import { cudaForTests, pythonForTests, type PythonTools } from '../support/python.ts';
import { temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();
/** Our own declarations of TensorRT's plugin interface: NVIDIA's headers are not here to be compiled against. */
const pluginApi = join(import.meta.dirname, '../support/pluginApi');
let tools: PythonTools;
let cuda: string;

beforeAll(async () => {
  tools = await pythonForTests();
  cuda = await cudaForTests();
});

/** A name that would end a comment or a text in C++ and Python, were it written as it is. */
const nasty = '*/ "x" \\ ??/\n#error é "";';

const value = (name: string, dims: (string | number)[]) => ({
  name,
  type: {
    tensorType: {
      elemType: 1,
      shape: { dim: dims.map((dim) => (typeof dim === 'string' ? { dimParam: dim } : { dimValue: dim })) },
    },
  },
});

const float = (name: string, dims: number[], floatData: number[]) => ({ name, dims, dataType: 1, floatData });

/** Nodes [op, inputs, output, attributes], with `x` of ['batch', 8] as the input and `out` as the output. */
function model(
  name: string,
  nodes: [string, string[], string, onnx.IAttributeProto[]?][],
  initializer: onnx.ITensorProto[],
  out: object | object[] = value('out', ['batch', 8]),
): string {
  const node = nodes.map(([opType, input, output, attribute = []], index) => ({
    opType,
    name: index === 1 ? nasty : `n${index}`,
    input,
    output: [output],
    attribute,
  }));
  const graph = { name: 'g', node, input: [value('x', ['batch', 8])], output: [out].flat(), initializer };
  const path = join(folder, `${name}.onnx`);
  const opsetImport = [{ domain: '', version: 20 }];
  writeFileSync(path, onnx.ModelProto.encode({ irVersion: 9, opsetImport, graph } as onnx.IModelProto).finish());
  return path;
}

const write = (path: string, nodes: string[], name: string): Promise<WrittenPlugin> =>
  writePlugin({ path, nodes, name, domain: 'custom', out: join(folder, name) });

async function run(program: string, args: string[], environment: Record<string, string> = {}) {
  const lines: string[] = [];
  const keep = (line: string) => lines.push(line);
  const { code } = await runProcess({ program, args, environment, stdout: keep, stderr: keep });
  return { code, text: lines.join('\n') };
}

/** Compiles the plugin as users do, with every warning as an error. */
const compile = (name: string) =>
  run('g++', [
    '-std=c++17',
    '-Wall',
    '-Wextra',
    '-Werror',
    '-fsyntax-only',
    '-isystem',
    pluginApi,
    '-isystem',
    join(cuda, 'cuda_runtime/include'),
    '-isystem',
    join(cuda, 'cuda_nvcc/include'),
    join(folder, name, `${name}_plugin.cpp`),
  ]);

const compileKernel = async (name: string) => {
  const { log, kernels } = await tools.compileKernel({
    library: join(cuda, 'cuda_nvrtc/lib/libnvrtc.so.12'),
    include: join(cuda, 'cuda_runtime/include'),
    source: join(folder, name, `${name}_kernel.cu`),
  });
  return { log, kernels: kernels?.toSorted() };
};

/** The reference program runs without a GPU. */
async function checkReference(name: string): Promise<void> {
  const { python, environment } = tools.runtime;
  const ran = await run(python, [join(folder, name, `test_${name}.py`)], environment);
  expect(ran.text).toMatch(/^reference: /);
  expect(ran.code).toBe(0);
}

const everyOperator =
  'Abs Ceil Cos Elu Erf Exp Floor HardSigmoid HardSwish Identity LeakyRelu Log Mish Neg Reciprocal Relu Round Sigmoid Sin Softplus Softsign Sqrt Tanh Gelu Add Sub Mul Div Pow Max Min Mean Sum PRelu'.split(
    ' ',
  );

test('a chain of every elementwise operator, with hostile names', async () => {
  const binary = new Set(everyOperator.slice(everyOperator.indexOf('Add')));
  const at = (index: number) => (index === 2 ? nasty : `t${index}`);
  const nodes = everyOperator.map((op, index): [string, string[], string, onnx.IAttributeProto[]?] => [
    op,
    [index === 0 ? 'x' : at(index), ...(binary.has(op) ? [index % 2 === 0 ? 'half' : 'x'] : [])],
    at(index + 1),
    op === 'Gelu'
      ? [{ name: 'approximate', type: 3, s: Buffer.from('tanh') }]
      : op === 'Elu'
        ? [{ name: 'alpha', type: 1, f: 0.75 }]
        : [],
  ]);
  nodes.push(['Clip', [at(everyOperator.length), '', 'half'], 'out']);
  const path = model('every', nodes, [float('half', [], [0.5])]);
  const written = await write(
    path,
    nodes.map((_, index) => String(index)),
    'Every',
  );
  expect(written).toMatchObject({ missing: null, inputs: [{ name: 'x' }], outputs: [{ name: 'out' }] });
  expect(await compile('Every')).toEqual({ code: 0, text: '' });
  expect(await compileKernel('Every')).toEqual({ log: '', kernels: ['Every_fp16', 'Every_fp32'] });
  await checkReference('Every');
  const [answer] = await tools.check([{ model: join(folder, 'Every/nodes.onnx'), run: true }]);
  expect(answer).toMatchObject({ checked: true, ran: true });
});

/** Reads raw floats of `x` from stdin and writes those of all outputs: the kernel's source, compiled for the CPU. */
const hostProgram = (name: string, outputs: number, floats: string) => `
#include <cmath>
#include <cstdio>
#include <vector>
#define __device__
#define __global__
struct Three { unsigned x; };
static Three gridDim{1}, blockDim{1}, blockIdx{0}, threadIdx{0};
#define __CUDACC_RTC__
#include "${name}_kernel.cu"
int main() {
  std::vector<float> x;
  for (float one; std::fread(&one, 4, 1, stdin) == 1;) x.push_back(one);
  std::vector<std::vector<float>> out(${outputs}, std::vector<float>(x.size()));
  ${name}_fp32(x.data(), ${Array.from({ length: outputs }, (_, at) => `out[${at}].data()`).join(', ')}, x.size()${floats});
  for (auto const& one : out) std::fwrite(one.data(), 4, one.size(), stdout);
}`;

test('each elementwise operator computes what ONNX Runtime computes', async () => {
  const from = everyOperator.indexOf('Add');
  const nodes = everyOperator.map((op, index): [string, string[], string] => [
    op,
    index < from ? ['x'] : index % 2 === 0 ? ['x', 'half'] : ['half', 'x'],
    `out${index}`,
  ]);
  nodes.push(['Clip', ['x', '', 'half'], `out${nodes.length}`]);
  const outputs = nodes.map(([, , name]) => value(name, ['batch', 8]));
  const path = model(
    'each',
    nodes.filter(([op]) => op !== 'PRelu'),
    [float('half', [], [0.5])],
    outputs.filter((_, index) => nodes[index]![0] !== 'PRelu'),
  );
  const written = await write(
    path,
    nodes.slice(1).map((_, index) => String(index)),
    'Each',
  );
  expect(written.missing).toBeNull();
  const own = join(folder, 'Each');
  mkdirSync(join(own, 'host'));
  writeFileSync(join(own, 'host/cuda_fp16.h'), 'using __half = float;\n');
  writeFileSync(join(own, 'host/main.cpp'), hostProgram('Each', written.outputs.length, ', 0.5F'));
  const program = join(own, 'host/main');
  const built = await run('g++', [
    '-std=c++17',
    '-I',
    join(own, 'host'),
    '-I',
    own,
    join(own, 'host/main.cpp'),
    '-o',
    program,
  ]);
  expect(built).toEqual({ code: 0, text: '' });
  const { python, environment } = tools.runtime;
  const compared = await run(python, ['-c', compareHost, join(own, 'test_Each.py'), program], environment);
  expect(compared.text.split('\n').slice(1).join('\n')).toBe('');
  expect(compared.code).toBe(0);
});

/** Prints each output of the program that differs from ONNX Runtime's. */
const compareHost = `
import importlib.util, subprocess, sys
import numpy as np
spec = importlib.util.spec_from_file_location("made", sys.argv[1])
made = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made)
inputs = made.make_inputs({"batch": 500})
expected = made.reference(inputs)
raw = subprocess.run([sys.argv[2]], input=inputs["x"].tobytes(), stdout=subprocess.PIPE, check=True).stdout
got = np.frombuffer(raw, np.float32).reshape(len(expected), 500, 8)
print("compared", len(expected))
for (name, want), have in zip(expected.items(), got):
    if not np.allclose(have, want, rtol=2e-5, atol=2e-6, equal_nan=True):
        print(name, np.nanmax(np.abs(have - want)))
`;

test('nodes that are no chain: everything but the kernel, which refuses to run', async () => {
  const path = model(
    'block',
    [
      ['MatMul', ['x', 'w'], 'a'],
      ['Add', ['a', 'bias'], 'b'],
      ['Softmax', ['b'], 'c', [{ name: 'axis', type: 2, i: -1 }]],
      ['Transpose', ['c'], 'd', [{ name: 'perm', type: 7, ints: [1, 0] }]],
      ['Mul', ['d', 'half'], 'out'],
    ],
    [float('w', [8, 4], Array<number>(32).fill(0.25)), float('bias', [4], [1, 2, 3, 4]), float('half', [], [0.5])],
    value('out', [4, 'batch']),
  );
  const written = await write(path, ['0', '1', '2', '3', '4'], 'Block');
  expect(written.missing).toBe('MatMul is not an elementwise operator that is known here');
  expect(written.inputs.map(({ name }) => name)).toEqual(['x', 'w', 'bias']);
  expect(written.attributes).toEqual(['softmax2_axis', 'transpose3_perm', 'mul4_input1']);
  expect(readdirSync(join(folder, 'Block')).toSorted()).toEqual([
    'Block_plugin.cpp',
    'CMakeLists.txt',
    'model.onnx',
    'nodes.onnx',
    'plugin.onnx',
    'test_Block.py',
  ]);
  const source = readFileSync(join(folder, 'Block/Block_plugin.cpp'), 'utf8');
  expect(source).toContain('// YOUR CODE');
  expect(source).toContain('outputs[0].d[0] = builder.constant(4);');
  expect(source).toContain('outputs[0].d[1] = inputs[0].d[0];');
  expect(await compile('Block')).toEqual({ code: 0, text: '' });
  await checkReference('Block');
});

test('a piece in the middle: the rest of the model stays, in an order that ONNX accepts', async () => {
  const path = model(
    'middle',
    [
      ['MatMul', ['x', 'w'], 'a'],
      ['Sigmoid', ['a'], 'b'],
      ['Tanh', ['x'], 'side'],
      ['Mul', ['b', 'half'], 'c'],
      ['Add', ['c', 'side'], 'd'],
      ['Neg', ['b'], 'e'],
      ['Sub', ['d', 'e'], 'out'],
    ],
    [float('w', [8, 8], Array<number>(64).fill(0.25)), float('half', [], [0.5])],
  );
  const written = await write(path, ['1', '3', '4'], 'Middle');
  expect(written).toMatchObject({ missing: null, inputs: [{ name: 'a' }, { name: 'side' }] });
  await checkReference('Middle');
  const [answer] = await tools.check([{ model: written.files[0]! }]);
  expect(answer!.checked).toBe(true);
  const { value: changed } = await readModel(bytesOf(readFileSync(written.files[0]!)));
  expect(changed!.nodes.map(({ op }) => op)).toEqual(['MatMul', 'Tanh', 'Middle', 'Neg', 'Sub']);
  expect(changed!.graph.initializers.map(({ name }) => name)).toEqual(['w']);
  expect(changed!.nodes[2]!.attributes.map(({ name, value: own }) => [name, own])).toEqual([
    ['plugin_version', '1'],
    ['plugin_namespace', 'custom'],
    ['mul1_input1', 0.5],
  ]);
});

test('an unknown operator whose output nobody describes: what the user says', async () => {
  const path = model(
    'unknown',
    [
      ['Relu', ['x'], 'a'],
      ['Frobnicate_TRT', ['a'], 'b', [{ name: 'mode', type: 1, f: 0.5 }]],
      ['Sigmoid', ['b'], 'out'],
    ],
    [],
  );
  await expect(write(path, ['1'], 'Frobnicate_TRT')).rejects.toThrow('pass --like-input if its type and shape are');
  const request = { path, nodes: ['1'], name: 'Frobnicate_TRT', domain: 'custom', out: join(folder, 'Frobnicate_TRT') };
  await expect(writePlugin({ ...request, isLike: () => Promise.resolve(false) })).rejects.toThrow('is unknown');
  const asked: string[] = [];
  const isLike = (output: string, { name }: { name: string }) =>
    Promise.resolve(asked.push(`${output} like ${name}`) > 0);
  const written = await writePlugin({ ...request, isLike });
  expect(asked).toEqual(['b like a']);
  expect(written.outputs).toEqual([{ name: 'b', type: 'float', shape: ['batch', 8] }]);
  expect(await compile('Frobnicate_TRT')).toEqual({ code: 0, text: '' });
  const { python, environment } = tools.runtime;
  const ran = await run(python, [join(folder, 'Frobnicate_TRT/test_Frobnicate_TRT.py')], environment);
  expect(ran.text).toMatch(/ONNX Runtime cannot run nodes\.onnx, so there is no reference: write reference\(\)/);
  expect(ran.code).toBe(1);
});

test('names and selections that cannot be a plugin', async () => {
  const path = model(
    'small',
    [
      ['Relu', ['x'], 'a'],
      ['Sigmoid', ['a'], 'out'],
    ],
    [],
  );
  await expect(write(path, ['0'], '../evil')).rejects.toThrow('is not a name for a plugin');
  await expect(write(path, ['7'], 'Seven')).rejects.toThrow('There is no node 7');
  await expect(
    writePlugin({ path, nodes: ['0'], name: 'Fine', domain: 'trt', out: join(folder, 'Fine') }),
  ).rejects.toThrow("'trt' is TensorRT's own: choose another domain");
  expect(readdirSync(folder)).not.toContain('Seven');
});
