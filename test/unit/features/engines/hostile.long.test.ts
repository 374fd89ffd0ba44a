import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import type { Command } from '../../../../src/kernel/node/cli/command.ts';
import { diagnose } from '../../../../src/features/diagnose/node/cli/diagnose.ts';
import { fusion } from '../../../../src/kernel/node/cli/fusion.ts';
import { check } from '../../../../src/features/check/node/cli/check.ts';
import { inspect } from '../../../../src/features/engines/node/cli/inspect.ts';
import { precision } from '../../../../src/features/precision/node/cli/precision.ts';
import { replay } from '../../../../src/features/replay/node/cli/replay.ts';
import { extract } from '../../../../src/features/surgery/node/cli/extract.ts';
import { split } from '../../../../src/features/surgery/node/cli/split.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { mutate, mutation } from '../../../support/mutations.ts';
import { randomModel } from '../../../support/randomModel.ts';
import { runCommand } from '../../shell/cli/runCommand.ts';

/** `RUNS=3000` tries more. */
const numRuns = Number(process.env['RUNS'] ?? 300);
const timeout = numRuns * 1000;

const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
afterAll(() => rmSync(folder, { recursive: true }));
const [model, log, rules, out] = ['m.onnx', 'x.log', 'r.trtprec', 'out'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
  string,
];
writeFileSync(rules, 'base keep\n** fp16\n');

/** A command ends with a result or a sentence, and soon: within two seconds of the processor, however busy it is. */
async function ends(command: Command, ...args: string[]): Promise<void> {
  const start = process.cpuUsage();
  await runCommand(command, ...args).catch((error: unknown) => {
    if (!['UserError', 'Usage'].includes((error as Error).constructor.name)) throw error;
  });
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1000, args.join(' ')).toBeLessThan(2000);
}

const models = [
  modelPath('loop_if'),
  ...['if_const2', 'functions2', 'loop_nested'].map((name) => fixturePath(`builds/${name}/model.onnx`)),
].map((path) => readFileSync(path));
const changes = fc.array(mutation, { minLength: 1, maxLength: 6 });

it('damaged models', { timeout }, async () => {
  const seeds = fc.oneof(
    fc.constantFrom<Uint8Array[]>(...models),
    fc.nat(10_000).map((seed) => randomModel(seed).bytes),
  );
  const property = fc.asyncProperty(seeds, changes, async (seed, list) => {
    writeFileSync(model, list.reduce<Uint8Array>(mutate, seed));
    await ends(check, model, '--no-parser');
    await ends(inspect, model);
    await ends(split, model, '--suggest');
    await ends(extract, model, '--nodes', '**', '-o', `${out}.onnx`);
    await ends(precision, 'check', rules, '--onnx', model);
  });
  await fc.assert(property, { numRuns });
});

it('damaged logs', { timeout }, async () => {
  const logs = ['rtx-1.7.1.txt', 'harmless.txt'].flatMap((file) =>
    readFileSync(fixturePath(`failures/${file}`), 'utf8').split(/^=== .*\n/m),
  );
  const words = fc.constantFrom(
    '\r',
    '\n',
    '\u001B[31m',
    ' '.repeat(3000),
    '[E] ',
    '__proto__',
    '\u0000',
    ': '.repeat(900),
    "'",
  );
  const seeds = fc.array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...logs) }, words), {
    minLength: 1,
    maxLength: 8,
  });
  const property = fc.asyncProperty(seeds, changes, async (parts, list) => {
    writeFileSync(log, list.reduce<Uint8Array>(mutate, Buffer.from(parts.join(''))));
    await ends(diagnose, log);
    await ends(inspect, log);
    await ends(fusion, '--log', log);
  });
  await fc.assert(property, { numRuns });
});

it('edits of damaged and whole models', { timeout }, async () => {
  const property = fc.asyncProperty(
    fc.nat(10_000),
    fc.array(mutation, { maxLength: 2 }),
    fc.constantFrom('fp16', 'bf16', 'keep'),
    async (seed, list, base) => {
      const { bytes, weights } = randomModel(seed);
      writeFileSync(join(folder, 'weights.bin'), weights);
      writeFileSync(model, list.reduce<Uint8Array>(mutate, bytes));
      await ends(precision, 'apply', rules, '--onnx', model, '-o', `${out}.typed.onnx`, '--base', base, '--force');
    },
  );
  await fc.assert(property, { numRuns });
});

it('edits of rules', { timeout }, async () => {
  const lines = [
    'base fp16',
    'model m.onnx',
    'scales c.cache',
    '** fp32',
    'op:Softmax|MatMul fp32',
    '"a b" bf16 # why',
    '/layers/*/attn/** fp16 io',
    're:^conv[0-9]+$ int8',
    '!op:Conv fp16',
    'type:** keep',
    'range:a..b fp32',
    '__proto__ fp32',
    'op:constructor fp16',
    '#',
    '\u0000',
    '*'.repeat(400),
    '('.repeat(400),
    ' '.repeat(400),
  ];
  const seeds = fc.array(fc.constantFrom(...lines), { minLength: 1, maxLength: 12 });
  const known = modelPath('loop_if');
  const property = fc.asyncProperty(seeds, changes, fc.boolean(), async (seed, list, fresh) => {
    writeFileSync(rules, list.reduce<Uint8Array>(mutate, Buffer.from(seed.join('\n'))));
    await ends(precision, 'check', rules, '--onnx', known, '--tensorrt', fresh ? '11.2' : '10.6');
    await ends(precision, 'flags', rules, '--onnx', known, '--tensorrt', '10.6');
    await ends(precision, 'apply', rules, '--onnx', known, '-o', `${out}.typed.onnx`, '--force');
  });
  await fc.assert(property, { numRuns });
});

it('edits of replays', { timeout }, async () => {
  const seeds = ['10.6.0/fp16_overflow', '8.6.1/vit_tiny'].map((path) =>
    readFileSync(fixturePath(`captures/tensorrt-${path}.poly_replay/replay.json`)),
  );
  const [before, after] = [join(folder, 'before.json'), join(folder, 'after.json')];
  const property = fc.asyncProperty(fc.constantFrom(...seeds), changes, async (seed, list) => {
    writeFileSync(before, seed);
    writeFileSync(after, list.reduce<Uint8Array>(mutate, seed));
    await ends(replay, 'check', after);
    await ends(replay, 'diff', before, after);
  });
  await fc.assert(property, { numRuns });
});
