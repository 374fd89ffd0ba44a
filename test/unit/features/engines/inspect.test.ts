import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onnx } from 'onnx-proto';
import { afterAll, expect, it } from 'vitest';
import { inspect } from '../../../../src/features/engines/node/cli/inspect.ts';
import { standInEngine } from '../../../support/standInTensorrt.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { hardModel } from '../../../support/hardModels/builtModels.ts';
import { runCommand } from '../../shell/cli/runCommand.ts';
import { diagnose } from '../../../../src/features/diagnose/node/cli/diagnose.ts';
import { check } from '../../../../src/features/check/node/cli/check.ts';

const folder = mkdtempSync(join(tmpdir(), 'inspect-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('an engine that another version cannot load is exit status 1', async () => {
  const file = join(folder, 'net.engine');
  writeFileSync(file, standInEngine());
  const check = async (...options: string[]) => (await runCommand(inspect, file, ...options)).code;
  expect(await check()).toBe(0);
  expect(await check('--tensorrt', '10.6.0')).toBe(0);
  expect(await check('--tensorrt', '8.6.1')).toBe(1);
  expect(await check('--tensorrt', '8.6.1', '--json')).toBe(1);
});

it('says first whether it can be loaded, and of other files what they are', async () => {
  const file = join(folder, 'verdict.engine');
  writeFileSync(file, standInEngine());
  const first = async (...args: string[]) => (await runCommand(inspect, ...args)).out.split('\n')[0];
  expect(await first(file, '--tensorrt', '8.6.1')).toMatch(
    /^verdict.engine: ✗ an engine of TensorRT 10\.6\.0(\.\d+)?, which cannot be loaded: /,
  );
  expect(await first(file, '--tensorrt', '10.6.0')).toMatch(
    /; whether it can be loaded depends on: gpu, hardware-compatibility, platform, driver, plugins, load$/,
  );
  expect(await first(fixturePath('captures/tensorrt-10.6.0/vit_tiny.fp16/log.txt.gz'))).toBe(
    'log.txt.gz: Log of TensorRT 10.6.0 by trtexec: passed, NVIDIA H200, built in 60.8 s, 7,205 lines',
  );
});

const run = (...args: string[]) => runCommand(check, '--no-parser', ...args);

it('accepts a model that builds, with exit status 0, and says what one lacks, with 1', async () => {
  const path = join(folder, 'whole.onnx');
  writeFileSync(path, hardModel('lstm_then_gru').bytes);
  const { out, code } = await run(path, '--tensorrt', '10.6');
  expect(out).toMatch(/^TensorRT 10\.6 will accept this model as far as is known/m);
  const lacking = await run(modelPath('resnet18'), '--tensorrt', '10.6');
  expect(lacking.out).toMatch(/^TensorRT 10\.6 cannot build this model without what is missing/m);
  expect(lacking.code).toBe(1);
  expect(out).not.toMatch(/^error/m);
  expect(code).toBe(0);
});

it('says of a model that builds that its engine will be wrong, with exit status 1', async () => {
  const args = [modelPath('vit_tiny'), '--tensorrt', '10.6'];
  const { out, code } = await run(...args);
  expect(out).toMatch(/^error known-fault: TensorRT loses one of the two scales .*and 7 more$/ms);
  expect(out).toMatch(/^ {2}repair: merge-scales \(trtlens repair\)$/m);
  expect(out).toMatch(/\nTensorRT 10\.6 will build this model, and the engine will give wrong values\.\n$/);
  expect(code).toBe(1);
  expect(JSON.parse((await run(...args, '--json')).out)).toMatchObject({ accepted: true, wrong: true });
});

it('names the nodes that a version refuses, with exit status 1', async () => {
  const { out, code } = await run(modelPath('unsupported_op'));
  expect(out).toMatch(/^error unsupported-op: .*MyCustomOp.*\n {2}nodes: \/custom\/MyCustomOp \(MyCustomOp\)/);
  expect(out).toMatch(/TensorRT-RTX will reject this model\.\n$/);
  expect(code).toBe(1);
});

it('says of an engine that ONNX Runtime keeps in a model what it is', async () => {
  const { out } = await run(fixturePath('ort/model_ctx.onnx'));
  expect(out).toMatch(/^error unsupported-op: EPContext is an engine that ONNX Runtime keeps in this model/);
  expect(out).toContain('Use the model from which ONNX Runtime made this one.');
});

it('checks the GPU and gives JSON', async () => {
  const { out, code } = await run(modelPath('vit_tiny'), '--tensorrt', '10.6', '--gpu', 'sm_61', '--json');
  expect(JSON.parse(out)).toMatchObject({
    accepted: false,
    wrong: false,
    target: { product: 'tensorrt', version: '10.6', capability: '6.1' },
    findings: [
      { severity: 'error', code: 'gpu-unsupported' },
      { severity: 'unknown', code: 'known-fault' },
      { severity: 'warning', code: 'weights-missing' },
    ],
    parser: null,
  });
  expect(code).toBe(1);
});

it('rejects what is not a compute capability, a version or a model', async () => {
  await expect(run(modelPath('vit_tiny'), '--gpu', 'fast')).rejects.toThrow(/compute capability/);
  await expect(run(modelPath('vit_tiny'), '--tensorrt', 'new')).rejects.toThrow(/not a version/);
  await expect(run('nowhere.onnx')).rejects.toThrow(/no such file/);
});

/** A model with one Det of square matrices. */
function determinant(size: number): string {
  const path = join(folder, `det${size}.onnx`);
  const value = (name: string, dims: number[]) => ({
    name,
    type: { tensorType: { elemType: 1, shape: { dim: dims.map((dimValue) => ({ dimValue })) } } },
  });
  const graph = {
    name: 'g',
    node: [{ opType: 'Det', name: 'det', input: ['x'], output: ['y'] }],
    input: [value('x', [2, size, size])],
    output: [value('y', [2])],
  };
  const model = { irVersion: 9, opsetImport: [{ domain: '', version: 17 }], graph };
  writeFileSync(path, onnx.ModelProto.encode(model as unknown as onnx.IModelProto).finish());
  return path;
}

it('check and diagnose name a repair only where it applies', async () => {
  const log = join(folder, 'det.log');
  const said = [
    '[E] [TRT] ModelImporter.cpp:140: While parsing node number 0 [Det -> "y"]:',
    '[E] [TRT] ModelImporter.cpp:151: ERROR: onnxOpCheckers.cpp:1130 In function checkDet:',
    '[8] false',
  ];
  writeFileSync(log, said.join('\n'));
  for (const [size, repair] of [
    [3, 'expand-determinant'],
    [9, undefined],
  ] as const) {
    const model = determinant(size);
    // oxlint-disable-next-line no-await-in-loop
    const checked = await runCommand(check, model, '--no-parser', '--json');
    // oxlint-disable-next-line no-await-in-loop
    const diagnosed = await runCommand(diagnose, log, '--onnx', model, '--json');
    const [finding] = (JSON.parse(checked.out) as { findings: { repair?: string }[] }).findings;
    const [found] = (JSON.parse(diagnosed.out) as { diagnoses: { repair?: string }[] }).diagnoses;
    expect([finding!.repair, found!.repair]).toEqual([repair, repair]);
  }
});
