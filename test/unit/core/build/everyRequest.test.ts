import { describe, expect, it } from 'vitest';
import { driverCommand, polygraphyCommand } from '../../../../src/core/build/buildCommand.ts';
import type { CommandLine, EngineOptions } from '../../../../src/core/build/buildOptions.ts';
import { commandFor, requests } from '../../../support/trtexecHelp.ts';

const files = { engine: 'e.engine', layers: 'l.json', profile: 'p.json', times: 't.json' };
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
    polygraphyCommand({ model: 'm.onnx', ...options }, files, { tensorrt, product });
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
