import { expect, it } from 'vitest';
import { polygraphyCommand, readPolygraphyHelp } from '../../src/kernel/build/buildCommand.ts';
import { readTrtexecHelp } from '../../src/kernel/build/trtexecFlags.ts';
import { sampleText } from '../support/samples.ts';
import { commandFor, describeHelp } from '../support/trtexecHelp.ts';

for (const version of ['8.2.1', '10.0.1', '10.14.1', '10.16.1'])
  describeHelp(version, sampleText(`help/trtexec_${version}_help.txt`));

it('trtexec 11.1 takes the flags that its README names, and 10.16 does not', () => {
  const readme = sampleText('help/README_trtexec_11.1.md');
  const help = sampleText('help/trtexec_10.16.1_help.txt');
  for (const flag of ['setBuildRoute', 'tuneBuildRoutes']) {
    expect(readme).toContain(`--${flag}`);
    expect(commandFor({ extraArguments: [`--${flag}=x`] }, '11.1.0', null)).toMatchObject({ notes: [] });
    expect(commandFor({ extraArguments: [`--${flag}=x`] }, '10.16.1', help).notes).toMatchObject([
      { kind: 'refused', flag },
    ]);
  }
});

it('trtexec 8.6.0: a copy of its help that lacks a few lines is read, too', () => {
  expect(readTrtexecHelp(sampleText('help/trtexec_8.6.0_help.txt')).flags.size).toBeGreaterThan(60);
});

it('Polygraphy 0.49.26 lists the options that its command uses', () => {
  const flags = readPolygraphyHelp(sampleText('help/polygraphy_0.49.26_Help-convert.txt'));
  const { args, notes } = polygraphyCommand(
    { model: 'm.onnx', precision: 'fp16', workspace: 64, optimizationLevel: 2, timingCache: 't.cache' },
    { engine: 'e.engine', layers: 'l.json', profile: 'p.json', times: 't.json' },
    { tensorrt: [10, 6, 0], product: 'tensorrt', flags },
  );
  expect(notes).toEqual([]);
  const used = args.filter((argument) => argument.startsWith('--')).map((argument) => argument.slice(2));
  expect(used.length).toBeGreaterThan(3);
  expect(used.filter((flag) => !flags!.has(flag))).toEqual([]);
});
