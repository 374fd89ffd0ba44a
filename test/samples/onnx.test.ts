import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { expectAgreement } from '../support/independentDecoder.ts';
import { samplesIn, samplesPath } from '../support/samples.ts';

test.each(samplesIn('onnx'))('the reader and onnx-proto agree on %s', (name) =>
  expectAgreement(samplesPath(`onnx/${name}`)),
);

test.each([
  'polygraphy_ex_09_inspecting_tensorrt_static_onnx_support__nested_local_function',
  'polygraphy_weightless.qdq_conv',
  'polygraphy_scan',
])('%s, cut off at every byte, gives a model or a problem', async (name) => {
  const bytes = readFileSync(samplesPath(`onnx/${name}.onnx`));
  const silent = await Promise.all(
    Array.from({ length: bytes.length }, async (_, length) => {
      const { value, problems } = await readModel(bytesOf(bytes.subarray(0, length)), { spans: true });
      return value === undefined && problems.length === 0;
    }),
  );
  expect(silent).not.toContain(true);
});
