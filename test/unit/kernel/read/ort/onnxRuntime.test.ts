import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onnx } from 'onnx-proto';
import { describe, expect, test } from 'vitest';
import { build } from '../../../../../src/features/build/node/cli/build.ts';
import { fusion } from '../../../../../src/kernel/node/cli/fusion.ts';
import { inspect } from '../../../../../src/features/engines/node/cli/inspect.ts';
import { fromProviderOptions, toProviderOptions } from '../../../../../src/kernel/build/buildCommand.ts';
import type { FusionReport } from '../../../../../src/kernel/fusion/fusionReport.ts';
import { fixturePath } from '../../../../support/fixtures.ts';
import { temporaryFolder } from '../../../../support/rtx.ts';
import { runCommand } from '../../../shell/cli/runCommand.ts';

const folder = temporaryFolder();

/** The header of an engine of TensorRT-RTX 1.7.1 for compute capability 8.9, and bytes behind it. */
function engineBytes(size = 6000): Uint8Array {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  for (const at of [0, 28]) bytes.set(new TextEncoder().encode('vtrt'), at);
  view.setUint32(8, 2, true);
  view.setUint32(16, size, true);
  bytes.set([1, 7, 1, 116], 24);
  view.setUint32(32, 8, true);
  return bytes;
}

const value = (name: string) => ({
  name,
  type: { tensorType: { elemType: 1, shape: { dim: [1, 8].map((dimValue) => ({ dimValue })) } } },
});
const text = (name: string, s: string | Uint8Array) => ({
  name,
  type: 3,
  s: typeof s === 'string' ? new TextEncoder().encode(s) : s,
});
const op = (opType: string, input: string[], output: string): onnx.INodeProto => ({
  opType,
  name: `/${output}`,
  input,
  output: [output],
});

function save(name: string, node: onnx.INodeProto[], inputs = ['x'], outputs = ['y']): string {
  const path = join(folder, name);
  const graph = { name: 'g', node, input: inputs.map(value), output: outputs.map(value) };
  const opsetImport = [
    { domain: '', version: 17 },
    { domain: 'com.microsoft', version: 1 },
  ];
  writeFileSync(path, onnx.ModelProto.encode({ irVersion: 8, graph, opsetImport }).finish());
  return path;
}

const context = (name: string, attribute: onnx.IAttributeProto[], output = 'b'): string =>
  save(name, [
    {
      opType: 'EPContext',
      domain: 'com.microsoft',
      name: 'part',
      input: ['x'],
      output: [output],
      attribute: [text('source', 'NvTensorRTRTXExecutionProvider'), text('partition_name', 'main_0_0'), ...attribute],
    },
    op('NonZero', [output], 'y'),
  ]);
const mode = (i: number) => ({ name: 'embed_mode', type: 2, i });

test('the engine of an EPContext model is read, in the model and beside it', async () => {
  const inside = context('inside.onnx', [mode(1), text('ep_cache_context', engineBytes())]);
  const run = await runCommand(inspect, inside, '--tensorrt', 'rtx-1.7.1', '--compute-capability', '8.9');
  expect(run.code).toBe(0);
  expect(run.out).toContain('ONNX model: 2 nodes, 1 engine of ONNX Runtime (EPContext)');
  expect(run.out).toContain('engine of main_0_0 (in the model): an engine of TensorRT-RTX 1.7.1');
  expect(run.out).toContain('gpu: fits: Built for compute capability 8.9.');
  const other = await runCommand(inspect, inside, '--compute-capability', '12.0', '--json');
  expect(other.code).toBe(1);
  expect(JSON.parse(other.out)).toMatchObject({
    contexts: [{ partition: 'main_0_0', file: null, engine: { counts: { bytes: 6000 } } }],
  });

  const beside = context('beside.onnx', [mode(0), text('ep_cache_context', 'part.engine')]);
  const missing = await runCommand(inspect, beside);
  expect([missing.code, missing.out]).toEqual([1, expect.stringContaining('engine of main_0_0 (part.engine): ')]);
  writeFileSync(join(folder, 'part.engine'), engineBytes().subarray(0, 5000));
  expect((await runCommand(inspect, beside)).out).toContain('The file is truncated. Build or copy the engine again.');
  writeFileSync(join(folder, 'part.engine'), engineBytes());
  expect((await runCommand(inspect, beside)).code).toBe(0);
});

