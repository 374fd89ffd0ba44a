import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { fillWeights } from '../../src/kernel/node/files/fillWeights.ts';
import { ParsedFiles } from '../../src/kernel/node/files/parsedFiles.ts';
import { rewriteModel } from '../../src/features/precision/node/rewriteModel.ts';
import type { ScalesSource } from '../../src/features/quantization/node/pairsForRules.ts';
import { createModelGraph } from '../../src/kernel/network/modelGraph.ts';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';
import { checkOverrides } from '../../src/features/precision/checkOverrides.ts';
import { readOverrides } from '../../src/kernel/rules/readOverrides.ts';
import { planPrecision } from '../../src/kernel/rules/precisionPlan.ts';
import { misplaced } from '../../src/kernel/quantization/internal/misplaced.ts';
import { QuantizedGraph } from '../../src/kernel/quantization/quantization.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { modelPath } from '../support/fixtures.ts';
import { type PythonTools, pythonForTests } from '../support/python.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { runtimeForTests } from '../support/runtime.ts';

const folder = temporaryFolder();
const script = fileURLToPath(new URL('../../src/driver/simulate.py', import.meta.url));
let python: PythonTools;
let model: string;
let cache: string;
let made = 0;

beforeAll(async () => {
  python = await pythonForTests();
  model = await fillWeights(modelPath('resnet18'));
  cache = join(folder, 'resnet18.cache');
  const bits = new DataView(new ArrayBuffer(4));
  const lines = Object.entries(await python.calibrate(model)).map(([name, largest]) => {
    bits.setFloat32(0, Math.max(largest, 1e-6) / 127);
    return `${name}: ${bits.getUint32(0).toString(16).padStart(8, '0')}`;
  });
  writeFileSync(cache, `TRT-100600-MinMaxCalibration\n${lines.join('\n')}\n`);
});

async function apply(rules: string, scales: ScalesSource | undefined, from = model) {
  const read = await new ParsedFiles().indexed(from, { spans: true });
  const file = readOverrides(rules);
  const { resolution } = checkOverrides(file, read.index, null);
  const out = join(folder, String(made++), 'typed.onnx');
  const rewritten = await rewriteModel({
    model: read,
    plan: planPrecision(file, read.index, resolution!),
    out,
    scales,
  });
  const { value } = await readModel(bytesOf(readFileSync(out)));
  return { ...rewritten, out, network: new QuantizedGraph(createModelGraph(value!)) };
}

/** Names of the nodes that read a dequantized value. */
const low = (network: QuantizedGraph): string[] =>
  [...network.graph.nodes.keys()]
    .filter(
      (node) =>
        network.op(node) !== 'QuantizeLinear' &&
        network.graph.inputs[node]!.slice(0, 2).some((tensor) => network.dequantizedBy(tensor) >= 0),
    )
    .map((node) => network.graph.nodes[node]!.name);

test('int8 rules insert pairs with the scales of a cache; the other nodes stay as they are', async () => {
  const rules = 'scales ./resnet18.cache\n/layer1/** int8\n/layer1/layer1.1/conv2/Conv fp32\n';
  const { out, network, quantized, rewrite } = await apply(rules, { path: cache });
  const names = low(network).filter((name) => name.endsWith('/Conv'));
  expect(names).toEqual(['/layer1/layer1.0/conv1/Conv', '/layer1/layer1.0/conv2/Conv', '/layer1/layer1.1/conv1/Conv']);
  expect(quantized.size).toBe(low(network).length);
  // Relu is no operator that gets pairs.
  expect(rewrite.problems.map(({ code }) => code)).toContain('stays-float');
  const wrong = misplaced(network).filter(({ code }) => code !== 'one-side-of-residual');
  expect(wrong).toEqual([]);
  const [answer] = await python.check([{ model: out, run: true, against: model }]);
  expect(answer).toMatchObject({ checked: true, ran: true });
  const { error = 0, largest = 0 } = Object.values(answer!.outputs!)[0]!;
  expect(error).toBeGreaterThan(0);
  expect(error / largest).toBeLessThan(0.2);
});

test('with base fp16, pairs quantize behind the Casts', async () => {
  const { out, network, rewrite } = await apply('base fp16\nscales c\nop:Conv int8\n', { path: cache });
  // Nothing between a product and the next pair is cast: it stays in the product's kernel. Behind the first Conv is a pool.
  expect(rewrite.problems.map(({ code }) => code)).toContain('base-skips-quantized');
  expect(rewrite.casts.filter(({ input }) => /layer\d.*conv1/.test(input))).toEqual([]);
  expect(low(network).filter((name) => name.endsWith('Conv'))).toHaveLength(20);
  const [answer] = await python.check([{ model: out, run: true, against: model }]);
  expect(answer).toMatchObject({ checked: true, ran: true });
});

test('samples give the scales: the largest magnitude is 127', async () => {
  const samples = join(folder, 'samples.json');
  const values = Array.from({ length: 3 * 224 * 224 }, (_, i) => ((i * 37) % 255) / 127 - 1);
  writeFileSync(samples, JSON.stringify([{ name: 'input', dimensions: '1x3x224x224', values }]));
  const runtime = () => runtimeForTests();
  const { network, out } = await apply('scales s\n/conv1/Conv int8\n', { path: samples, runtime, script });
  expect(low(network)).toEqual(['/conv1/Conv']);
  const [answer] = await python.check([{ model: out, run: true, against: model }]);
  expect(answer).toMatchObject({ checked: true, ran: true });
  const bytes = readFileSync(out);
  const scale = Buffer.alloc(4);
  scale.writeFloatLE(values.reduce((most, value) => Math.max(most, Math.abs(Math.fround(value))), 0) / 127);
  expect(bytes.includes(scale)).toBe(true);
  await expect(apply('scales s\n/conv1/Conv int8\n', { path: samples })).rejects.toThrow('trtlens precision apply');
});

test('rules that no scale fits are refused; a quantized network loses the pairs that nothing reads any more', async () => {
  await expect(apply('scales c\nop:Softmax, op:Relu int8\n', { path: cache })).rejects.toThrow(
    'TensorRT quantizes MatMul, Gemm, Conv, ConvTranspose, MaxPool, AveragePool, GlobalAveragePool, Add, not Relu',
  );
  await expect(apply('op:Conv int8\n', undefined)).rejects.toThrow('For int8, add a line "scales FILE"');
  const quantized = await fillWeights(modelPath('resnet18_qdq'));
  const before = (await readModel(bytesOf(readFileSync(quantized)))).value!;
  const { network, out } = await apply('/conv1/Conv fp32\n', undefined, quantized);
  const names = (nodes: readonly { name: string }[]) => nodes.map(({ name }) => name);
  const gone = names(before.nodes).filter((name) => !names(network.graph.nodes).includes(name));
  expect(gone).toEqual(['input_QuantizeLinear', 'input_DequantizeLinear']);
  const [answer] = await python.check([{ model: out, run: true, against: quantized }]);
  expect(answer).toMatchObject({ checked: true, ran: true });
});
