import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fillWeights } from '../../src/kernel/node/files/fillWeights.ts';
import { splitFile } from '../../src/features/surgery/node/splitFile.ts';
import { buildEachPart } from '../../src/features/surgery/node/buildEachPart.ts';
import { modelPath } from '../support/fixtures.ts';
import { driverPath, rtxForTests, temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();

test('the whole and its parts are built, and a part that does not build says why', async () => {
  await rtxForTests();
  const model = await fillWeights(modelPath('unsupported_op'));
  const chain = await splitFile(model, ['/b3/relu/Relu_output_0'], folder);
  const begun: string[] = [];
  const builds = await buildEachPart(
    { model, backend: 'rtx', driver: driverPath, confirm: () => Promise.reject(new Error('asked')) },
    chain,
    folder,
    (name) => begun.push(name),
  );
  expect(begun).toEqual(['unsupported_op.onnx', 'part-0.onnx', 'part-1.onnx']);
  expect(builds.map((build) => build.model)).toEqual(begun);
  const broken = builds.filter(({ error }) => error !== null);
  expect(broken.map((build) => [build.model, build.layers])).toEqual([
    ['unsupported_op.onnx', null],
    ['part-1.onnx', null],
  ]);
  expect(broken[1]!.error).toContain('MyCustomOp');
  expect(builds[1]!.layers).toBeGreaterThan(0);
  expect(readdirSync(folder).filter((name) => !/^(?:part-|chain)/.test(name))).toEqual([]);
});
