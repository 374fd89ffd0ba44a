import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onnx } from 'onnx-proto';
import { expect, test } from 'vitest';
import { withObservedValues } from '../../src/kernel/node/simulation/observeValues.ts';
import { readQuantization } from '../../src/features/quantization/node/readQuantization.ts';
import { quantizationDocument } from '../../src/kernel/quantization/calibration.ts';
import { renderText } from '../../src/kernel/document/render.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { runtimeForTests } from '../support/runtime.ts';

const folder = temporaryFolder();
const script = fileURLToPath(new URL('../../src/driver/simulate.py', import.meta.url));

const floats = (name: string, values: number[], scalar = values.length === 1) => ({
  name,
  dims: scalar ? [] : [values.length],
  dataType: 1,
  floatData: values,
});
const zero = (name: string, dataType: number, values: number[]) => ({
  name,
  dims: values.length === 1 ? [] : [values.length],
  dataType,
  rawData: Uint8Array.from(values),
});
const node = (opType: string, input: string[], output: string, attribute: onnx.IAttributeProto[] = []) => ({
  opType,
  name: output,
  input,
  output: [output],
  attribute,
});
const value = (name: string, dims: number[]) => ({
  name,
  type: { tensorType: { elemType: 1, shape: { dim: dims.map((dimValue) => ({ dimValue })) } } },
});

/** x → Q/DQ in uint8 → Neg → Q/DQ with a scale for each of two rows → y; stored integers → w. */
function write(): string {
  const axis: onnx.IAttributeProto[] = [{ name: 'axis', type: 2, i: 0 }];
  const graph = {
    name: 'g',
    node: [
      node('QuantizeLinear', ['x', 'a', 'u'], 'q'),
      node('DequantizeLinear', ['q', 'a', 'u'], 'd'),
      node('Neg', ['x'], 'n'),
      node('QuantizeLinear', ['n', 'rows', 'zeros'], 'r', axis),
      node('DequantizeLinear', ['r', 'rows', 'zeros'], 'y', axis),
      node('DequantizeLinear', ['stored', 'a', 'i'], 'w'),
    ],
    input: [value('x', [2, 4])],
    output: [value('d', [2, 4]), value('y', [2, 4]), value('w', [3])],
    initializer: [
      floats('a', [0.5]),
      floats('rows', [0.01, 1]),
      zero('u', 2, [128]),
      zero('i', 3, [0]),
      zero('zeros', 3, [0, 0]),
      zero('stored', 3, [1, 2, 3]),
    ],
  };
  const path = join(folder, 'net.onnx');
  const model = { irVersion: 9, opsetImport: [{ domain: '', version: 19 }], graph } as onnx.IModelProto;
  writeFileSync(path, onnx.ModelProto.encode(model).finish());
  return path;
}

function sample(name: string, values: number[]): string {
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify([{ name: 'x', dimensions: '2x4', values }]));
  return path;
}

test('values beyond a range are counted over all samples, per channel too; what is rounded into it is not', async () => {
  const model = write();
  const cache = join(folder, 'net.cache');
  writeFileSync(cache, 'TRT-8601-EntropyCalibration2\nn: 3d800000\nelsewhere: 3f800000\n');
  const inputs = [
    // uint8 with scale 0.5 and zero point 128 covers -64 to 63.5; 63.74 is rounded to 63.5.
    sample('first', [63.74, 63.76, -64.3, 1.26, 0, 200, -128.4, -129]),
    // The first row of its negative has the scale 0.01 (1.27 at most), the second one 1 (127).
    sample('second', [0, 1.28, -1.27, -1.28, 126, 127.4, -127.6, 0]),
  ];
  const runtime = await runtimeForTests();
  const read = await readQuantization({ path: model, cache });
  const found = await withObservedValues(read, { model, inputs, runtime, script }, cache);
  expect(found.samples).toBe(2);
  expect(found.pairs).toEqual(read.pairs);
  expect(found.tensors.map(({ tensor, source, observed }) => [tensor, source, observed])).toEqual([
    ['x', 'model', { values: 16, clipped: 8, clippedShare: 0.5, largest: 200 }],
    // First row: -63.74, -63.76, 64.3 and 1.28. Second: -200, 128.4, 129, and 127.6, which is rounded to 128.
    ['n', 'model', { values: 16, clipped: 8, clippedShare: 0.5, largest: 200 }],
    ['stored', 'model', undefined],
    // 1/16 covers -8 to 7.94.
    ['n', 'cache', { values: 16, clipped: 9, clippedShare: 9 / 16, largest: 200 }],
    ['elsewhere', 'cache', undefined],
  ]);
  const document = quantizationDocument(found, { title: 'm', build: null, cache: null, nameOf: String });
  expect(renderText(document)).toMatch(/\n {2}x .+ 50 % +200\.0 +Q\/DQ nodes\n/);
});

test('inputs of another shape are refused', async () => {
  const model = write();
  const path = join(folder, 'bad.json');
  writeFileSync(path, JSON.stringify([{ name: 'x', dimensions: '4', values: [1, 2, 3, 4] }]));
  const runtime = await runtimeForTests();
  const read = await readQuantization({ path: model });
  await expect(withObservedValues(read, { model, inputs: [path], runtime, script }, null)).rejects.toThrow(
    "input 'x' has shape",
  );
});
