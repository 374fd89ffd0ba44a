import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readTrtexecHelp } from '../../../../src/core/build/readTrtexecHelp.ts';
import { trtexecCommand } from '../../../../src/core/build/trtexecCommand.ts';
import { flagStatus, parseVersion } from '../../../../src/core/build/trtexecFlags.ts';
import type { EngineOptions } from '../../../../src/core/build/engineOptions.ts';
import { captureText, samplesPath } from '../../../support/fixtures.ts';

const helps: Record<string, string> = {
  '8.2.1': readFileSync(samplesPath('help/trtexec_8.2.1_help.txt'), 'utf8'),
  '8.6.0': readFileSync(samplesPath('help/trtexec_8.6.0_help.txt'), 'utf8'),
  '8.6.1': captureText('tensorrt-8.6.1/cli.help/log.txt')!,
  '10.0.1': readFileSync(samplesPath('help/trtexec_10.0.1_help.txt'), 'utf8'),
  '10.6.0': captureText('tensorrt-10.6.0/cli.help/log.txt')!,
  '10.14.1': readFileSync(samplesPath('help/trtexec_10.14.1_help.txt'), 'utf8'),
  '10.16.1': readFileSync(samplesPath('help/trtexec_10.16.1_help.txt'), 'utf8'),
};
const files = { engine: 'e.engine', layers: 'l.json', profile: 'p.json', times: 't.json' };
const command = (options: Partial<EngineOptions>, version: string, help = true) =>
  trtexecCommand({ model: 'm.onnx', ...options }, files, {
    version: parseVersion(version),
    flags: help ? readTrtexecHelp(helps[version]!).flags : null,
  });

it('says that trtexec records no choices, and builds', () => {
  const { args, notes } = command({ recordChoices: true }, '10.6.0');
  expect(notes).toMatchObject([{ kind: 'dropped', flag: 'recordChoices' }]);
  expect(args).toEqual(command({}, '10.6.0').args);
});

describe('readTrtexecHelp', () => {
  it.each(Object.keys(helps))('reads the help of %s', (version) => {
    const { flags } = readTrtexecHelp(helps[version]!);
    for (const flag of ['onnx', 'saveEngine', 'verbose', 'int8', 'exportLayerInfo', 'help']) {
      // 8.6.0's text is a copy that lacks a few lines.
      if (version !== '8.6.0') expect(flags).toContain(flag);
    }
    expect(flags.size).toBeGreaterThan(60);
    expect(flags).not.toContain('disableMHA');
  });

  it('reads the version from a banner', () => {
    expect(readTrtexecHelp(helps['8.6.1']!).version).toEqual([8, 6, 1]);
    expect(readTrtexecHelp(helps['10.6.0']!).version).toEqual([10, 6, 0]);
    expect(readTrtexecHelp('&&&& RUNNING TensorRT.trtexec [TensorRT v101601] [b11] # trtexec').version).toEqual([
      10, 16, 1,
    ]);
    expect(readTrtexecHelp('no banner').version).toBeNull();
  });
});

describe('the table of flags agrees with every --help text at hand', () => {
  it.each(Object.keys(helps).filter((v) => v !== '8.6.0'))('%s', (version) => {
    const { flags } = readTrtexecHelp(helps[version]!);
    const wrong = [...flags].filter((flag) => flagStatus(flag, parseVersion(version), null).status === 'missing');
    expect(wrong).toEqual([]);
    const asked = [
      'fp16',
      'layerPrecisions',
      'workspace',
      'memPoolSize',
      'skipInference',
      'buildOnly',
      'stronglyTyped',
      'markDebug',
      'bf16',
      'profile',
    ];
    for (const flag of asked) {
      const known = flagStatus(flag, parseVersion(version), null).status !== 'missing';
      expect([flag, known]).toEqual([flag, flags.has(flag)]);
    }
  });
});