test('no engine is opened outside the folder of its model, and other content is no engine', async () => {
  mkdirSync(join(folder, 'in'));
  writeFileSync(join(folder, 'secret.engine'), engineBytes());
  for (const name of ['../secret.engine', join(folder, 'secret.engine'), 'linked.engine']) {
    const path = context('in/outside.onnx', [mode(0), text('ep_cache_context', name)]);
    if (name.startsWith('linked')) symlinkSync(join(folder, 'secret.engine'), join(folder, 'in', name));
    const { code, out } = await runCommand(inspect, path);
    expect([code, out]).toEqual([1, expect.not.stringContaining('an engine of TensorRT-RTX')]);
  }
  const qnn = context('qnn.onnx', [mode(1), text('ep_cache_context', 'x'.repeat(9000))]);
  expect((await runCommand(inspect, qnn)).out).toContain('It is not an engine of TensorRT');
  expect((await runCommand(inspect, context('none.onnx', []))).out).toContain('neither an engine nor the name');
});

test('the parts of an EPContext model are drawn on the original model', async () => {
  const original = save('original.onnx', [
    op('Relu', ['x'], 'a'),
    op('Exp', ['a'], 'b'),
    op('NonZero', ['b'], 'y'),
    op('Abs', ['x'], 'unused'),
  ]);
  const made = context('made.onnx', [mode(1), text('ep_cache_context', engineBytes())]);
  const run = await runCommand(fusion, '--onnx', original, '--ort-log', made, '--json');
  const report = JSON.parse(run.out) as FusionReport;
  expect(report.nodes.map(({ name, placement }) => [name, placement!.provider, placement!.exact])).toEqual([
    ['/a', 'NvTensorRTRTXExecutionProvider', false],
    ['/b', 'NvTensorRTRTXExecutionProvider', false],
    ['/y', 'another provider', true],
    ['/unused', null, false],
  ]);
  expect(report.placement).toMatchObject([{ nodes: 2, engines: 1 }, { nodes: 1 }]);
  const foreign = context('foreign.onnx', [mode(1), text('ep_cache_context', engineBytes())], 'elsewhere');
  expect((await runCommand(fusion, '--onnx', original, '--ort-log', foreign)).out).toContain(
    'is not a part of this model: it has no tensor "elsewhere"',
  );
  expect((await runCommand(fusion, '--onnx', original, '--ort-log', original)).out).toContain('no EPContext node');
  const names = Array.from({ length: 300 }, (_, at) => `cache_${at}`);
  const many = save('many.onnx', [op('Relu', ['x'], 'a'), op('Exp', ['a'], 'b')], ['x', ...names], ['b']);
  const { problems } = JSON.parse(
    (await runCommand(fusion, '--onnx', many, '--ort-log', made, '--json')).out,
  ) as FusionReport;
  expect(problems[0]!.message).toMatch(
    /: it has "y" in place of "cache_0", "cache_1", "cache_2", "cache_3", "cache_4", and 296 more\. /,
  );
});

