import { describe, expect, it } from 'vitest';
import { driverCommand, polygraphyCommand } from '../../../../src/kernel/build/buildCommand.ts';
import type { CommandLine, EngineOptions, PrecisionMode } from '../../../../src/kernel/build/buildOptions.ts';
import { precisionModes } from '../../../../src/kernel/build/buildManifest.ts';
import { flagStatus, parseVersion } from '../../../../src/kernel/build/trtexecFlags.ts';
import { commandFor, requests } from '../../../support/trtexecHelp.ts';

const files = { engine: 'e', layers: 'l', profile: 'p', times: 't' };
const versions = ['8.2.1', '8.4.1', '8.6.1', '9.3.0', '10.0.1', '10.6.0', '10.16.1', '11.1.0'];

/** What each back-end runs for a version of TensorRT. */
const backends: Record<string, (options: Partial<EngineOptions>, version: string) => CommandLine> = {
  trtexec: (options, version) => commandFor(options, version, null),
  polygraphy: (options, version) =>
    polygraphyCommand({ model: 'm', ...options }, files, { tensorrt: parseVersion(version), product: 'tensorrt' }),
  // It knows its TensorRT only when it runs.
  python: (options) =>
    driverCommand({ model: 'm', ...options }, { model: 'm', engine: 'e', precisions: 'p' }, { product: 'tensorrt' }),
};

const typesOf = ({ args }: CommandLine): string[] =>
  args.flatMap((arg) => /^--(fp16|bf16|int8|fp8|int4|best)$/.exec(arg)?.[1] ?? []).sort();
const refusesOf = ({ notes }: CommandLine): string[] =>
  notes.filter(({ kind }) => kind === 'refused').map(({ message }) => message);

/** Whether a version has the switches at all: trtexec's table of them, which stands for TensorRT. */
const has = (types: readonly string[], version: string): boolean =>
  types.every((type) => flagStatus(type, parseVersion(version), null).status === 'known');

const modes = Object.keys(precisionModes) as PrecisionMode[];
const cases = Object.keys(backends).flatMap((backend) =>
  versions.flatMap((version) => modes.map((mode) => [mode, backend, version] as const)),
);

describe('a precision mode allows the same types in every program', () => {
  it.each(cases)('%s, %s %s', (mode, backend, version) => {
    const types: readonly string[] = precisionModes[mode];
    const made = backends[backend]!({ precision: mode }, version);
    if (backend === 'trtexec' && !has(types, version)) expect(refusesOf(made)).toHaveLength(1);
    else if (backend === 'polygraphy' && version.startsWith('11') && mode !== 'fp32')
      expect(refusesOf(made)).toHaveLength(1);
    else expect([typesOf(made), refusesOf(made)]).toEqual([types.toSorted(), []]);
  });

  it.each(cases.filter(([, , version]) => version.startsWith('10')))(
    '%s, %s %s: and the types of its layers',
    (mode, backend, version) => {
      const made = backends[backend]!(
        {
          precision: mode,
          layerPrecisions: [
            { name: 'a', type: 'fp16' },
            { name: 'b', type: 'fp32' },
          ],
          layerOutputTypes: [{ name: 'a', types: ['bf16', 'int32'] }],
        },
        version,
      );
      expect(typesOf(made)).toEqual([...new Set([...precisionModes[mode], 'fp16', 'bf16'])].sort());
      expect(refusesOf(made)).toEqual([]);
      expect(made.args.join(' ')).toMatch(/--precision-?constraints[= ]obey/i);
    },
  );

  it.each(Object.keys(backends))('%s refuses it where all types are the model’s', (backend) => {
    const made = backends[backend]!({ precision: 'fp16', stronglyTyped: true }, '10.6.0');
    expect(refusesOf(made)).toEqual([expect.stringContaining('strongly typed build')]);
    expect(typesOf(made)).toEqual([]);
  });

  it.each(Object.keys(backends))('%s warns of layer precisions that the constraints switch off', (backend) => {
    const layerPrecisions = [{ name: 'a', type: 'fp16' }];
    expect(backends[backend]!({ layerPrecisions, precisionConstraints: 'none' }, '10.6.0').notes).toMatchObject([
      { kind: 'ignored', flag: 'precisionConstraints' },
    ]);
  });

  it.each(['polygraphy', 'python'])('%s has no switch for INT4', (backend) => {
    const made = backends[backend]!({ layerPrecisions: [{ name: 'a', type: 'int4' }] }, '10.6.0');
    expect(refusesOf(made)).toEqual([expect.stringContaining('INT4')]);
  });
});

