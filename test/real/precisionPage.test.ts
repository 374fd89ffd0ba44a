// Runs the commands of docs/precision.md on the files that the page is about, and holds the page against what they say:
// exit status, places, severities, codes and verdicts. Sentences may be worded anew without a change here.
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { captureText, fixturePath, modelPath } from '../support/fixtures.ts';
import { rtxForTests, temporaryFolder } from '../support/rtx.ts';

const root = join(import.meta.dirname, '../..');
const folder = temporaryFolder();
const page = readFileSync(join(root, 'docs/precision.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(([, text]) => text!);

beforeAll(async () => {
  await rtxForTests();
  for (const model of ['vit_tiny', 'fp16_overflow']) copyFileSync(modelPath(model), join(folder, `${model}.onnx`));
  for (const [name, capture] of [
    ['fp16', 'vit_tiny.fp16'],
    ['idle', 'vit_tiny.prec_noconstraint'],
    ['obey', 'vit_tiny.prec_obey'],
  ]) {
    const from = fixturePath(`captures/tensorrt-10.6.0/${capture}`);
    copyFileSync(join(from, 'log.txt.gz'), join(folder, `${name}.log.gz`));
    copyFileSync(join(from, 'layers.json'), join(folder, `${name}.layers.json`));
  }
  const replay = captureText('tensorrt-10.6.0/vit_tiny.poly_replay/replay.json')!;
  const [first, rest] = replay.split('"{ForeignNode[');
  writeFileSync(join(folder, 'replay.json'), replay);
  writeFileSync(join(folder, 'edited.json'), `${first!.replaceAll('HALF', 'FLOAT')}"{ForeignNode[${rest}`);
  writeFileSync(join(folder, 'failed.log'), captureText('tensorrt-10.6.0/vit_tiny.poly_replay/log2.txt')!);
  for (const text of blocks('trtprec')) {
    const model = /^model \.\/(\w+)\.onnx$/m.exec(text)![1]!;
    writeFileSync(join(folder, `${model}.trtprec`), text);
  }
});

/** What a line says without its sentence: `file:3:9: error not-offered`, `file:5: unseen`, or a whole line without a place. */
const essence = (line: string): string =>
  /^\S+?:\d+(?::\d+)?: (?:(?:error|warning|info) )?[\w-]+/.exec(line)?.[0] ?? line;
const essences = (text: string): string[] => text.trim().split('\n').map(essence);

const examples = blocks('console').map((text) => {
  const [command, ...output] = text.trim().split('\n');
  return { command: command!.replace(/^\$ trtlens /, ''), output: output.join('\n') };
});

test('the page has its examples', () => {
  expect(examples.length).toBeGreaterThan(7);
});

const trtlens = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, 'dist/cli.js'), ...args], { cwd: folder, encoding: 'utf8' });

/** What the page says in a sentence before it verifies: the model that an earlier example wrote becomes an engine. */
function buildTyped(): void {
  const { status, stderr } = trtlens('build', 'fp16_overflow.typed.onnx', '--backend', 'rtx', '--folder', 'builds');
  expect(status, stderr).toBe(0);
  copyFileSync(join(folder, globSync('builds/*/build.log', { cwd: folder })[0]!), join(folder, 'typed.log'));
}

test.each(examples)('trtlens $command', ({ command, output }) => {
  if (command.includes('typed.log')) buildTyped();
  const { status, stdout, stderr } = trtlens(...command.split(' '));
  const notes = stderr.split('\n').filter((line) => /^\S+:\d+:/.test(line));
  const shown = [...notes, ...stdout.trim().split('\n')].filter(
    (line) => !line.startsWith(folder) && !/: [\d,]+ bytes$/.test(line),
  );
  expect(essences(shown.join('\n'))).toEqual(essences(output));
  const wrong = /: (?:error [\w-]+|disobeyed):/.test(output);
  expect(status, stderr).toBe(wrong ? 1 : 0);
});
