import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onnx } from 'onnx-proto';
import { beforeAll, expect, test } from 'vitest';
import type { Quantization } from '../../src/kernel/quantization/quantization.ts';
import { fixturePath, readFixture } from '../support/fixtures.ts';
import { rtxForTests, temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();
const cli = join(import.meta.dirname, '../../dist/cli.js');

beforeAll(rtxForTests);

function trtlens(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return stdout;
}

/** Conv, Relu, Conv, sum with the first Relu, Relu, Softmax, Conv. */
function write(path: string): void {
  const node: onnx.INodeProto[] = [];
  const initializer: onnx.ITensorProto[] = [];
  const add = (opType: string, input: string[], output: string, attribute: onnx.IAttributeProto[] = []) => {
    node.push({ opType, name: output, input, output: [output], attribute });
    return output;
  };
  const conv = (input: string, output: string) => {
    const floatData = Array.from({ length: 16 * 16 * 9 }, (_, i) => Math.sin(i * 7.3) / 10);
    initializer.push({ name: `${output}_w`, dims: [16, 16, 3, 3], dataType: 1, floatData });
    return add('Conv', [input, `${output}_w`], output, [{ name: 'pads', type: 7, ints: [1, 1, 1, 1] }]);
  };
  const first = add('Relu', [conv('x', 'c0')], 'r0');
  const sum = add('Add', [conv(add('Relu', [conv(first, 'c1')], 'r1'), 'c2'), first], 'sum');
  conv(add('Softmax', [add('Relu', [sum], 'r2')], 'soft', [{ name: 'axis', type: 2, i: 1 }]), 'y');
  const value = (name: string) => ({
    name,
    type: { tensorType: { elemType: 1, shape: { dim: [1, 16, 16, 16].map((dimValue) => ({ dimValue })) } } },
  });
  const graph = { name: 'g', node, initializer, input: [value('x')], output: [value('y')] };
  const model = { irVersion: 9, opsetImport: [{ domain: '', version: 17 }], graph } as onnx.IModelProto;
  writeFileSync(path, onnx.ModelProto.encode(model).finish());
}

test('TensorRT-RTX builds the rules for int8: obeyed, and every pair behind a kernel is fused', () => {
  const [model, rules] = [join(folder, 'net.onnx'), join(folder, 'net.trtprec')];
  write(model);
  const cache = ['x', 'r0', 'r1', 'c2', 'soft'].map((name) => `${name}: 3d008102\n`).join('');
  writeFileSync(join(folder, 'net.cache'), `TRT-100600-MinMaxCalibration\n${cache}`);
  writeFileSync(rules, 'model ./net.onnx\nscales ./net.cache\nop:Conv, sum int8\n');
  const build = (path: string, name: string, ...more: string[]) => {
    const builds = join(folder, name);
    trtlens('build', path, '--backend', 'rtx', '--folder', builds, ...more);
    return join(builds, readdirSync(builds)[0]!);
  };
  const made = build(model, 'ruled', '--rules', rules);
  const { rules: verdicts } = JSON.parse(trtlens('precision', 'verify', rules, '--build', made, '--json')) as {
    rules: { verdict: string; counts: Record<string, number>; nodes: { name: string; reason: string }[] }[];
  };
  expect(verdicts).toMatchObject([{ verdict: 'obeyed', counts: { obeyed: 5, disobeyed: 0, unbuilt: 0 } }]);
  expect(verdicts[0]!.nodes.find(({ name }) => name === 'c1')!.reason).toMatch(/its weights are int8/);

  const typed = join(folder, 'typed.onnx');
  trtlens('precision', 'apply', rules, '-o', typed);
  const fates = trtlens('quantization', typed, '--build', build(typed, 'typed', '--strongly-typed'), '--json');
  const { pairs } = JSON.parse(fates) as Quantization;
  expect(pairs.filter(({ fate }) => fate !== 'fused').map(({ tensor, fate, why }) => [tensor, fate, why])).toEqual([
    ['x', 'kernel', expect.stringContaining('"x" is an input of the graph: there is no kernel before it')],
  ]);
  // The output of c2 is added in its kernel: it has no pair.
  expect(pairs.map(({ tensor }) => tensor)).not.toContain('c2');
  expect(pairs).toHaveLength(8);
});

/** `fixtures/int8` is an implicit INT8 build of TensorRT 10.6 on an H100. */
test('what that engine computed in INT8, TensorRT-RTX computes in INT8 from the migrated model, and nothing else', () => {
  const [model, out] = [join(folder, 'implicit.onnx'), join(folder, 'explicit.onnx')];
  writeFileSync(model, readFixture('int8/model.onnx.gz'));
  const files = [
    '--calibration-cache',
    fixturePath('int8/calibration.cache'),
    '--layers',
    fixturePath('int8/layers.json'),
  ];
  expect(trtlens('quantization', 'migrate', model, ...files, '-o', out)).toContain(
    'In floating point, as in the engine: gap, fc.',
  );
  const builds = join(folder, 'explicit');
  trtlens('build', out, '--backend', 'rtx', '--strongly-typed', '--folder', builds);
  const { layers } = JSON.parse(trtlens('fusion', '--build', join(builds, readdirSync(builds)[0]!), '--json')) as {
    layers: { name: string; inputs: { type: string }[] }[];
  };
  const readsInt8 = (name: string): boolean =>
    layers.some((layer) => layer.name.includes(name) && layer.inputs.some(({ type }) => type === 'Int8'));
  const products = ['conv1', 'conv2', 'conv3', 'left', 'right', 'conv6', 'pooling'];
  expect([...products, 'fc', 'Mean', 'Maxr'].filter(readsInt8)).toEqual(products);
});
