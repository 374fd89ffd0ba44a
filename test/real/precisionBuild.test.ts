import { spawn } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { onnx } from 'onnx-proto';
import { beforeAll, describe, expect, test } from 'vitest';
import { fillWeights } from '../../src/kernel/node/files/fillWeights.ts';
import type { FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import { modelPath } from '../support/fixtures.ts';
import { pythonForTests, type PythonTools } from '../support/python.ts';
import { rtxForTests, temporaryFolder } from '../support/rtx.ts';

let python: PythonTools;
const folder = temporaryFolder();
const cli = join(import.meta.dirname, '../../dist/cli.js');

beforeAll(async () => {
  await rtxForTests();
  python = await pythonForTests();
});

interface Ran {
  code: number | null;
  out: string;
  err: string;
  /** Most memory that the process had, in bytes. */
  peak: number;
}

/** The command line as a user runs it. */
function trtlens(...args: string[]): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const ran: Ran = { code: null, out: '', err: '', peak: 0 };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (ran.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (ran.err += text));
    const watch = setInterval(() => (ran.peak = Math.max(ran.peak, residentBytes(child.pid!))), 20);
    child.once('error', reject);
    child.once('close', (code) => {
      clearInterval(watch);
      resolve({ ...ran, code });
    });
  });
}

