import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildHints, type BuildManifest } from '../../../../src/kernel/build/buildManifest.ts';
import { driverCommand, driverPrecisions } from '../../../../src/kernel/build/buildCommand.ts';
import type { EngineOptions } from '../../../../src/kernel/build/buildOptions.ts';

const files = { model: 'm.onnx', engine: 'out/e', precisions: 'out/p.json' };
const command = (options: Partial<EngineOptions>, product: 'tensorrt' | 'tensorrt-rtx' = 'tensorrt') =>
  driverCommand({ model: 'ignored.onnx', ...options }, files, { product });
const refusals = (options: Partial<EngineOptions>, product?: 'tensorrt' | 'tensorrt-rtx') =>
  command(options, product).notes.filter(({ kind }) => kind === 'refused');

test('always: module, model, engine, detailed verbosity', () => {
  expect(command({}, 'tensorrt-rtx')).toEqual({
    args: ['--module', 'tensorrt_rtx', '--onnx', 'm.onnx', '--engine', 'out/e', '--profiling-verbosity=detailed'],
    notes: [],
  });
  expect(command({}).args.slice(0, 2)).toEqual(['--module', 'tensorrt']);
});

describe('TensorRT', () => {
  test.each([
    [{ precision: 'fp32' }, []],
    [{ precision: 'fp16' }, ['--fp16']],
    [{ precision: 'int8', calibrationCache: 'c' }, ['--int8', '--fp16', '--calibration-cache=c']],
    [{ precision: 'best' }, ['--fp16', '--int8']],
    [{ stronglyTyped: true }, ['--strongly-typed']],
    [{ layerPrecisions: [{ name: 'a', type: 'fp32' }] }, ['--precision-constraints=obey', '--precisions=out/p.json']],
    [{ workspace: 64, pools: { dlaSRAM: 1.6 } }, ['--pool=workspace=64', '--pool=dla_managed_sram=2']],
    [
      { noTF32: true, optimizationLevel: 0, timingCache: 't' },
      ['--no-tf32', '--optimization-level=0', '--timing-cache=t'],
    ],
    [{ tacticSources: ['-CUDNN', '+JIT_CONVOLUTIONS'] }, ['--tactic-sources=-CUDNN,+JIT_CONVOLUTIONS']],
    [
      { hardwareCompatibility: 'ampere+', versionCompatible: true },
      ['--hardware-compatibility=ampere_plus', '--flag=version_compatible'],
    ],
    [{ outputs: 'all' }, ['--all-outputs']],
    [{ outputs: ['-1', 'a b'], debugTensors: ['t'] }, ['--output=-1', '--output=a b', '--debug=t']],
  ] as [Partial<EngineOptions>, string[]][])('%j', (options, expected) => {
    const { args, notes } = command(options);
    expect(notes).toEqual([]);
    for (const one of expected) expect(args).toContain(one);
  });

  test('other GPUs are refused', () => {
    expect(refusals({ computeCapability: ['8.9'] })).toMatchObject([{ flag: 'computeCapability' }]);
  });
});

describe('TensorRT-RTX', () => {
  test('refuses what only weakly typed networks have', () => {
    expect(refusals({ precision: 'fp16' }, 'tensorrt-rtx')).toMatchObject([{ flag: 'precision' }]);
    expect(refusals({ layerOutputTypes: [{ name: 'a', types: ['fp32'] }] }, 'tensorrt-rtx')).toHaveLength(1);
    expect(refusals({ calibrationCache: 'c' }, 'tensorrt-rtx')).toHaveLength(1);
    expect(refusals({ precision: 'fp32', stronglyTyped: true }, 'tensorrt-rtx')).toEqual([]);
  });

  test('builds for several GPUs', () => {
    expect(command({ computeCapability: ['8.9', '12.0'] }, 'tensorrt-rtx').args).toContain(
      '--compute-capability=8.9,12.0',
    );
  });
});

test('choices are recorded where there is a file for them, in any version: the driver says where it cannot', () => {
  for (const product of ['tensorrt', 'tensorrt-rtx'] as const) {
    const { args, notes } = driverCommand({ model: 'm' }, { ...files, choices: 'out/c.jsonl' }, { product });
    expect(args).toContain('--choices=out/c.jsonl');
    expect(notes).toEqual([]);
  }
});

test('profiles become JSON, whatever the names', () => {
  const { args } = command({
    profiles: [{ 'a:b,"c': { min: '1x3', opt: '4x3', max: '8x3' }, scalar: { min: '', opt: '', max: '' } }],
  });
  const [, text] = args.find((one) => one.startsWith('--profile='))!.split(/=(.*)/s);
  expect(JSON.parse(text!)).toEqual({
    'a:b,"c': { min: [1, 3], opt: [4, 3], max: [8, 3] },
    scalar: { min: [], opt: [], max: [] },
  });
});

test('a text that is no shape is refused with input and text', () => {
  const [note] = refusals({ profiles: [{ x: { min: '1x-1', opt: '1', max: '1' } }] });
  expect(note!.message).toContain('"x": "1x-1"');
});

test('no name or value ever becomes an option of its own', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (name, value) => {
      const { args } = command({
        outputs: [name],
        timingCache: value,
        tacticSources: [value],
        layerPrecisions: [{ name, type: value }],
      });
      for (const one of args.slice(6))
        expect(one).toMatch(
          /^--(output|timing-cache|tactic-sources|precisions|precision-constraints|profiling-verbosity)=/s,
        );
    }),
  );
});

test('precisions keep names as they are', () => {
  expect(driverPrecisions({ model: 'm' })).toBeNull();
  expect(
    driverPrecisions({
      model: 'm',
      layerPrecisions: [{ name: 'a, b', type: 'fp32' }],
      layerOutputTypes: [{ name: 'c', types: ['fp16'] }],
    }),
  ).toEqual({
    precisions: { 'a, b': 'fp32' },
    outputTypes: { c: ['fp16'] },
  });
});

test('hints say where a build came from', () => {
  const manifest = {
    origin: 'built',
    tensorrt: { product: 'tensorrt', version: '10.6.0' },
    gpu: 'H200',
    options: {},
  } as unknown as BuildManifest;
  expect(buildHints(manifest)).toEqual([]);
  const rtx: BuildManifest = {
    ...manifest,
    origin: 'recorded',
    tensorrt: { product: 'tensorrt-rtx', version: '1.7.1' },
    gpu: null,
    options: { randomWeights: true },
  };
  expect(buildHints(rtx)).toHaveLength(3);
});