const outputs = { engine: 'e.engine', layers: 'l.json', profile: 'p.json', times: 't.json' };
const driverFiles = { model: 'm.onnx', engine: 'e.engine', precisions: 'p.json' };
const more: Partial<EngineOptions>[] = [
  { outputs: 'all' },
  { outputs: ['a'] },
  { computeCapability: ['8.9'] },
  { precisionConstraints: 'prefer' },
  { recordChoices: true },
];

type Build = (options: Partial<EngineOptions>) => CommandLine;
const polygraphy =
  (tensorrt: [number, number, number], product: 'tensorrt' | 'tensorrt-rtx'): Build =>
  (options) =>
    polygraphyCommand({ model: 'm.onnx', ...options }, outputs, { tensorrt, product });
const driver =
  (product: 'tensorrt' | 'tensorrt-rtx'): Build =>
  (options) =>
    driverCommand(
      { model: 'm.onnx', ...options },
      { ...driverFiles, ...(options.recordChoices && { choices: 'c.jsonl' }) },
      { product },
    );

/** What a program does anyway, so that the request needs no argument. */
const always: Record<string, (keyof EngineOptions)[]> = {
  // Polygraphy turns TF32 off unless it is told --tf32; without a recorder there is nothing to record with.
  'polygraphy 10.6': ['noTF32', 'recordChoices'],
  'polygraphy 11.2': ['noTF32', 'recordChoices', 'stronglyTyped'],
  'polygraphy rtx': ['noTF32', 'recordChoices', 'stronglyTyped'],
  'driver rtx': ['stronglyTyped'],
};

const programs: Record<string, Build> = {
  'trtexec 8.2': (options) => commandFor(options, '8.2.1', null),
  'trtexec 8.6': (options) => commandFor(options, '8.6.1', null),
  'trtexec 10.6': (options) => commandFor(options, '10.6.0', null),
  'trtexec 11.1': (options) => commandFor(options, '11.1.0', null),
  'polygraphy 10.6': polygraphy([10, 6, 0], 'tensorrt'),
  'polygraphy 11.2': polygraphy([11, 2, 1], 'tensorrt'),
  'polygraphy rtx': polygraphy([1, 7, 1], 'tensorrt-rtx'),
  'driver tensorrt': driver('tensorrt'),
  'driver rtx': driver('tensorrt-rtx'),
};

describe.each(Object.entries(programs))('%s', (name, command) => {
  it.each([...requests, ...more].map((request) => [JSON.stringify(request), request] as const))(
    '%s reaches the program, or a note says that it does not',
    (_, request) => {
      if (Object.keys(request).some((option) => always[name]?.includes(option as keyof EngineOptions))) return;
      const plain = command({});
      const { args, notes } = command(request);
      expect(args.join(' ') !== plain.args.join(' ') || notes.length > plain.notes.length).toBe(true);
    },
  );
});

describe('a request that makes another engine', () => {
  it('strongly typed is refused where a version has weakly typed networks only', () => {
    expect(programs['trtexec 8.6']!({ stronglyTyped: true }).notes).toMatchObject([
      { kind: 'refused', message: expect.stringContaining('needs TensorRT 9.3 or later') as string },
    ]);
  });
  it.each(['versionCompatible', 'hardwareCompatibility'] as const)('%s is refused before 8.6', (option) => {
    const request =
      option === 'versionCompatible' ? { versionCompatible: true } : { hardwareCompatibility: 'ampere+' as const };
    expect(programs['trtexec 8.2']!(request).notes.map(({ kind }) => kind)).toContain('refused');
  });
  it('bf16 before 9.3 is refused without the advice of TensorRT 11', () => {
    const { notes } = programs['trtexec 8.6']!({ precision: 'bf16' });
    expect(notes).toEqual([
      { kind: 'refused', flag: 'bf16', message: '--bf16: needs TensorRT 9.3 or later, this is 8.6.1.' },
    ]);
    expect(programs['trtexec 11.1']!({ precision: 'bf16' }).notes[0]!.message).toContain('strongly typed');
  });
  it('what only makes it faster is a warning', () => {
    expect(programs['trtexec 8.2']!({ optimizationLevel: 5 }).notes).toContainEqual(
      expect.objectContaining({ kind: 'ignored', flag: 'builderOptimizationLevel' }),
    );
  });
});