function residentBytes(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

interface Verified {
  tensorrt: { product: string };
  rules: {
    line: number;
    verdict: string;
    counts: Record<string, number>;
    message: string;
    nodes: { name: string; verdict: string; certain: boolean; reason: string }[];
  }[];
}

interface Made {
  path: string;
  log: string;
  fusion: FusionReport;
}

/** From rules to an engine: `precision apply`, then `build` with TensorRT-RTX. */
async function make(
  name: string,
  model: string,
  rules: string,
  ...options: string[]
): Promise<Made & { rules: string }> {
  const place = join(folder, name);
  mkdirSync(place);
  const file = join(place, 'rules.trtprec');
  writeFileSync(file, `model ${model}\n${rules}\n`);
  const path = join(place, 'typed.onnx');
  const applied = await trtlens('precision', 'apply', file, '-o', path, ...options);
  expect(applied).toMatchObject({ code: 0 });
  const built = await trtlens('build', path, '--backend', 'rtx', '--folder', join(place, 'builds'), '--json');
  expect([name, built.code, built.code === 0 ? '' : built.err]).toEqual([name, 0, '']);
  const { build, fusion } = JSON.parse(built.out) as {
    build: { result: string; files: { log: string } };
    fusion: FusionReport;
  };
  expect(build.result).toBe('passed');
  const [folderOfBuild] = readdirSync(join(place, 'builds'));
  return { path, fusion, rules: file, log: join(place, 'builds', folderOfBuild!, build.files.log) };
}

async function verify(
  { rules, path, log }: { rules: string; path: string; log: string },
  code: number,
): Promise<Verified> {
  const ran = await trtlens('precision', 'verify', rules, '--onnx', path, '--log', log, '--json');
  expect([ran.code, ran.err.replaceAll(/^.*: warning constant-node: .*\n/gm, '')]).toEqual([code, '']);
  return JSON.parse(ran.out) as Verified;
}

const kernelsOf = ({ fusion }: Made, node: string) => {
  const { layers } = fusion.nodes.find(({ name }) => name === node)!;
  return fusion.layers.filter(({ id }) => layers.includes(id));
};

/** Two convolutions with a residual sum between Q/DQ nodes, and a tail in floating point. */
function quantized(): Uint8Array {
  const channels = 32;
  const value = (name: string, size: number) => {
    const dim = [1, channels, size, size].map((dimValue) => ({ dimValue }));
    return { name, type: { tensorType: { elemType: 1, shape: { dim } } } };
  };
  const pads = [{ name: 'pads', ints: [1, 1, 1, 1], type: onnx.AttributeProto.AttributeType.INTS }];
  const node = (name: string, opType: string, ...input: string[]): onnx.INodeProto => ({
    name,
    opType,
    input,
    output: [name],
    attribute: opType === 'Conv' ? pads : [],
  });
  const qdq = (name: string, input: string) => [
    node(`${name}_q`, 'QuantizeLinear', input, 's', 'z'),
    node(name, 'DequantizeLinear', `${name}_q`, 's', 'z'),
  ];
  const weights = Int8Array.from({ length: channels * channels * 9 }, (_, i) => ((i * 7) % 31) - 15);
  const graph: onnx.IGraphProto = {
    name: 'quantized',
    node: [
      ...qdq('x_dq', 'x'),
      node('w', 'DequantizeLinear', 'w_q', 's', 'z'),
      node('conv', 'Conv', 'x_dq', 'w'),
      node('relu', 'Relu', 'conv'),
      ...qdq('relu_dq', 'relu'),
      node('conv2', 'Conv', 'relu_dq', 'w'),
      node('add', 'Add', 'conv2', 'x_dq'),
      node('relu2', 'Relu', 'add'),
      ...qdq('out_dq', 'relu2'),
      node('pool', 'GlobalAveragePool', 'out_dq'),
      node('sigmoid', 'Sigmoid', 'pool'),
      node('exp', 'Exp', 'sigmoid'),
    ],
    initializer: [
      { name: 's', dataType: 1, floatData: [0.05] },
      { name: 'z', dataType: 3, rawData: Uint8Array.of(0) },
      { name: 'w_q', dims: [channels, channels, 3, 3], dataType: 3, rawData: new Uint8Array(weights.buffer) },
    ],
    input: [value('x', 16)],
    output: [value('exp', 1)],
  };
  return onnx.ModelProto.encode({ irVersion: 8, opsetImport: [{ domain: '', version: 17 }], graph }).finish();
}

describe('rewritten models become engines that obey', () => {
  test('fp16_overflow: the nodes that overflow in FP32, the rest in FP16', async () => {
    const made = await make(
      'overflow',
      modelPath('fp16_overflow'),
      'base fp16\n/layers.1/attn/qk/MatMul, /layers.1/attn/scale/Mul fp32\n/layers.3/ffn/down/**, /layers.3/add_ffn/Add fp32\n/final_norm/** fp32\n/layers.0/attn/qk/MatMul fp16\n/layers.2/ffn/down/MatMul fp16',
    );
    const { tensorrt, rules } = await verify(made, 0);
    expect(tensorrt.product).toBe('tensorrt-rtx');
    expect(rules.map(({ line, verdict }) => [line, verdict])).toEqual([
      [3, 'obeyed'],
      [4, 'obeyed'],
      [5, 'obeyed'],
      // Inside of a fused attention kernel only the model's own types tell.
      [6, 'obeyed'],
      [7, 'obeyed'],
    ]);
    expect(rules.map(({ nodes }) => nodes.length)).toEqual([2, 3, 9, 1, 1]);
    // Seen in the kernels themselves, not only in the model.
    const types = (node: string) =>
      kernelsOf(made, node).flatMap(({ inputs, outputs }) => [...inputs, ...outputs].map(({ type }) => type));
    expect(new Set(types('/layers.1/attn/qk/MatMul'))).toEqual(new Set(['Float']));
    expect(types('/layers.2/ffn/down/MatMul')).toContain('Half');

    // The same engine against rules that it was not built for.
    const others = join(folder, 'overflow', 'others.trtprec');
    writeFileSync(
      others,
      '/layers.2/ffn/down/MatMul fp32\n/layers.1/attn/qk/MatMul fp16\nop:Constant fp32\n/layers.0/attn/qk/MatMul bf16',
    );
    const wrong = await verify({ ...made, rules: others }, 1);
    expect(wrong.rules.map(({ verdict }) => verdict)).toEqual(['unbuilt', 'unbuilt', 'unseen', 'unbuilt']);

    const against = modelPath('fp16_overflow');
    const [answer] = await python.check([{ model: made.path, run: true, against, optimized: true }]);
    expect(answer).toMatchObject({ checked: true, ran: true, outputs: { y: { finite: true } } });
  });

  test('vit_tiny: softmax and norms in FP32, grown over cheap neighbors; and BF16', async () => {
    const model = await fillWeights(modelPath('vit_tiny'));
    const rules = 'base fp16\nop:Softmax fp32\nop:LayerNormalization fp32';
    const plain = await make('vit', model, rules, '--grow');
    const { rules: verdicts } = await verify(plain, 0);
    expect(verdicts.map(({ line, verdict, nodes }) => [line, verdict, nodes.length])).toEqual([
      // TensorRT still makes fused attention kernels with FP16 at their border: nobody can look inside.
      [3, 'unseen', 12],
      [4, 'obeyed', 25],
    ]);
    const brain = await make('vit-bf16', model, 'base bf16\n/head/** fp32');
    const [head] = (await verify(brain, 0)).rules;
    expect(head).toMatchObject({ verdict: 'obeyed' });
    const types = brain.fusion.layers.flatMap(({ outputs }) => outputs.map(({ type }) => type));
    expect(types).toContain('BFloat16');
    for (const { path } of [plain, brain]) {
      const [answer] = await python.check([{ model: path }]);
      expect(answer).toMatchObject({ checked: true });
    }
  });

  test('Loop and If: nodes of the bodies, too', async () => {
    const made = await make('loop', await fillWeights(modelPath('loop_if')), 'base fp16\nop:Tanh fp32\nop:Relu fp32');
    const { rules } = await verify(made, 0);
    expect(rules.length).toBeGreaterThan(0);
    for (const { verdict, nodes } of rules) {
      expect(verdict).toBe('obeyed');
      expect(nodes.length).toBeGreaterThan(0);
    }
    expect(made.fusion.nodes.some(({ id, op }) => id.includes('/') && op === 'Cast')).toBe(true);
    const [answer] = await python.check([{ model: made.path, run: true }]);
    expect(answer).toMatchObject({ checked: true, ran: true });
  });

  test('a quantized model in FP16: its quantized kernels are the same ones', async () => {
    const model = join(folder, 'quantized.onnx');
    writeFileSync(model, quantized());
    const typed = await make('quantized', model, 'base fp16');
    const place = join(folder, 'quantized-as-is');
    const built = await trtlens('build', model, '--backend', 'rtx', '--folder', place, '--json');
    const { fusion } = JSON.parse(built.out) as { fusion: FusionReport };
    const kernels = (of: FusionReport) => {
      const names = new Map(of.nodes.map(({ id, name }) => [id, name]));
      return ['conv', 'conv2'].map((node) => {
        const own = of.nodes.find(({ name }) => name === node)!.layers;
        return of.layers
          .filter(({ id }) => own.includes(id))
          .map(({ name, nodes, inputs }) => [name, nodes.map((id) => names.get(id)), inputs.map(({ type }) => type)]);
      });
    };
    expect(kernels(typed.fusion)).toEqual(kernels(fusion));
    expect(JSON.stringify(kernels(fusion))).toContain('Int8');
    expect(kernelsOf(typed, 'exp').length).toBeGreaterThan(0);
    const [answer] = await python.check([{ model: typed.path, run: true, against: model }]);
    expect(answer).toMatchObject({ checked: true, ran: true });
    const { error, largest } = answer!.outputs!['exp']!;
    expect(error).toBeLessThan(0.01 * largest!);
  });

  test('a product alone in FP32, whose Casts TensorRT takes away, is told from one with a node beside it', async () => {
    const rules = 'base fp16\n/layer4/layer4.0/conv1/Conv fp32\n/layer2/** fp32';
    const made = await make('alone', await fillWeights(modelPath('resnet18')), rules);
    const { rules: verdicts } = await verify(made, 1);
    expect(verdicts.map(({ line, verdict }) => [line, verdict])).toEqual([
      [3, 'disobeyed'],
      [4, 'obeyed'],
    ]);
    // The model says FP32; the kernel that TensorRT made of it has other weights.
    const [{ inputs, outputs }] = kernelsOf(made, '/layer4/layer4.0/conv1/Conv') as [FusionReport['layers'][number]];
    expect([...inputs, ...outputs].map(({ type }) => type)).not.toContain('Float');
  });

  test('the model that was not built is told from the one that was', async () => {
    const { log, rules } = await make(
      'mistaken',
      modelPath('fp16_overflow'),
      'base fp16\n/layers.0/attn/qk/MatMul fp16',
    );
    const ran = await trtlens('precision', 'verify', rules, '--log', log);
    // Its own types say FP32: they must not be held against the build.
    expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/: (unverifiable|obeyed): /) as string });
    expect(ran.err).toContain('Check that the engine was built from this file.');
  });
});

