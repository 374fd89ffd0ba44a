import { expect, it } from 'vitest';
import { polygraphyCommand, readPolygraphyHelp } from '../../../../src/kernel/build/buildCommand.ts';
import type { EngineOptions } from '../../../../src/kernel/build/buildOptions.ts';
import { captureText } from '../../../support/fixtures.ts';

/** What `polygraphy convert --help` printed; the capture has the help of other commands around it. */
const help = /^usage: polygraphy convert [^]*?(?=^usage: )/m.exec(
  captureText('tensorrt-8.6.1/poly.inspect_diff_tactics_help/log.txt')!,
)![0];
const files = { engine: 'e.engine', layers: 'l.json', profile: 'p.json', times: 't.json' };
const trt10 = { tensorrt: [10, 6, 0], product: 'tensorrt' } as const;
const rtx = { tensorrt: [1, 7, 1], product: 'tensorrt-rtx' } as const;
const command = (options: Partial<EngineOptions>, tool: Parameters<typeof polygraphyCommand>[2] = trt10) =>
  polygraphyCommand({ model: 'm.onnx', ...options }, files, tool);
const everything: Partial<EngineOptions> = {
  precision: 'fp16',
  layerPrecisions: [{ name: 'a', type: 'fp32' }],
  profiles: [{ x: { min: '1x3', opt: '2x3', max: '4x3' } }],
  workspace: 64,
  tacticSources: ['+CUBLAS'],
  optimizationLevel: 2,
  timingCache: 't.cache',
  calibrationCache: 'c.cache',
  versionCompatible: true,
  hardwareCompatibility: 'ampere+',
  outputs: 'all',
  debugTensors: ['d'],
};

it('uses only options that `polygraphy convert --help` lists', () => {
  const used = command(everything).args.filter((a) => a.startsWith('-'));
  expect(used.length).toBeGreaterThan(15);
  expect(used.filter((option) => option !== '-vvv' && !help.includes(option))).toEqual([]);
});

it("calls types as TensorRT's Python module does", () => {
  const types = ['fp32', 'fp16', 'bf16', 'fp8', 'int8', 'int32', 'int64', 'bool'];
  const { args } = command({ layerPrecisions: types.map((type) => ({ name: type, type })) });
  expect(args.filter((arg) => /^\w+:/.test(arg)).map((arg) => arg.split(':')[1])).toEqual([
    'float32',
    'float16',
    'bfloat16',
    'fp8',
    'int8',
    'int32',
    'int64',
    'bool',
  ]);
});

it('records choices by a script for its configuration, where it takes one and TensorRT has a selector', () => {
  const flags = readPolygraphyHelp(help)!;
  const recording = { ...files, choices: 'c.jsonl', recorder: 'C:/d/record_choices.py' };
  const asked = (tool: Parameters<typeof polygraphyCommand>[2]) =>
    polygraphyCommand({ model: 'm.onnx', recordChoices: true }, recording, tool);
  const { args, notes, environment } = asked({ ...trt10, flags });
  expect(args.slice(-2)).toEqual(['--trt-config-postprocess-script', 'C:/d/record_choices.py:postprocess_config']);
  expect({ notes, environment }).toEqual({
    notes: [],
    environment: { TRTLENS_CHOICES: 'c.jsonl', PYTHONDONTWRITEBYTECODE: '1' },
  });
  const without = new Set([...flags].filter((flag) => flag !== 'trt-config-postprocess-script'));
  for (const tool of [
    { ...trt10, flags: without },
    { ...trt10, flags: null },
    { ...rtx, flags },
    { tensorrt: [11, 2, 1], product: 'tensorrt', flags },
  ] as const) {
    const left = asked(tool);
    expect(left.notes).toMatchObject([{ kind: 'ignored', flag: 'recordChoices' }]);
    expect(left.environment).toBeUndefined();
    expect(left.args.join(' ')).not.toContain('record_choices');
  }
  expect(command({ recordChoices: true }, { ...trt10, flags }).args.join(' ')).not.toContain('postprocess');
});

it('refuses options that the Polygraphy at hand does not list, and says so', () => {
  const flags = readPolygraphyHelp(help);
  expect(command(everything, { ...trt10, flags }).notes).toEqual([]);
  const { notes } = command({ extraArguments: ['--disable-mha', '--iter', '3'] }, { ...trt10, flags });
  expect(notes).toMatchObject([{ kind: 'refused', flag: 'disable-mha' }]);
  expect(notes[0]!.message).toContain('pip install -U polygraphy');
  expect(command({ computeCapability: ['89'] }, { ...rtx, flags }).notes).toMatchObject([
    { kind: 'refused', flag: 'compute-capabilities' },
  ]);
  const old = readPolygraphyHelp('usage: polygraphy convert [--convert-to X] [-o O]');
  expect(command({}, { ...trt10, flags: old }).notes).toEqual([]);
  expect(readPolygraphyHelp('polygraphy: error')).toBeNull();
});

it('sets every pool, and says that it sets no output types', () => {
  const { args, notes } = command({
    workspace: 64,
    pools: { dlaSRAM: 1 },
    layerOutputTypes: [{ name: 'a', types: ['fp32'] }],
  });
  expect(args.slice(args.indexOf('--pool-limit'), args.indexOf('--pool-limit') + 3)).toEqual([
    '--pool-limit',
    'workspace:64M',
    'dla_managed_sram:1M',
  ]);
  expect(notes).toMatchObject([{ kind: 'ignored', flag: 'layerOutputTypes' }]);
});

it('names its types and shapes as Polygraphy reads them', () => {
  const { args, notes } = command(everything);
  expect(notes).toEqual([]);
  expect(args.slice(0, 6)).toEqual(['convert', 'm.onnx', '--convert-to', 'trt', '-o', 'e.engine']);
  expect(args[args.indexOf('--layer-precisions') + 1]).toBe('a:float32');
  expect(args[args.indexOf('--trt-opt-shapes') + 1]).toBe('x:[2,3]');
  expect(args.slice(args.indexOf('--trt-outputs'))).toEqual(expect.arrayContaining(['mark', 'all']));
});

it.each([
  [null, ['mark', 'all']],
  [
    [0, 49, 26],
    ['mark', 'all'],
  ],
  [[0, 50, 0], ['*']],
  [[1, 0, 0], ['*']],
] as const)('Polygraphy %o marks all tensors by the words that it knows', (version, words) => {
  const { args } = command({ outputs: 'all' }, { ...trt10, version });
  const at = args.indexOf('--trt-outputs');
  expect(args.slice(at + 1)).toEqual(words);
});

it('refuses precision flags where TensorRT would ignore them', () => {
  expect(command({ precision: 'fp16' }, rtx).notes).toMatchObject([{ kind: 'refused', flag: 'precision' }]);
  expect(command({ precision: 'fp16' }, { tensorrt: [11, 2, 1], product: 'tensorrt' }).notes).toMatchObject([
    { kind: 'refused' },
  ]);
  expect(command({}, rtx).notes).toEqual([]);
});

it('writes compute capabilities with a dot, as TensorRT-RTX under Polygraphy wants them', () => {
  expect(command({ computeCapability: ['89', '12.0'] }, rtx).args.slice(-3)).toEqual([
    '--compute-capabilities',
    '8.9',
    '12.0',
  ]);
  expect(command({ computeCapability: ['89'] }).notes).toMatchObject([{ kind: 'refused', flag: 'computeCapability' }]);
});

it('says that it cannot take a tactic source away', () => {
  expect(command({ tacticSources: ['-CUBLAS'] }).notes).toMatchObject([{ kind: 'refused', flag: 'tacticSources' }]);
});
