import { describe, expect, it } from 'vitest';
import { readTrtexecHelp } from '../../../../src/kernel/build/trtexecFlags.ts';
import type { EngineOptions } from '../../../../src/kernel/build/buildOptions.ts';
import { captureText } from '../../../support/fixtures.ts';
import { commandFor, describeHelp, requests } from '../../../support/trtexecHelp.ts';

const helps: Record<string, string> = {
  '8.6.1': captureText('tensorrt-8.6.1/cli.help/log.txt')!,
  '10.6.0': captureText('tensorrt-10.6.0/cli.help/log.txt')!,
};
const command = (options: Partial<EngineOptions>, version: string) =>
  commandFor(options, version, helps[version] ?? null);

for (const [version, help] of Object.entries(helps)) describeHelp(version, help);

it('says that trtexec records no choices, and builds', () => {
  const { args, notes } = command({ recordChoices: true }, '10.6.0');
  expect(notes).toMatchObject([{ kind: 'ignored', flag: 'recordChoices' }]);
  expect(args).toEqual(command({}, '10.6.0').args);
});

it('reads the version from a banner', () => {
  expect(readTrtexecHelp(helps['8.6.1']!).version).toEqual([8, 6, 1]);
  expect(readTrtexecHelp(helps['10.6.0']!).version).toEqual([10, 6, 0]);
  expect(readTrtexecHelp('&&&& RUNNING TensorRT.trtexec [TensorRT v101601] [b11] # trtexec').version).toEqual([
    10, 16, 1,
  ]);
  expect(readTrtexecHelp('no banner').version).toBeNull();
});

it('11.1: no precision flags, no workspace, and the reason', () => {
  const found = requests.flatMap((request) => command(request, '11.1.0').notes);
  const refused = new Set(found.filter(({ kind }) => kind === 'refused').map(({ flag }) => flag));
  for (const flag of ['fp16', 'bf16', 'int8', 'fp8', 'calib', 'layerPrecisions', 'layerOutputTypes'])
    expect(refused).toContain(flag);
  for (const flag of ['disableMHA', 'useManagedPlugins']) expect(refused).toContain(flag);
  expect(command({ extraArguments: ['--workspace=64'] }, '11.1.0').args).toContain('--memPoolSize=workspace:64');
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
    const { args, notes } = command({ ...options, layerPrecisions: [...options.layerPrecisions] }, '11.2.1');
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