describe('a model over 2 GB', () => {
  const layers = 36;
  const width = 4096;
  const bytesOfLayer = width * width * 4;

  /** A chain of MatMul, Add and Relu whose external weights are one sparse file: a few kilobytes on disk. */
  function largeModel(): { data: string; size: number } {
    const place = join(folder, 'large');
    mkdirSync(place);
    const data = join(place, 'weights.bin');
    const handle = openSync(data, 'w');
    const size = layers * (bytesOfLayer + width * 4);
    ftruncateSync(handle, size);
    // Numbers at the beginning of every layer's bias, to see that they arrive.
    const mark = (layer: number) => Buffer.from(Float32Array.of(layer + 0.5, 1e6).buffer);
    const at = (layer: number) => layer * (bytesOfLayer + width * 4);
    for (let layer = 0; layer < layers; layer++) writeSync(handle, mark(layer), 0, 8, at(layer) + bytesOfLayer);
    closeSync(handle);
    const value = (name: string) => ({
      name,
      type: { tensorType: { elemType: 1, shape: { dim: [{ dimValue: 1 }, { dimValue: width }] } } },
    });
    const tensor = (name: string, dims: number[], offset: number, length: number) => ({
      name,
      dims,
      dataType: 1,
      dataLocation: onnx.TensorProto.DataLocation.EXTERNAL,
      externalData: Object.entries({ location: 'weights.bin', offset: String(offset), length: String(length) }).map(
        ([key, text]) => ({ key, value: text }),
      ),
    });
    const node: onnx.INodeProto[] = [];
    const initializer: onnx.ITensorProto[] = [];
    for (let layer = 0; layer < layers; layer++) {
      const [input, output] = [layer === 0 ? 'x' : `r${layer - 1}`, layer === layers - 1 ? 'y' : `r${layer}`];
      initializer.push(tensor(`w${layer}`, [width, width], at(layer), bytesOfLayer));
      initializer.push(tensor(`b${layer}`, [width], at(layer) + bytesOfLayer, width * 4));
      node.push({
        opType: 'MatMul',
        name: `/layer.${layer}/MatMul`,
        input: [input, `w${layer}`],
        output: [`m${layer}`],
      });
      node.push({
        opType: 'Add',
        name: `/layer.${layer}/Add`,
        input: [`m${layer}`, `b${layer}`],
        output: [`a${layer}`],
      });
      node.push({ opType: 'Relu', name: `/layer.${layer}/Relu`, input: [`a${layer}`], output: [output] });
    }
    const graph = { name: 'large', node, initializer, input: [value('x')], output: [value('y')] };
    writeFileSync(
      join(place, 'large.onnx'),
      onnx.ModelProto.encode({ irVersion: 8, opsetImport: [{ domain: '', version: 17 }], graph }).finish(),
    );
    return { data, size };
  }

  test('is rewritten piece by piece, without its weights in memory', async () => {
    const { data, size } = largeModel();
    expect(size).toBeGreaterThan(2 * 2 ** 30);
    const rules = join(folder, 'large', 'rules.trtprec');
    writeFileSync(rules, 'model large.onnx\nbase fp16\n/layer.0/** fp32\n/layer.35/** bf16');
    const out = join(folder, 'large', 'typed', 'large.onnx');
    const before = statSync(data);
    const ran = await trtlens('precision', 'apply', rules, '-o', out);
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.err).toContain('34 weights exceeded the range of the new type and became its largest finite value');
    expect(ran.peak).toBeGreaterThan(0);
    expect(ran.peak).toBeLessThan(400 * 2 ** 20);
    expect(statSync(data)).toMatchObject({ size: before.size, mtimeMs: before.mtimeMs });

    const converted = `${out}.data`;
    const moved = statSync(converted);
    expect(moved.size).toBeGreaterThan(((layers - 1) * bytesOfLayer) / 2);
    // Still sparse: what was a hole stays one.
    expect(moved.blocks * 512).toBeLessThan(200 * 2 ** 20);
    const [answer] = await python.check([{ model: out }]);
    expect(answer).toMatchObject({ checked: true, inputs: { x: 'float' }, declared: { y: 'float' } });

    const typed = onnx.ModelProto.decode(readFileSync(out)).graph!;
    const weight = (name: string) => {
      const { dataType, externalData } = typed.initializer!.find((one) => one.name === name)!;
      const entry = Object.fromEntries(externalData!.map(({ key, value }) => [key, value])) as Record<string, string>;
      return { type: dataType, ...entry };
    };
    expect(weight('w0')).toMatchObject({ type: 1, location: 'weights.bin', offset: '0' });
    expect(weight('w35')).toMatchObject({ type: 16, location: 'large.onnx.data' });
    const bias = weight('b20') as unknown as { type: number; location: string; offset: string };
    expect(bias).toMatchObject({ type: 10, location: 'large.onnx.data' });
    const handle = openSync(converted, 'r');
    const bytes = Buffer.alloc(4);
    readSync(handle, bytes, 0, 4, Number(bias.offset));
    closeSync(handle);
    // 20.5 and the largest number in FP16.
    expect([bytes.readUInt16LE(0), bytes.readUInt16LE(2)]).toEqual([0x4d20, 0x7bff]);
  });
});
