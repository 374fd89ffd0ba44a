import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { readArguments } from '../../../../src/kernel/node/cli/arguments.ts';
import { buildArguments } from '../../../../src/kernel/node/cli/buildOptions.ts';
import { type CommandModule, commandModules, commandOf, commandTable } from '../../../../src/shell/cli/commandTable.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { runCommand } from './runCommand.ts';

const folder = mkdtempSync(join(tmpdir(), 'trtlens-table-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const inFolder = (name: string): string => join(folder, name);
const recorded = join(import.meta.dirname, '../../../../examples/recorded/vit_tiny');
cpSync(recorded, inFolder('build'), { recursive: true });
writeFileSync(inFolder('tensors.json'), '[{ "name": "logits", "dimensions": "1x10", "values": [1] }]');
writeFileSync(inFolder('report.json'), '{ "schema": 1 }');

const named = (text: string): string[] => text.split(' ').map((word) => word.replace('DIR', folder));

it('lists 16 commands; the names that scripts rely on stay, and others are for one release', () => {
  const rows = Object.entries(commandTable);
  expect(rows.flatMap(([name, { group }]) => (group === undefined ? [] : [name])).toSorted()).toEqual(
    'accuracy bisect build check cut diagnose diff gate inspect precision quantize repair run setup show what-if'.split(
      ' ',
    ),
  );
  for (const name of 'fusion inspect build diagnose precision replay report mcp'.split(' '))
    expect(commandTable[name]?.replacedBy, name).toBeUndefined();
  const used = new Set(rows.flatMap(([, { parts }]) => parts));
  expect(Object.keys(commandModules).filter((name) => !used.has(name as CommandModule))).toEqual([]);
});

test.each<[row: string, args: string, module: CommandModule, passed?: string]>([
  ['build', 'net.onnx --launcher l.yaml', 'build'],
  ['build', '--launcher l.yaml net.onnx', 'build'],
  ['build', 'm.yaml --dry-run', 'matrix'],
  ['build', '--slurm out m.yaml', 'matrix'],
  ['build', '--collect out', 'matrix'],
  ['run', 'DIR/build --inputs x.npz', 'run'],
  ['run', 'DIR/build --trace', 'profile'],
  ['accuracy', 'net.onnx --precisions fp16,bf16', 'sweep'],
  ['accuracy', 'net.onnx --precision fp16', 'accuracy'],
  ['check', 'net.onnx', 'check'],
  ['check', 'build.py --tensorrt 11', 'lint'],
  ['check', 'DIR', 'lint'],
  ['check', 'net.trtprec --onnx net.onnx', 'precision', 'check net.trtprec --onnx net.onnx'],
  ['check', 'replay.json', 'replay', 'check replay.json'],
  ['diff', 'DIR/build DIR/build', 'diff'],
  ['diff', 'DIR/report.json DIR/build', 'diff'],
  ['diff', 'DIR DIR', 'compare'],
  ['diff', 'DIR/tensors.json b.json', 'compare'],
  ['diff', '--tolerance 0.1 a.npz b.npz', 'compare'],
  ['cut', 'split net.onnx --suggest', 'split', 'net.onnx --suggest'],
  ['cut', 'plugin net.onnx', 'plugin', 'net.onnx'],
  ['precision', 'replay diff a b', 'replay', 'diff a b'],
  ['setup', 'onnxruntime', 'packages'],
  ['setup', 'triton DIR/build', 'triton', 'DIR/build'],
])('trtlens %s %s is %s', async (row, args, module, passed = args) => {
  const found = await commandOf(commandTable[row]!, named(args));
  expect(found.command.help).toBe((await commandModules[module]()).help);
  expect(found.args).toEqual(named(passed));
});

describe('show', () => {
  const shown = async (...args: string[]) => runCommand(await commandModules.show(), ...args);
  const model = modelPath('vit_tiny');
  const capture = fixturePath('captures/tensorrt-10.6.0');

  it('reports what fusion reports, whatever the order of files', async () => {
    const [log, layers] = ['log.txt.gz', 'layers.json.gz'].map((name) => join(capture, 'vit_tiny.fp32', name)) as [
      string,
      string,
    ];
    const expected = await runCommand(await commandModules.fusion(), '--onnx', model, '--log', log, '--layers', layers);
    expect(expected.out).toContain('ForeignNode');
    expect(await shown(layers, model, log)).toEqual(expected);
    expect(await shown(model, '--log', log, layers)).toEqual(expected);
    await expect(shown(model, model)).rejects.toThrow('--onnx has two values');
  });

  it('diagnoses the log of a build that failed, and says what other files are', async () => {
    const log = join(capture, 'unsupported_op.fp32/log.txt');
    expect((await shown(log)).out).toBe((await runCommand(await commandModules.diagnose(), log)).out);
    expect(JSON.parse((await shown(log, '--json')).out)).toHaveProperty('diagnoses');
    const cache = fixturePath('int8/calibration.cache');
    expect((await shown(cache)).out).toBe((await runCommand(await commandModules.inspect(), cache)).out);
    await expect(shown(cache, model)).rejects.toThrow('calibration.cache is not a model or a file of a build');
    await expect(shown()).rejects.toThrow('FILE or FOLDER is missing');
  });
});

test.each([
  ['--fp16', '--precision fp16'],
  ['--saveEngine=x.plan', '--engine FILE'],
  ['--minShapes=x:1x3', '--min-shapes'],
  ['--noTF32', '--no-tf32'],
  ['--memPoolSize=workspace:1024', '--workspace MIB'],
])("trtexec's %s is answered with %s", (option, ours) => {
  expect(() => readArguments([option], buildArguments)).toThrow(`is an option of trtexec; here it is ${ours}`);
});

it('lets every command agree to downloads, and reads minutes as seconds', () => {
  expect(readArguments(['--yes'], {}).values).toEqual({});
  const seconds = { 'max-seconds': { type: 'string' } } as const;
  expect(readArguments(['--max-minutes', '5'], seconds).values).toEqual({ 'max-seconds': '300' });
  expect(readArguments(['--max-minutes', 'x'], seconds).values).toEqual({ 'max-seconds': 'x' });
});
