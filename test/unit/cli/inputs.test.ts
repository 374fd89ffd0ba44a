import { copyFileSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runBuild } from '../../../src/builder/runBuild.ts';
import type { Command } from '../../../src/cli/command.ts';
import { diagnose } from '../../../src/cli/diagnose.ts';
import { matrix } from '../../../src/cli/matrix.ts';
import { precision } from '../../../src/cli/precision.ts';
import { replay } from '../../../src/cli/replay.ts';
import { report } from '../../../src/cli/report.ts';
import { fixturePath, modelPath } from '../../support/fixtures.ts';
import { temporaryFolder } from '../../support/rtx.ts';

const folder = temporaryFolder();
const log = fixturePath('captures/tensorrt-10.6.0/vit_tiny.fp16/log.txt.gz');
let count = 0;

/** A model in a folder of its own. */
function copyOfModel(): { place: string; model: string; before: Buffer } {
  const place = join(folder, String(count++));
  mkdirSync(place);
  const model = join(place, 'net.onnx');
  copyFileSync(modelPath('vit_tiny'), model);
  return { place, model, before: readFileSync(model) };
}

async function run(command: Command, ...args: string[]): Promise<{ code: number; out: string }> {
  const ran = { code: 0, out: '' };
  const terminal = { out: (text: string) => Promise.resolve(void (ran.out += text)), note: () => undefined };
  ran.code = await command.run(args, terminal as unknown as Parameters<Command['run']>[1]);
  return ran;
}

describe('what a command reads is not what it writes', () => {
  test('a report takes the place of neither model nor log, by whatever name', async () => {
    const { place, model, before } = copyOfModel();
    symlinkSync(model, join(place, 'page.json'));
    for (const output of [model, join(place, 'page.json'), join(place, '..', place.slice(folder.length), 'net.onnx')])
      await expect(run(report, '--onnx', model, '--log', log, '-o', output)).rejects.toThrow(
        'would be overwritten, and is read as',
      );
    expect(readFileSync(model).equals(before)).toBe(true);
    expect((await run(report, '--onnx', model, '--log', log, '-o', join(place, 'new.json'))).code).toBe(0);
    expect((await run(report, '--onnx', model, '--log', log, '-o', join(place, 'new.json'))).code).toBe(0);
  });

  test('files beside a build folder are not passed over in silence', async () => {
    await expect(run(report, '--build', folder, '--log', log, '-o', join(folder, 'x.json'))).rejects.toThrow(
      '--build goes without --log',
    );
  });

  test('a rewritten model does not take the place of its rules', async () => {
    const { place, model } = copyOfModel();
    const rules = join(place, 'net.trtprec');
    writeFileSync(rules, 'op:Softmax fp32\n');
    linkSync(rules, join(place, 'same'));
    await expect(run(precision, 'apply', rules, '--onnx', model, '-o', join(place, 'same'))).rejects.toThrow(rules);
    expect(readFileSync(rules, 'utf8')).toBe('op:Softmax fp32\n');
  });

  test.each(['engine', 'timingCache'] as const)(
    'a build whose %s would be the model does not begin',
    async (option) => {
      const { model, before } = copyOfModel();
      const options = {
        model,
        backend: 'trtexec',
        trtexec: join(folder, 'none'),
        driver: '',
        [option]: model,
      } as const;
      const confirm = () => Promise.reject(new Error('asked'));
      await expect(runBuild({ ...options, confirm })).rejects.toThrow('would be overwritten');
      expect(readFileSync(model).equals(before)).toBe(true);
    },
  );
});

test('a timing cache takes the place of no other kind of file', async () => {
  const { place, model } = copyOfModel();
  const rules = join(place, 'net.trtprec');
  writeFileSync(rules, 'base fp16\nop:Softmax fp32\n');
  const options = { model, backend: 'trtexec', trtexec: join(folder, 'none'), driver: '', timingCache: rules } as const;
  const confirm = () => Promise.reject(new Error('asked'));
  await expect(runBuild({ ...options, confirm })).rejects.toThrow('is no timing cache and would be overwritten');
  expect(readFileSync(rules, 'utf8')).toContain('Softmax');
});

test('a page whose folder is a file', async () => {
  const { model } = copyOfModel();
  await expect(run(report, '--onnx', model, '--log', log, '-o', join(model, 'page.json'))).rejects.toThrow(
    'a part of this path is no folder',
  );
});

describe('diagnose', () => {
  test.each([
    ['an empty file', ''],
    ['layer info', '{ "Layers": [], "Bindings": [] }'],
    ['a poem', 'Roses are red\n'],
  ])('%s is no log without errors', async (_, text) => {
    const file = join(folder, 'any.log');
    writeFileSync(file, text);
    await expect(run(diagnose, file)).rejects.toThrow('nothing in it looks like a TensorRT build log');
  });

  test('a log without errors', async () => {
    expect(await run(diagnose, log)).toEqual({ code: 0, out: 'Nothing to report: the build passed.\n' });
  });
});

test.each([precision, replay])('$name: a verb that is none', async (command) => {
  await expect(run(command, 'chek')).rejects.toThrow("no 'chek'. There are check");
  await expect(run(command)).rejects.toThrow('what to do? There are check');
});

test('a file in the place of a cluster folder', async () => {
  const { place, model } = copyOfModel();
  const file = join(place, 'net.json');
  const target = { name: 'h100', tensorrt: '10.6' };
  writeFileSync(file, JSON.stringify({ models: [model], targets: [target] }));
  await expect(run(matrix, file, '--slurm', file)).rejects.toThrow('a part of this path is no folder');
});
