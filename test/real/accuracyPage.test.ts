// Runs the commands of docs/accuracy.md on the files that the page is about, and holds the page against what they say:
// names of nodes, numbers and verdicts. Sentences may be worded anew without a change here. Of docs/how-to-against-what.md,
// which measures the computer that it runs on, all but the figures is compared.
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { fixturePath, readFixture } from '../support/fixtures.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { runtimeForTests } from '../support/runtime.ts';

const root = join(import.meta.dirname, '../..');
const folder = temporaryFolder();
const examplesOf = (page: string) =>
  [...readFileSync(join(root, 'docs', page), 'utf8').matchAll(/```console\n\$ trtlens ([^\n]+)\n(.*?)```/gs)].map(
    ([, command, output]) => ({ command: command!, output: output! }),
  );
const examples = examplesOf('accuracy.md');
const trtlens = (command: string) =>
  spawnSync(process.execPath, [join(root, 'dist/cli.js'), ...command.split(' ')], { cwd: folder, encoding: 'utf8' });

let runtime: Awaited<ReturnType<typeof runtimeForTests>>;

beforeAll(async () => {
  runtime = await runtimeForTests();
  for (const [name, file] of [
    ['encoder.onnx', 'model.onnx'],
    ['samples.npz', 'inputs.npz'],
    ['fp32.npz', 'h200.fp32.npz'],
    ['fp16.npz', 'h200.fp16_all.npz'],
    ['fixed.npz', 'h200.fixed.npz'],
  ] as const)
    copyFileSync(fixturePath(`faults/ln_pow_outlier/${file}`), join(folder, name));
});

/** What a line says without its sentences: names of nodes, numbers, verdicts. */
const essence = (line: string): string[] =>
  line.match(/\/[\w./]+|\b\d[\d,.]*(?:e[+-]?\d+)?\b|\b(?:passes|fails|fp32)\b/g) ?? [];
const essences = (text: string): string[][] =>
  text
    .split('\n')
    .map(essence)
    .filter((words) => words.length > 0);

test('the page has its examples', () => {
  expect(examples.length).toBeGreaterThan(4);
});

test.each(examples)('trtlens $command', ({ command, output }) => {
  const { status, stdout, stderr } = trtlens(command);
  const shown = stdout.split('\n').filter((line) => !/: [\d,]+ bytes$/.test(line));
  expect(essences(shown.join('\n'))).toEqual(essences(output));
  expect(status, stderr).toBe(/fail(?:s|ed)\b/.test(output) ? 1 : 0);
});

/** A line without its figures and their units; those behind a letter are a name, such as `FP16`. */
const withoutFigures = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) =>
      line
        .replaceAll(/(?<![A-Za-z])\d[\d.,e-]*(?: (?:[nµm]?s|bytes|[KMG]iB|threads?)\b)?/g, '#')
        .replaceAll(/ +/g, ' '),
    );

test('against what: ONNX Runtime is timed on the given inputs, and rows that need a GPU say so', () => {
  const [example, ...others] = examplesOf('how-to-against-what.md');
  expect(others).toEqual([]);
  writeFileSync(join(folder, 'cnn.onnx'), readFixture('int8/model.onnx.gz'));
  const recorded = `--cache ${fixturePath('int8/calibration.cache')} --layers ${fixturePath('int8/layers.json')}`;
  expect(trtlens(`quantization migrate cnn.onnx ${recorded} -o cnn-int8.onnx`).status).toBe(0);
  const samples = 'np.savez("samples.npz", x=np.random.default_rng(7).standard_normal((4, 32, 56, 56)).astype("f"))';
  expect(spawnSync(runtime.python, ['-c', `import numpy as np; ${samples}`], { cwd: folder }).status).toBe(0);
  const { status, stdout, stderr } = trtlens(example!.command);
  expect(withoutFigures(stdout)).toEqual(withoutFigures(example!.output));
  expect([status, stderr]).toEqual([0, '']);
  for (const [, median, p99] of stdout.matchAll(
    /ONNX Runtime \w+ +CPU, \d+ threads? +([\d.]+ [µm]?s) +([\d.]+ [µm]?s)/g,
  ))
    expect(milliseconds(median!)).toBeLessThanOrEqual(milliseconds(p99!));
});

function milliseconds(text: string): number {
  const [value, unit] = text.split(' ') as [string, string];
  return Number(value) * { µs: 1e-3, ms: 1, s: 1e3 }[unit]!;
}
