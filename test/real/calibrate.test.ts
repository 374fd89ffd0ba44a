import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onnx } from 'onnx-proto';
import { expect, test } from 'vitest';
import { calibrate, findCalibrator } from '../../src/features/quantization/node/calibrate.ts';
import { readQuantization } from '../../src/features/quantization/node/readQuantization.ts';
import { fixturePath } from '../support/fixtures.ts';
import { pythonForTests } from '../support/python.ts';
import { temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();
const script = fileURLToPath(new URL('../../src/driver/quantize.py', import.meta.url));
const fault = (file: string): string => fixturePath(join('faults', 'softmax_no_max', file));

/** An interpreter with more packages, as an environment of the user's has them. */
async function interpreter(name: string, packages: string[]): Promise<string> {
  const { runtime } = await pythonForTests();
  const path = join(folder, name);
  const site = [...packages, runtime.environment!['PYTHONPATH']].join(':');
  writeFileSync(path, `#!/bin/sh\nPYTHONPATH='${site}' exec '${runtime.python}' "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

test('quantize_static writes a new model, whose scales are those of the samples', async () => {
  const calibrator = await findCalibrator(await interpreter('with-onnx', []));
  expect(calibrator.tool).toBe('onnxruntime');
  const out = join(folder, 'made', 'int8.onnx');
  const before = readFileSync(fault('model.onnx'));
  const made = await calibrate({ model: fault('model.onnx'), inputs: [fault('inputs.npz')], out, calibrator, script });
  expect(made).toEqual({ by: expect.stringMatching(/^ONNX Runtime \d/), model: out });
  expect(readdirSync(dirname(out))).toEqual(['int8.onnx']);
  expect(readFileSync(fault('model.onnx')).equals(before)).toBe(true);
  const { tensors, pairs, misplaced } = await readQuantization({ path: out });
  expect(pairs.length).toBeGreaterThan(2);
  expect(new Set(tensors.map(({ type }) => type))).toEqual(new Set(['int8']));
  expect(misplaced).toEqual([]);
  const again = { model: out, inputs: [fault('inputs.npz')], out: join(folder, 'again.onnx'), calibrator, script };
  await expect(calibrate(again)).rejects.toThrow('has Q/DQ nodes already');
  await expect(calibrate({ ...again, model: fault('model.onnx'), out: fault('model.onnx') })).rejects.toThrow(
    'would overwrite the input',
  );
  const bad = join(folder, 'bad.json');
  writeFileSync(bad, JSON.stringify([{ name: 'x', dimensions: '2', values: [1, 2] }]));
  await expect(calibrate({ ...again, model: fault('model.onnx'), inputs: [bad] })).rejects.toThrow(
    "input 'x' has shape",
  );
  expect(existsSync(join(folder, 'again.onnx'))).toBe(false);
  expect(readdirSync(folder).filter((name) => name.startsWith('.calibrating'))).toEqual([]);
});

test('weights of a transposed convolution and on the left get one scale; an old operator set is refused', async () => {
  const model = join(folder, 'deconvolution.onnx');
  const weights = (name: string, dims: number[]) => {
    const floatData = Array.from({ length: dims.reduce((a, b) => a * b) }, (_, i) => Math.sin(i));
    return { name, dims, dataType: 1, floatData };
  };
  const node = (opType: string, input: string[], output: string) => ({ opType, name: output, input, output: [output] });
  const value = (name: string, dims: number[]) => ({
    name,
    type: { tensorType: { elemType: 1, shape: { dim: dims.map((dimValue) => ({ dimValue })) } } },
  });
  const graph = {
    name: 'g',
    node: [
      node('Conv', ['x', 'w'], 'c'),
      node('Relu', ['c'], 'r'),
      node('ConvTranspose', ['r', 'v'], 't'),
      node('MatMul', ['u', 't'], 'y'),
    ],
    input: [value('x', [1, 2, 4, 4])],
    output: [value('y', [1, 3, 5, 5])],
    initializer: [weights('w', [4, 2, 1, 1]), weights('v', [4, 3, 2, 2]), weights('u', [5, 5])],
  };
  const write = (version: number) =>
    writeFileSync(
      model,
      onnx.ModelProto.encode({
        irVersion: 8,
        opsetImport: [{ domain: '', version }],
        graph,
      } as onnx.IModelProto).finish(),
    );
  write(17);
  const samples = join(folder, 'x.json');
  const values = Array.from({ length: 32 }, (_, i) => Math.cos(i));
  writeFileSync(samples, JSON.stringify([{ name: 'x', dimensions: '1x2x4x4', values }]));
  const calibrator = await findCalibrator(await interpreter('with-onnx', []));
  const out = join(folder, 'deconvolution-int8.onnx');
  await calibrate({ model, inputs: [samples], out, calibrator, script });
  const { tensors, misplaced } = await readQuantization({ path: out });
  expect(misplaced).toEqual([]);
  expect(Object.fromEntries(tensors.map(({ tensor, count }) => [tensor, count]))).toEqual({
    r: 1,
    t: 1,
    u_quantized: 1,
    v_quantized: 1,
    w_quantized: 4,
    x: 1,
  });
  write(12);
  rmSync(out, { force: true });
  await expect(calibrate({ model, inputs: [samples], out, calibrator, script })).rejects.toThrow(
    'deconvolution.onnx uses opset 12; scales per channel need 13',
  );
});

test('ModelOpt, where it is installed, gets the samples behind each other', async () => {
  // Stands in for the package: it has the documented signature of modelopt.onnx.quantization.quantize.
  const site = join(folder, 'site');
  mkdirSync(join(site, 'modelopt', 'onnx', 'quantization'), { recursive: true });
  writeFileSync(join(site, 'modelopt', '__init__.py'), '__version__ = "0.99"\n');
  writeFileSync(join(site, 'modelopt', 'onnx', '__init__.py'), '');
  writeFileSync(
    join(site, 'modelopt', 'onnx', 'quantization', '__init__.py'),
    `import json
def quantize(onnx_path, quantize_mode="int8", calibration_data=None, calibration_eps=None, output_path=None):
    shapes = {name: list(value.shape) for name, value in calibration_data.items()}
    with open(output_path, "w") as file:
        json.dump({"mode": quantize_mode, "eps": calibration_eps, "shapes": shapes}, file)
`,
  );
  const calibrator = await findCalibrator(await interpreter('with-modelopt', [site]));
  expect(calibrator.tool).toBe('modelopt');
  const out = join(folder, 'modelopt.onnx');
  const inputs = [fault('inputs.npz'), fault('inputs.npz')];
  const made = await calibrate({ model: fault('model.onnx'), inputs, out, calibrator, script });
  expect(made.by).toBe('ModelOpt 0.99');
  expect(JSON.parse(readFileSync(out, 'utf8'))).toEqual({ mode: 'int8', eps: ['cpu'], shapes: { x: [2, 16, 32] } });
});

test('an interpreter without any tool: what to install', async () => {
  const { runtime } = await pythonForTests();
  const bare = join(folder, 'bare');
  writeFileSync(bare, `#!/bin/sh\nexec '${runtime.python}' -I -S "$@"\n`);
  chmodSync(bare, 0o755);
  await expect(findCalibrator(bare)).rejects.toThrow(
    /it has none of modelopt and onnx, onnxruntime and numpy and onnx\. Run trtlens setup calibration/,
  );
  await expect(findCalibrator(await interpreter('other', []), 'modelopt')).rejects.toThrow('it has none of modelopt');
});
