import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { fillWeights } from '../../src/kernel/node/files/fillWeights.ts';
import { migrateCalibration } from '../../src/features/quantization/node/migrateCalibration.ts';
import { loadFiles } from '../../src/kernel/node/store/loadBuild.ts';
import { readQuantization } from '../../src/features/quantization/node/readQuantization.ts';
import { createModelGraph } from '../../src/kernel/network/modelGraph.ts';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';
import { misplaced } from '../../src/kernel/quantization/internal/misplaced.ts';
import { QuantizedGraph } from '../../src/kernel/quantization/quantization.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { fixturePath, modelPath } from '../support/fixtures.ts';
import { type PythonTools, pythonForTests } from '../support/python.ts';
import { temporaryFolder } from '../support/rtx.ts';

let python: PythonTools;
// Weights are here, too: onnx refuses files with several links, and tests that build parts link the shared ones.
const folder = temporaryFolder();

beforeAll(async () => {
  python = await pythonForTests();
});

/** A calibration cache of the largest values that ONNX Runtime computes on random inputs. */
async function calibrated(model: string): Promise<string> {
  const path = join(folder, `${basename(model)}.cache`);
  const scales = await python.calibrate(model);
  const bits = new DataView(new ArrayBuffer(4));
  const hex = (value: number) => {
    bits.setFloat32(0, value);
    return bits.getUint32(0).toString(16).padStart(8, '0');
  };
  const lines = Object.entries(scales).map(([name, largest]) => `${name}: ${hex(Math.max(largest, 1e-6) / 127)}`);
  writeFileSync(path, `TRT-100600-MinMaxCalibration\n${lines.join('\n')}\n`);
  return path;
}

test.each([
  ['resnet18', 0.2],
  ['vit_tiny', 0.2],
  ['yolo_like', 0.2],
])(
  '%s: the migrated model is valid, well placed, close to the model, and equal to the fake-quantized reference',
  async (name, most) => {
    const model = await fillWeights(modelPath(name), folder);
    const cache = await calibrated(model);
    const out = join(folder, name, 'qdq.onnx');
    const made = await migrateCalibration({ path: model, cache, out });
    expect(made.activations.length).toBeGreaterThan(5);
    const fake = join(folder, name, 'fake.onnx');
    const counts = await python.fakeQuantize({ model, quantized: out, cache, out: fake });
    expect(counts).toEqual({ activations: made.activations.length, weights: made.weights.length });
    const [answer, same] = await python.check([
      { model: out, run: true, against: model },
      { model: out, run: true, against: fake },
    ]);
    expect(answer).toMatchObject({ checked: true, ran: true });
    // The arithmetic of quantization, written out with Div, Round, Clip and Mul, gives the same.
    for (const [output, { error, largest }] of Object.entries(same!.outputs!))
      expect(error! / largest!, output).toBeLessThan(1e-5);
    for (const { error, finite } of Object.values(answer!.outputs!)) {
      expect(finite).toBe(true);
      expect(error).toBeLessThan(most);
      expect(error).toBeGreaterThan(0);
    }
    const { value } = await readModel(bytesOf(readFileSync(out)));
    const wrong = misplaced(new QuantizedGraph(createModelGraph(value!)));
    expect(wrong.filter(({ code }) => code !== 'one-side-of-residual')).toEqual([]);
    const { tensors } = await readQuantization({ path: out });
    const text = readFileSync(cache, 'utf8');
    for (const { tensor, scale } of tensors.filter((one) => made.activations.includes(one.tensor))) {
      const bits = new DataView(new ArrayBuffer(4));
      bits.setFloat32(0, scale!);
      expect(text).toContain(`${tensor}: ${bits.getUint32(0).toString(16).padStart(8, '0')}\n`);
    }
  },
);

test('pairs exactly where an engine computed in INT8', async () => {
  const model = await fillWeights(modelPath('resnet18'), folder);
  const cache = await calibrated(model);
  // Layer info as an implicit INT8 build writes it: the first and the last product stay in floating point.
  const layers = join(folder, 'layers.json');
  const text = readFileSync(fixturePath('captures/tensorrt-10.6.0/resnet18.fp32/layers.json'), 'utf8');
  const info = JSON.parse(text) as { Layers: { Name: string; Inputs: { 'Format/Datatype': string }[] }[] };
  const products = info.Layers.filter(({ Name }) => /^\/\S*Conv(?: |$)/.test(Name));
  for (const { Inputs } of products.slice(1))
    for (const input of Inputs) input['Format/Datatype'] = 'Thirty-two wide channel vectorized row major Int8 format';
  writeFileSync(layers, JSON.stringify(info));
  const { report } = await loadFiles({ onnx: model, layers });
  const out = join(folder, 'asEngine.onnx');
  const made = await migrateCalibration({ path: model, cache, out, engine: report });
  expect(made.floating).toEqual(expect.arrayContaining(['/conv1/Conv', '/fc/Gemm']));
  expect(made.weights).toHaveLength(products.length - 1);
  const { value } = await readModel(bytesOf(readFileSync(out)));
  const graph = createModelGraph(value!);
  const quantized = graph.nodes.filter(
    ({ op }, node) =>
      op === 'Conv' && graph.nodes[graph.tensors[graph.inputs[node]![0]!]!.producer]?.op === 'DequantizeLinear',
  );
  expect(quantized.map(({ name }) => name)).not.toContain('/conv1/Conv');
  expect(quantized).toHaveLength(products.length - 1);
  const [answer] = await python.check([{ model: out, run: true, against: model }]);
  expect(answer).toMatchObject({ checked: true, ran: true });
  for (const { error } of Object.values(answer!.outputs!)) expect(error).toBeLessThan(0.2);
  // An engine in floating point has nothing to follow.
  writeFileSync(layers, text);
  const { report: fp32 } = await loadFiles({ onnx: model, layers });
  await expect(migrateCalibration({ path: model, cache, out, engine: fp32 })).rejects.toThrow('in INT8');
});

test('tensors that the cache lacks, and a cache of another model', async () => {
  const model = await fillWeights(modelPath('resnet18'), folder);
  const cache = await calibrated(model);
  const part = join(folder, 'part.cache');
  const lines = readFileSync(cache, 'utf8').split('\n');
  writeFileSync(part, lines.filter((_, index) => index === 0 || index % 3 > 0).join('\n'));
  const made = await migrateCalibration({ path: model, cache: part, out: join(folder, 'part/qdq.onnx') });
  expect(made.skipped.length).toBeGreaterThan(0);
  expect(made.skipped[0]!.reason).toMatch(/^the cache has no scale for "/);
  const other = join(folder, 'other.cache');
  writeFileSync(other, 'TRT-8601-EntropyCalibration2\nsomething: 3f800000\n');
  await expect(migrateCalibration({ path: model, cache: other, out: join(folder, 'x.onnx') })).rejects.toThrow(
    'fits no node',
  );
});
