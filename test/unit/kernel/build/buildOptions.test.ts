import { parseArgs } from 'node:util';
import { expect, it } from 'vitest';
import { buildArguments, type BuildValues, readBuildOptions } from '../../../../src/kernel/node/cli/buildOptions.ts';
import { type BuildOption, type EngineOptions, optionRows } from '../../../../src/kernel/build/buildOptions.ts';
import { driverCommand, polygraphyCommand, trtexecCommand } from '../../../../src/kernel/build/buildCommand.ts';
import { readMatrix } from '../../../../src/kernel/build/launcher.ts';
import { fitsKind, kindText, type OptionValues } from '../../../../src/kernel/build/buildManifest.ts';
import { taskProperties } from '../../../../src/kernel/vscode/builds/taskProperties.ts';

/** A value of each kind, as a task or a matrix writes it, and on the command line. */
const samples: Record<keyof OptionValues, { value: unknown; args: (flags: string[]) => string[] }> = {
  text: { value: 'x', args: ([flag]) => [`${flag}=x`] },
  path: { value: 'a/b', args: ([flag]) => [`${flag}=a/b`] },
  flag: { value: true, args: ([flag]) => [flag!] },
  number: { value: 3, args: ([flag]) => [`${flag}=3`] },
  integer: { value: 3, args: ([flag]) => [`${flag}=3`] },
  texts: { value: ['a', 'b,c'], args: ([flag]) => [`${flag}=a`, `${flag}=b,c`] },
  textsOrAll: { value: 'all', args: ([, flag]) => [flag!] },
  numbersByName: { value: { a: 1, b: 2 }, args: ([flag]) => [`${flag}=a:1`, `${flag}=b:2`] },
  textsByName: { value: { a: 'b' }, args: () => [] },
  profiles: {
    value: [{ 'a:b': { min: '1x2', opt: '3x4', max: '5x6' } }],
    args: (flags) => ['1x2', '3x4', '5x6'].map((shape, index) => `${flags[index]}=a:b:${shape}`),
  },
  layerTypes: { value: [{ name: 'a', type: 'fp32' }], args: () => [] },
  layerOutputTypes: { value: [{ name: 'a', types: ['fp32'] }], args: () => [] },
};

function sampleOf(name: string, { kind }: BuildOption): { value: unknown; args: (flags: string[]) => string[] } {
  // Their elements have a form of their own.
  if (name === 'tacticSources') return { value: ['+A', '-B'], args: ([flag]) => [`${flag}=+A,-B`] };
  if (name === 'computeCapability') return { value: ['8.9', '120'], args: ([flag]) => [`${flag}=8.9,120`] };
  if (typeof kind === 'string') return samples[kind];
  return { value: kind.at(-1), args: ([flag]) => [`${flag}=${kind.at(-1)}`] };
}

it.each(optionRows)('%s: command line, tasks and matrices take the same value', (name, row) => {
  const { value, args } = sampleOf(name, row);
  expect(fitsKind(value, row.kind)).toBe(true);
  if (row.cli.length > 0) {
    const flags = row.cli.map(({ flag }) => `--${flag}`);
    const { values } = parseArgs({ args: args(flags), options: buildArguments });
    expect(readBuildOptions(values as BuildValues)).toEqual({ [name]: value });
  }
  expect(taskProperties.includes(name)).toBe(!row.except?.includes('task'));
  const matrix = readMatrix({ models: ['a.onnx'], options: { [name]: value } });
  if (row.except?.includes('matrix')) expect(matrix).toMatch(`unknown option "${name}"`);
  else expect(matrix).toMatchObject({ options: { [name]: value } });
});

it.each(optionRows)('%s: a value of another kind is refused, with what is expected', (name, row) => {
  const wrong = row.kind === 'flag' ? 'yes' : true;
  expect(fitsKind(wrong, row.kind)).toBe(false);
  if (row.except?.includes('matrix')) return;
  const matrix = readMatrix({ models: ['a.onnx'], options: { [name]: wrong } });
  expect(matrix).toBe(`The matrix: the option "${name}" is ${JSON.stringify(wrong)}, expected ${kindText(row.kind)}.`);
});

const places = { engine: 'e', layers: 'l', profile: 'p', times: 't' };
const recording = (options: EngineOptions) => (options.recordChoices ? { choices: 'c', recorder: 'r' } : {});
const commands = {
  trtexec: (options: EngineOptions) => trtexecCommand(options, places, { version: null, flags: null }),
  polygraphy: (options: EngineOptions) =>
    polygraphyCommand(
      options,
      { ...places, ...recording(options) },
      { tensorrt: [10, 6, 0], product: 'tensorrt', flags: null },
    ),
  driver: (options: EngineOptions) =>
    driverCommand(
      options,
      { model: 'm', engine: 'e', precisions: 'p', ...recording(options) },
      { product: 'tensorrt' },
    ),
};

it.each(optionRows)('%s: each back-end meets it or says why not, unless the builder itself meets it', (name, row) => {
  // Constraints bind nothing without the layers that they are about.
  const layers = name === 'precisionConstraints' ? { layerPrecisions: [{ name: 'a', type: 'fp32' }] } : {};
  const value = name === 'precisionConstraints' ? 'prefer' : sampleOf(name, row).value;
  for (const backend of ['trtexec', 'polygraphy', 'driver'] as const) {
    const textFor = (options: Partial<EngineOptions>) => {
      const { args, notes } = commands[backend]({ model: 'm', ...layers, ...options });
      return JSON.stringify([args, notes]);
    };
    const changed = textFor({ [name]: value }) !== textFor({});
    expect({ backend, changed }).toEqual({ backend, changed: row[backend] !== 'outside' });
  }
});