/** Every request that a person can have, one at a time: what was refused does not hide the others. */
const requests: Partial<EngineOptions>[] = [
  ...(['fp16', 'bf16', 'int8', 'fp8', 'best'] as const).map((precision) => ({ precision })),
  { stronglyTyped: true },
  { precision: 'int8', calibrationCache: 'c.cache' },
  { precision: 'fp16', layerPrecisions: [{ name: 'a', type: 'fp32' }] },
  { precision: 'fp16', layerOutputTypes: [{ name: 'a', types: ['fp32'] }], precisionConstraints: 'prefer' },
  { profiles: [{ x: { min: '1', opt: '2', max: '3' } }] },
  { profiles: [{ x: { min: '1', opt: '2', max: '3' } }, { x: { min: '4', opt: '5', max: '6' } }] },
  { workspace: 64 },
  { workspace: 64, pools: { dlaSRAM: 1 } },
  { tacticSources: ['+CUDNN'] },
  { optimizationLevel: 5 },
  { timingCache: 't.cache' },
  { versionCompatible: true },
  { hardwareCompatibility: 'ampere+' },
  { verbosity: 'none' },
  { debugTensors: ['a'] },
  { profileRun: true },
  { noTF32: true },
  ...['--disableMHA', '--useManagedPlugins', '--workspace=64', '--memPoolSize=workspace:64', '--buildOnly'].map(
    (one) => ({
      extraArguments: [one],
    }),
  ),
];
const flagOf = (argument: string) => /^--(\w+)/.exec(argument)![1]!;

describe('the right flags for the version at hand', () => {
  // 8.6.0's text is a copy that lacks a few lines.
  const versions = Object.keys(helps).filter((version) => version !== '8.6.0');
  it.each(versions)('%s gets no flag that its --help lacks, asked or known by version alone', (version) => {
    const { flags } = readTrtexecHelp(helps[version]!);
    for (const request of requests)
      for (const asked of [true, false]) {
        const { args, notes } = command(request, version, asked);
        expect(
          args.map(flagOf).filter((flag) => !flags.has(flag)),
          `${JSON.stringify(request)} ${asked}`,
        ).toEqual([]);
        for (const { flag, message } of notes) {
          expect(message, `${version}: ${flag}`).toMatch(/\S.*\.$/);
          expect(args.map(flagOf), message).not.toContain(flag);
        }
      }
  });

  it.each(versions)('%s: what the table says is what its own --help says', (version) => {
    for (const request of requests) {
      const [asked, known] = [command(request, version), command(request, version, false)];
      expect(known.args, JSON.stringify(request)).toEqual(asked.args);
      expect(known.notes.map(({ kind, flag }) => [kind, flag])).toEqual(
        asked.notes.map(({ kind, flag }) => [kind, flag]),
      );
    }
  });

  it('11.1: no precision flags, no workspace, and the reason', () => {
    const found = requests.flatMap((request) => command(request, '11.1.0', false).notes);
    const refused = new Set(found.filter(({ kind }) => kind === 'refused').map(({ flag }) => flag));
    for (const flag of ['fp16', 'bf16', 'int8', 'fp8', 'best', 'calib', 'layerPrecisions', 'layerOutputTypes'])
      expect(refused).toContain(flag);
    for (const flag of ['disableMHA', 'useManagedPlugins']) expect(refused).toContain(flag);
    expect(command({ extraArguments: ['--workspace=64'] }, '11.1.0', false).args).toContain(
      '--memPoolSize=workspace:64',
    );
    // The flags that its own README names are there.
    const readme = readFileSync(samplesPath('help/README_trtexec_11.1.md'), 'utf8');
    for (const flag of ['setBuildRoute', 'tuneBuildRoutes']) {
      expect(readme).toContain(`--${flag}`);
      expect(command({ extraArguments: [`--${flag}=x`] }, '11.1.0', false)).toMatchObject({ notes: [] });
      expect(command({ extraArguments: [`--${flag}=x`] }, '10.16.1').notes).toMatchObject([{ kind: 'refused', flag }]);
    }
  });
});

