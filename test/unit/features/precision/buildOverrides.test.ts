import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onnx } from 'onnx-proto';
import { describe, expect, test } from 'vitest';
import { applyOverrides } from '../../../../src/features/precision/node/buildOverrides.ts';
import { readBuildOverrides } from '../../../../src/kernel/node/store/overridesRecord.ts';
import { type BuildOptions, runBuild } from '../../../../src/kernel/node/run/runBuild.ts';
import { ParsedFiles } from '../../../../src/kernel/node/files/parsedFiles.ts';
import { modelPath } from '../../../support/fixtures.ts';
import { playerTool } from '../../../support/playerTool.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const parent = temporaryFolder();
const model = modelPath('fp16_overflow');
let number = 0;

function newFolder(): string {
  const folder = join(parent, String((number += 1)));
  mkdirSync(folder);
  return folder;
}

function rulesFile(text: string): string {
  const path = join(newFolder(), 'rules.trtprec');
  writeFileSync(path, text);
  return path;
}

const parsed = async (path: string) => (await new ParsedFiles().model(path)).value;

test('trtexec 10 gets exact names as flags, and the rules stay with the build', async () => {
  const own = newFolder();
  const rules = 'base fp16\nop:Softmax fp32 -> fp32\n/layers.1/attn/qk/MatMul bf16\nop:Nonsense fp32\n';
  const options: BuildOptions = {
    model,
    backend: 'trtexec',
    trtexec: playerTool(own, 'trtexec', { capture: 'tensorrt-10.6.0/fp16_overflow.fp16' }),
    driver: 'unused',
    cache: join(own, 'cache'),
    overrides: rulesFile(rules),
    confirm: () => Promise.reject(new Error('asked')),
  };
  const { folder, manifest } = await runBuild(options);
  expect(manifest.result).toBe('passed');
  expect(manifest.warnings).toEqual([expect.stringMatching(/rules\.trtprec:4: .*Nonsense/)]);
  expect(manifest.rulesSha256).toMatch(/^[0-9a-f]{64}$/);
  const { command } = manifest;
  expect(command).toContain('--fp16');
  expect(command).toContain('--bf16');
  expect(command).toContain('--precisionConstraints=obey');
  const precisions = command.find((argument) => argument.startsWith('--layerPrecisions='))!;
  expect(precisions).toContain('/layers.1/attn/softmax/Softmax:fp32');
  expect(precisions).toContain('/layers.1/attn/qk/MatMul:bf16');
  const outputs = command.find((argument) => argument.startsWith('--layerOutputTypes='))!;
  expect(outputs).not.toContain('qk/MatMul');
  expect(outputs).toContain('/layers.1/attn/softmax/Softmax:fp32');
  expect(await readBuildOverrides(folder)).toEqual({ schema: 1, rules, way: 'flags' });
});

test.each([
  ['best', 'bf16', ['--fp16', '--int8', '--bf16']],
  // Without --fp16, trtexec would ignore the layer precision.
  ['fp8', 'fp32', ['--fp8', '--fp16']],
] as const)('%s allows the types of the rules, too', async (precision, type, allowed) => {
  const own = newFolder();
  const { manifest } = await runBuild({
    model,
    backend: 'trtexec',
    trtexec: playerTool(own, 'trtexec', { capture: 'tensorrt-10.6.0/fp16_overflow.fp16' }),
    driver: 'unused',
    cache: join(own, 'cache'),
    precision,
    overrides: rulesFile(`/layers.1/attn/qk/MatMul ${type}\nop:Softmax fp16\n`),
    confirm: () => Promise.reject(new Error('asked')),
  });
  expect(manifest.command.filter((arg) => /^--(?:best|bf16|fp8|fp16|int8|int4)$/.test(arg))).toEqual(allowed);
});

test.each([
  ['tensorrt-rtx', '1.7.1', false],
  ['tensorrt', '11.2.1', false],
  ['tensorrt', '10.6.0', true],
] as const)('%s %s, strongly typed %s: a typed copy of the model', async (product, version, stronglyTyped) => {
  const folder = newFolder();
  const overrides = rulesFile('base fp16\nop:Softmax fp32\n');
  const applied = await applyOverrides({ model, overrides, stronglyTyped }, { product, version }, model, folder);
  expect(applied.options).toEqual({ stronglyTyped: true });
  expect(applied.model).toBe(join(folder, 'typed', 'fp16_overflow.onnx'));
  expect(applied.notes[0]!.message).toMatch(/nodes in FP32, \d+ nodes in FP16, \d+ Casts added/);
  const [before, after] = [await parsed(model), await parsed(applied.model)];
  expect(after.nodes.filter(({ op }) => op === 'Cast').length).toBeGreaterThan(2);
  const { way, declared } = (await readBuildOverrides(folder))!;
  expect(way).toBe('model');
  expect(declared).toHaveLength(before.nodes.length);
  for (const [i, { op }] of before.nodes.entries()) {
    if (op === 'Softmax') expect(declared![i]).toBe('fp32');
    if (op === 'MatMul') expect(declared![i]).toBe('fp16');
  }
});

