// Runs the commands of docs/precision.md on the files that the page is about, and holds the page against what they say:
// exit status, places, severities, codes and verdicts. Sentences may be worded anew without a change here.
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';
import { captureText, fixturePath, modelPath } from '../../support/fixtures.ts';
import { temporaryFolder } from '../../support/rtx.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = temporaryFolder();
const page = readFileSync(join(root, 'docs/precision.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(([, text]) => text!);

beforeAll(async () => {
  await build({
    entryPoints: [join(root, 'src/cli/main.ts')],
    outfile: join(folder, 'cli.cjs'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    logLevel: 'error',
  });
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
// The log of this one is of a build with TensorRT-RTX: test/real makes such builds.
const recorded = examples.filter(({ command }) => !command.includes('typed.log'));

test('the page has its examples', () => {
  expect(recorded.length).toBe(examples.length - 1);
  expect(recorded.length).toBeGreaterThan(6);
});

test.each(recorded)('trtlens $command', ({ command, output }) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['cli.cjs', ...command.split(' ')], {
    cwd: folder,
    encoding: 'utf8',
  });
  const notes = stderr.split('\n').filter((line) => /^\S+:\d+:/.test(line));
  const shown = [...notes, ...stdout.trim().split('\n')].filter(
    (line) => !line.startsWith(folder) && !/: [\d,]+ bytes$/.test(line),
  );
  expect(essences(shown.join('\n'))).toEqual(essences(output));
  const wrong = /: (?:error [\w-]+|disobeyed):/.test(output);
  expect(status, stderr).toBe(wrong ? 1 : 0);
});
