import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { diagnose } from '../../../../src/features/diagnose/node/cli/diagnose.ts';
import { check } from '../../../../src/features/check/node/cli/check.ts';
import { diff } from '../../../../src/features/diff/node/cli/diff.ts';
import { inspect } from '../../../../src/features/engines/node/cli/inspect.ts';
import { matrix } from '../../../../src/features/build/node/cli/matrix.ts';
import { plugin } from '../../../../src/features/surgery/node/cli/plugin.ts';
import { quantization } from '../../../../src/features/quantization/node/cli/quantization.ts';
import { repair } from '../../../../src/features/repair/node/cli/repair.ts';
import { UserError } from '../../../../src/kernel/node/files/userError.ts';
import { fusion } from '../../../../src/kernel/node/cli/fusion.ts';
import { gate } from '../../../../src/features/gate/node/cli/gate.ts';
import { precision } from '../../../../src/features/precision/node/cli/precision.ts';
import { extract } from '../../../../src/features/surgery/node/cli/extract.ts';
import { split } from '../../../../src/features/surgery/node/cli/split.ts';
import type { Command } from '../../../../src/kernel/node/cli/command.ts';
import { int, len, model, node } from '../../../support/wire.ts';
import { runCommand } from '../../shell/cli/runCommand.ts';

const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** A chain whose last node writes the name of an initializer. */
const overwritten = (): string =>
  file(
    'overwritten.onnx',
    model(
      node('Relu', ['x'], ['a']),
      ...Array.from({ length: 8 }, (_, i) => node('Relu', [i === 0 ? 'a' : `t${i - 1}`], [`t${i}`])),
      node('Add', ['t7', 'c'], ['c']),
      len(5, int(2, 1), len(8, 'c'), len(9, new Uint8Array(4))),
      len(11, len(1, 'x')),
    ),
  );

const pieces = (): string => file('pieces.onnx', Uint8Array.of(0x3a, 0, 0x3a, 2, 0x0a, 0));
const alone = (): string => file('alone.onnx', model(node('GlobalAveragePool', [], [])));
const rules = (): string => file('r.trtprec', 'base keep\n** fp16\n');

it.each<[title: string, command: Command, args: () => string[], code: number, said: RegExp]>([
  ['split where a node writes an initializer', split, () => [overwritten(), '--suggest'], 0, /cross/],
  [
    'extract of a graph in two pieces',
    extract,
    () => [pieces(), '--nodes', '**', '-o', join(folder, 'e.onnx')],
    2,
    /several pieces/,
  ],
  ['precision of a node without inputs', precision, () => ['check', rules(), '--onnx', alone()], 0, /1 node/],
  [
    'a carriage return within a message',
    diagnose,
    () => [file('cr.log', '. \rFP16 Reduce or Pow may cause overflow\n')],
    0,
    /overflow/,
  ],
  [
    'a gate that is nested 5,000 deep',
    gate,
    () => [file('deep.gate.yaml', `rules:\n  ${'- '.repeat(5000)}\n`), '--build', 'none.json'],
    2,
    /nested too deeply/,
  ],
])('%s', async (_, command, args, code, said) => {
  const ran = await runCommand(command, ...args()).catch((error: unknown) => {
    if ((error as Error).constructor.name !== 'UserError') throw error;
    return { code: 2, out: '', err: (error as Error).message };
  });
  expect(ran.code).toBe(code);
  expect(ran.out + ran.err).toMatch(said);
});

it('a manifest whose shapes are no list is damaged', async () => {
  const damaged = { schema: 1, id: 'b', model: { file: 'm.onnx' }, files: {}, tensorrt: {}, command: [], shapes: {} };
  file('manifest.json', JSON.stringify(damaged));
  await expect(runCommand(fusion, '--build', folder)).rejects.toThrow(/missing or damaged/);
});

/** Names that every plain object has. */
const inherited = ['constructor', 'toString', 'valueOf', '__proto__', 'hasOwnProperty'];

