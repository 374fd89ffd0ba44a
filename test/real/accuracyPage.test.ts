// Runs the commands of docs/accuracy.md on the files that the page is about, and holds the page against what they say:
// names of nodes, numbers and verdicts. Sentences may be worded anew without a change here.
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { fixturePath } from '../support/fixtures.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { runtimeForTests } from '../support/runtime.ts';

const root = join(import.meta.dirname, '../..');
const folder = temporaryFolder();
const page = readFileSync(join(root, 'docs/accuracy.md'), 'utf8');
const examples = [...page.matchAll(/```console\n\$ trtlens ([^\n]+)\n(.*?)```/gs)].map(([, command, output]) => ({
  command: command!,
  output: output!,
}));

beforeAll(async () => {
  await runtimeForTests();
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
  const args = [join(root, 'dist/cli.js'), ...command.split(' ')];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  const shown = stdout.split('\n').filter((line) => !/: [\d,]+ bytes$/.test(line));
  expect(essences(shown.join('\n'))).toEqual(essences(output));
  expect(status, stderr).toBe(/fail(?:s|ed)\b/.test(output) ? 1 : 0);
});
