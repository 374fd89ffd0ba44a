import { expect, it } from 'vitest';
import { check } from '../../../src/cli/inspect/check.ts';
import { modelPath } from '../../support/fixtures.ts';
import { runCommand } from './runCommand.ts';

const run = (...args: string[]) => runCommand(check, '--no-parser', ...args);

it('accepts a model that builds, with exit status 0', async () => {
  const { out, code } = await run(modelPath('vit_tiny'), '--tensorrt', '10.6');
  expect(out).toMatch(/^TensorRT 10\.6 will accept this model as far as is known/);
  expect(code).toBe(0);
});

it('names the nodes that a version refuses, with exit status 1', async () => {
  const { out, code } = await run(modelPath('unsupported_op'));
  expect(out).toMatch(/^error unsupported-op: .*MyCustomOp.*\n {2}nodes: \/custom\/MyCustomOp \(MyCustomOp\)/);
  expect(out).toMatch(/TensorRT-RTX will reject this model\.\n$/);
  expect(code).toBe(1);
});

it('checks the GPU and gives JSON', async () => {
  const { out, code } = await run(modelPath('vit_tiny'), '--tensorrt', '10.6', '--gpu', 'sm_61', '--json');
  expect(JSON.parse(out)).toMatchObject({
    accepted: false,
    target: { product: 'tensorrt', version: '10.6', capability: '6.1' },
    findings: [{ severity: 'error', code: 'gpu-unsupported' }],
    parser: null,
  });
  expect(code).toBe(1);
});

it('rejects what is not a compute capability, a version or a model', async () => {
  await expect(run(modelPath('vit_tiny'), '--gpu', 'fast')).rejects.toThrow(/compute capability/);
  await expect(run(modelPath('vit_tiny'), '--tensorrt', 'new')).rejects.toThrow(/not a version/);
  await expect(run('nowhere.onnx')).rejects.toThrow(/no such file/);
});