/** A chain through operators, nodes and tensors with such names, with an input and an output of each name. */
const chain = (): string => {
  const typed = (field: number, name: string) =>
    len(field, len(1, name), len(2, len(1, int(1, 1), len(2, len(1, int(1, 2))))));
  const nodes = inherited.flatMap((name, i) => [
    node('Relu', [name], [`${name}.a`], len(3, name)),
    node('Exp', [`${name}.a`], [`out.${name}`], len(3, `${name}.exp`)),
    node(name, [`out.${name}`], [`${name}.c`], len(3, `custom${i}`)),
  ]);
  return file(
    'inherited.onnx',
    model(...nodes, ...inherited.flatMap((name) => [typed(11, name), typed(12, `out.${name}`)])),
  );
};

it.each<[command: Command, ...args: string[]]>([
  [check, 'MODEL', '--no-parser', '--json'],
  [inspect, 'MODEL', '--json'],
  [repair, 'MODEL', '--suggest', '--json'],
  [split, 'MODEL', '--suggest'],
  [extract, 'MODEL', '--names', 'constructor', '-o', join(folder, 'part.onnx'), '--json'],
  [plugin, 'MODEL', '--nodes', '0,1', '--name', 'P', '-o', join(folder, 'plugin')],
  [precision, 'check', 'RULES', '--onnx', 'MODEL', '--json'],
  [precision, 'apply', 'RULES', '--onnx', 'MODEL', '-o', join(folder, 'typed.onnx')],
  [precision, 'flags', 'RULES', '--onnx', 'MODEL', '--tensorrt', '10.6'],
  [quantization, 'MODEL', '--json'],
  [fusion, '--onnx', 'MODEL', '--layers', 'LAYERS', '--json'],
  [diff, 'REPORT', 'REPORT', '--json'],
  [gate, 'GATE', '--report', 'REPORT', '--json'],
])('names that every object has are names like others: %o %s', async (command, ...args) => {
  const layers = inherited.map((name) => ({
    Name: `${name} + ${name}.exp`,
    LayerType: name,
    Inputs: [{ Name: name, Dimensions: [2], 'Format/Datatype': 'Row major linear FP32' }],
    Outputs: [{ Name: `out.${name}`, Dimensions: [2], 'Format/Datatype': 'Row major linear FP32' }],
    ['constructor']: 'x',
    Metadata: `[ONNX Layer: ${name}]\u001e[ONNX Layer: ${name}.exp]`,
  }));
  const paths: Record<string, () => string> = {
    MODEL: chain,
    RULES: () => file('names.trtprec', inherited.map((name) => `${name} fp16\nop:${name} fp32\n`).join('')),
    LAYERS: () => file('layers.json', JSON.stringify({ Layers: layers, Bindings: inherited })),
    GATE: () =>
      file('names.gate.yaml', `rules:\n  precision: { ${inherited.map((name) => `'${name}': fp32`).join(', ')} }\n`),
    REPORT: () => join(folder, 'report.json'),
  };
  if (args.includes('REPORT')) {
    const { out } = await runCommand(fusion, '--onnx', chain(), '--layers', paths['LAYERS']!(), '--json');
    file('report.json', out);
  }
  const ran = await runCommand(command, ...args.map((word) => (Object.hasOwn(paths, word) ? paths[word]!() : word)));
  expect(ran.code).toBeLessThan(2);
  expect(ran.out + ran.err).not.toMatch(/native code|\[object|undefined/);
  if (command === fusion) {
    const { nodes } = JSON.parse(ran.out) as { nodes: { name: string; layers: number[] }[] };
    const [relu] = inherited.map((name) => nodes.find((one) => one.name === name)!.layers);
    expect(relu).toEqual([0]);
    expect(inherited.map((name) => nodes.find((one) => one.name === name)!.layers)).toEqual([[0], [1], [2], [3], [4]]);
  }
});

it('a matrix that is nested 5,000 deep', async () => {
  const path = file('deep.yaml', `models:\n  ${'- '.repeat(5000)}\n`);
  await expect(runCommand(matrix, path)).rejects.toBeInstanceOf(UserError);
});
