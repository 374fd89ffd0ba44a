import { describe, expect, it } from 'vitest';
import type { EngineOptions } from '../../src/kernel/build/buildOptions.ts';
import { flagStatus, parseVersion, readTrtexecHelp } from '../../src/kernel/build/trtexecFlags.ts';
import { trtexecCommand } from '../../src/kernel/build/buildCommand.ts';

const files = { engine: 'e.engine', layers: 'l.json', profile: 'p.json', times: 't.json' };

/** The command for one version of trtexec; `help` is what it printed for --help, null where nobody asked. */
export const commandFor = (options: Partial<EngineOptions>, version: string, help: string | null) =>
  trtexecCommand({ model: 'm.onnx', ...options }, files, {
    version: parseVersion(version),
    flags: help === null ? null : readTrtexecHelp(help).flags,
  });

/** Every request that a person can have, one at a time: what was refused does not hide the others. */
export const requests: Partial<EngineOptions>[] = [
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
const flagOf = (argument: string): string => /^--(\w+)/.exec(argument)![1]!;

/** The table of flags against what one trtexec printed for --help. */
export function describeHelp(version: string, help: string): void {
  const { flags } = readTrtexecHelp(help);

  describe(`trtexec ${version}`, () => {
    it('prints a help that is read', () => {
      for (const flag of ['onnx', 'saveEngine', 'verbose', 'int8', 'exportLayerInfo', 'help'])
        expect(flags).toContain(flag);
      expect(flags.size).toBeGreaterThan(60);
      expect(flags).not.toContain('disableMHA');
    });

    it('has the flags of the table, and no others', () => {
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

    it('gets no flag that its --help lacks, asked or known by version alone', () => {
      for (const request of requests)
        for (const asked of [true, false]) {
          const { args, notes } = commandFor(request, version, asked ? help : null);
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

    it('gets the same flags whether its --help was asked or not', () => {
      for (const request of requests) {
        const [asked, known] = [commandFor(request, version, help), commandFor(request, version, null)];
        expect(known.args, JSON.stringify(request)).toEqual(asked.args);
        expect(known.notes.map(({ kind, flag }) => [kind, flag])).toEqual(
          asked.notes.map(({ kind, flag }) => [kind, flag]),
        );
      }
    });
  });
}