describe('trtexecCommand', () => {
  it('always leaves a verbose log and detailed layer info', () => {
    const { args, notes } = command({}, '10.6.0');
    expect(args).toEqual([
      '--onnx=m.onnx',
      '--saveEngine=e.engine',
      '--verbose',
      '--profilingVerbosity=detailed',
      '--exportLayerInfo=l.json',
      '--skipInference',
    ]);
    expect(notes).toEqual([]);
  });

  it('builds without running by the flag that the version has', () => {
    expect(command({}, '8.2.1').args).toContain('--buildOnly');
    expect(command({}, '8.2.1').notes).toMatchObject([{ kind: 'translated', flag: 'skipInference' }]);
    expect(command({}, '8.6.1').args).toContain('--skipInference');
  });

  it('sets the workspace by the flag that the version has, in MiB', () => {
    expect(command({ workspace: 1024 }, '8.2.1').args).toContain('--workspace=1024');
    expect(command({ workspace: 1024 }, '10.6.0').args).toContain('--memPoolSize=workspace:1024');
    expect(command({ extraArguments: ['--workspace=64'] }, '10.6.0').args).toContain('--memPoolSize=workspace:64');
  });

  it('refuses precision flags on TensorRT 11, and says what to do', () => {
    const options = { precision: 'fp16', layerPrecisions: [{ name: 'a', type: 'fp32' }] } as const;
    const { args, notes } = command({ ...options, layerPrecisions: [...options.layerPrecisions] }, '11.2.1', false);
    expect(args.join(' ')).not.toMatch(/fp16|layerPrecisions/);
    expect(notes.map(({ kind, flag }) => [kind, flag])).toEqual([
      ['refused', 'fp16'],
      ['refused', 'precisionConstraints'],
      ['refused', 'layerPrecisions'],
    ]);
    expect(notes[0]!.message).toContain('strongly typed');
  });

  it('refuses flags that no trtexec has', () => {
    for (const version of ['8.6.1', '10.16.1'])
      expect(command({ extraArguments: ['--disableMHA'] }, version).notes).toMatchObject([
        { kind: 'refused', flag: 'disableMHA' },
      ]);
    expect(command({ extraArguments: ['--useManagedPlugins'] }, '10.6.0').notes[0]!.message).toContain(
      '--dynamicPlugins',
    );
  });

  it('writes layer precisions by exact names, and refuses names that the syntax cannot carry', () => {
    const { args, notes } = command(
      {
        precision: 'fp16',
        layerPrecisions: [
          { name: '/a/Softmax', type: 'fp32' },
          { name: 'x,y', type: 'fp32' },
        ],
        layerOutputTypes: [{ name: '/a/Split', types: ['fp32', 'fp16'] }],
      },
      '10.6.0',
    );
    expect(args).toContain('--layerPrecisions=/a/Softmax:fp32');
    expect(args).toContain('--layerOutputTypes=/a/Split:fp32+fp16');
    expect(args).toContain('--precisionConstraints=obey');
    expect(notes).toMatchObject([{ kind: 'refused', flag: 'layerPrecisions' }]);
    expect(notes[0]!.message).toContain('"x,y"');
  });

  it('writes one or several optimization profiles', () => {
    const range = { min: '1x3', opt: '4x3', max: '8x3' };
    expect(command({ profiles: [{ x: range }] }, '10.6.0').args).toEqual(
      expect.arrayContaining(['--minShapes=x:1x3', '--optShapes=x:4x3', '--maxShapes=x:8x3']),
    );
    const two = command({ profiles: [{ x: range }, { x: range }] }, '10.6.0').args;
    expect(two.filter((a) => a.startsWith('--profile='))).toEqual(['--profile=0', '--profile=1']);
    expect(command({ profiles: [{ x: range }, { x: range }] }, '8.6.1').notes).toMatchObject([
      { kind: 'refused', flag: 'profile' },
      { kind: 'refused', flag: 'profile' },
    ]);
  });

  it('keeps hostile values inside one argument', () => {
    const { args } = command({ model: '--help; rm -rf $(pwd) .onnx' }, '10.6.0');
    expect(args[0]).toBe('--onnx=--help; rm -rf $(pwd) .onnx');
  });
});
