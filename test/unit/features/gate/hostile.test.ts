import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { diagnose } from '../../../../src/features/diagnose/node/cli/diagnose.ts';
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
    () => [pieces(), '--names', '**', '-o', join(folder, 'e.onnx')],
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
    () => [file('deep.gate.yaml', `rules:\n  ${'- '.repeat(5000)}\n`), '--report', 'none.json'],
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