test('rules with an error build nothing, and the place is named', async () => {
  const overrides = rulesFile('base fp16\nop:Softmax fp3x\n');
  const folder = newFolder();
  const rtx = { product: 'tensorrt-rtx', version: '1.7.1' } as const;
  await expect(applyOverrides({ model, overrides }, rtx, model, folder)).rejects.toThrow(/rules\.trtprec:2:12: .*fp3x/);
  expect(readdirSync(folder)).toEqual([]);
});

test('TensorRT without layer precisions and without typed networks says so', async () => {
  const overrides = rulesFile('op:Softmax fp32\n');
  const old = { product: 'tensorrt', version: '8.2.5' } as const;
  await expect(applyOverrides({ model, overrides }, old, model, newFolder())).rejects.toThrow(/8\.4\.1/);
});

test('without rules nothing changes', async () => {
  const folder = newFolder();
  const rtx = { product: 'tensorrt-rtx', version: '1.7.1' } as const;
  expect(await applyOverrides({ model }, rtx, model, folder)).toEqual({
    model,
    options: {},
    notes: [],
    rulesSha256: null,
  });
  expect(existsSync(join(folder, 'overrides.json'))).toBe(false);
  expect(await readBuildOverrides(folder)).toBeNull();
});

test('a node whose name an earlier one has is left out of the flags, and that is said', async () => {
  const folder = newFolder();
  const twins = join(folder, 'twins.onnx');
  const node = (op: string, from: string, to: string) => ({ opType: op, name: 'twin', input: [from], output: [to] });
  const value = (name: string) => ({ name, type: { tensorType: { elemType: 1, shape: { dim: [{ dimValue: 2 }] } } } });
  const graph = {
    name: 'g',
    node: [node('Relu', 'x', 'h'), node('Tanh', 'h', 'y')],
    input: [value('x')],
    output: [value('y')],
  };
  const opsetImport = [{ domain: '', version: 17 }];
  writeFileSync(twins, onnx.ModelProto.encode({ irVersion: 8, opsetImport, graph }).finish());
  const options = { model: twins, backend: 'trtexec' as const, overrides: rulesFile('base fp16\nop:Tanh fp32\n') };
  const built = { product: 'tensorrt' as const, version: '10.6.0' };
  const applied = await applyOverrides(options, built, twins, folder);
  expect(applied.options).toMatchObject({ precision: 'fp16', layerPrecisions: [], precisionConstraints: 'none' });
  expect(applied.notes).toEqual([
    {
      kind: 'ignored',
      flag: 'overrides',
      message: expect.stringMatching(/^"twin" is omitted: an earlier/) as unknown,
    },
  ]);
});

const trt10 = { product: 'tensorrt', version: '10.6.0' } as const;

test('a rule without effect is a warning', async () => {
  const overrides = rulesFile('op:Nonsense fp32\nop:Relu fp32\nop:Shape fp32\n');
  const { notes } = await applyOverrides({ model, overrides, precision: 'fp16' }, trt10, model, newFolder());
  const ignored = notes.filter(({ kind }) => kind === 'ignored').map(({ message }) => message);
  expect(ignored).toContainEqual(expect.stringMatching(/rules\.trtprec:1: /));
});

describe('rules that would replace the precision that was requested', () => {
  const apply = (
    text: string,
    precision: 'fp32' | 'fp16' | 'best',
    more = {},
    built: Parameters<typeof applyOverrides>[1] = trt10,
  ) => applyOverrides({ model, overrides: rulesFile(text), precision, ...more }, built, model, newFolder());

  test('are refused', async () => {
    await expect(apply('base fp16\nop:Softmax fp32\n', 'fp32')).rejects.toThrow(/"base fp16" .* fp32 was requested/);
    await expect(apply('base bf16\n', 'fp16')).rejects.toThrow(/"base bf16"/);
    await expect(apply('op:Softmax fp16\n', 'fp32')).rejects.toThrow(/:1: fp16 for single nodes allows TensorRT fp16/);
    const rtx = { product: 'tensorrt-rtx', version: '1.7.1' } as const;
    await expect(apply('base fp16\n', 'fp32', {}, rtx)).rejects.toThrow(/"base fp16"/);
  });

  test('but not where they fit, or change single nodes only', async () => {
    await expect(apply('base fp16\nop:Softmax fp32\n', 'fp16')).resolves.toBeDefined();
    await expect(apply('base bf16\n', 'best')).resolves.toBeDefined();
    await expect(apply('op:Softmax fp16\n', 'fp32', { stronglyTyped: true })).resolves.toBeDefined();
  });
});