test("options of ONNX Runtime's providers become those of a build, and come back", async () => {
  const given = {
    trt_fp16_enable: 'True',
    trt_int8_enable: 1,
    trt_int8_calibration_table_name: 'calib.cache',
    trt_max_workspace_size: '2147483648',
    trt_builder_optimization_level: '4',
    trt_timing_cache_enable: true,
    trt_timing_cache_path: 'timing',
    trt_profile_min_shapes: 'a:b:1x3,ids:1',
    trt_profile_opt_shapes: 'a:b:4x3,ids:2',
    trt_profile_max_shapes: 'a:b:8x3,ids:4',
    trt_auxiliary_streams: '-1',
    device_id: '1',
    trt_dla_enable: '0',
    trt_dump_subgraphs: '0',
    trt_tactic_sources: '',
    trt_engine_cache_enable: '1',
    trt_layer_norm_fp32_fallback: '1',
  };
  const { options, notes } = fromProviderOptions(given);
  expect(options).toEqual({
    precision: 'int8',
    calibrationCache: 'calib.cache',
    workspace: 2048,
    optimizationLevel: 4,
    timingCache: 'timing',
    profiles: [{ 'a:b': { min: '1x3', opt: '4x3', max: '8x3' }, ids: { min: '1', opt: '2', max: '4' } }],
  });
  expect(notes).toEqual([
    'device_id has no effect on the engine.',
    'trt_engine_cache_enable has no effect on the engine.',
    'trt_layer_norm_fp32_fallback has no counterpart among the build options.',
  ]);
  const back = toProviderOptions(options);
  expect(back.notes).toEqual([]);
  expect(fromProviderOptions(back.given).options).toEqual(options);
  expect(fromProviderOptions({ nv_max_workspace_size: 1048576 }).options).toEqual({ backend: 'rtx', workspace: 1 });

  const file = join(folder, 'options.json');
  writeFileSync(file, JSON.stringify(given));
  const flags = ['--provider-options', file, '--workspace', '64', '--print-provider-options'];
  const printed = await runCommand(build, 'any.onnx', ...flags);
  expect(JSON.parse(printed.out)).toMatchObject({ trt_max_workspace_size: '67108864', trt_int8_enable: '1' });
  writeFileSync(file, '[]');
  await expect(runCommand(build, 'any.onnx', ...flags)).rejects.toThrow('is not an object of options');
  writeFileSync(file, readFileSync(file, 'utf8').slice(1));
  await expect(runCommand(build, 'any.onnx', ...flags)).rejects.toThrow('is not JSON');
});

describe('what ONNX Runtime 1.20.2 wrote with TensorRT 10.6 on an H100, of a model with a node that TensorRT lacks', () => {
  const file = (name: string): string => fixturePath(`ort/split/${name}`);

  test('the engine in the EPContext model', async () => {
    const { code, out } = await runCommand(inspect, file('model_ctx.onnx'), '--tensorrt', '10.6.0', '--json');
    expect(code).toBe(0);
    const engine = { kind: 'engine', tensorrt: { version: '10.6.0' } };
    expect(JSON.parse(out)).toMatchObject({ contexts: [{ file: null, hardware: '9.0', engine }] });
  });

  test('only the last part is in it, which is said', async () => {
    const { out } = await runCommand(
      fusion,
      '--onnx',
      file('model.onnx'),
      '--ort-log',
      file('model_ctx.onnx'),
      '--json',
    );
    const { nodes, problems } = JSON.parse(out) as FusionReport;
    const inside = nodes.filter(({ placement }) => placement?.provider === 'TensorrtExecutionProvider');
    expect(inside.map(({ name }) => name)).toEqual(['tanh', 'fc1', 'relu3', 'fc2']);
    expect(problems.map(({ code }) => code)).toEqual(['part-of-context']);
    expect(problems[0]!.message).toContain('it has "d" in place of "x"');
  });

  test('the log has both parts and what runs elsewhere', async () => {
    const { out } = await runCommand(fusion, '--onnx', file('model.onnx'), '--log', file('log.txt.gz'), '--json');
    const { nodes } = JSON.parse(out) as FusionReport;
    const others = nodes.filter(({ placement }) => placement?.provider !== 'TensorrtExecutionProvider');
    expect(others.map(({ name, placement }) => [name, placement?.provider])).toEqual([['det', 'CPUExecutionProvider']]);
  });

  test('its options as a session lists them', () => {
    const { options, notes } = fromProviderOptions(
      JSON.parse(readFileSync(file('options.json'), 'utf8')) as Record<string, string>,
    );
    expect(options).toEqual({
      precision: 'fp16',
      workspace: 1024,
      optimizationLevel: 3,
      timingCache: '/home/ann/split',
    });
    expect(notes.filter((note) => note.includes('no counterpart'))).toEqual([]);
  });
});
