// Runs the commands of docs/how-to-*.md and docs/gate.md, and compares what they print with the page. `npm run golden` writes it anew.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
// @ts-expect-error -- the build script is plain JavaScript
import { cliBundle } from '../../../esbuild.mjs';
import { readLauncher } from '../../../src/core/build/launcher.ts';
import { fixturePath, modelPath } from '../../support/fixtures.ts';
import { temporaryFolder } from '../../support/rtx.ts';

const root = join(import.meta.dirname, '../../..');
const docs = join(root, 'docs');
const folder = temporaryFolder();
const update = process.env['UPDATE_GOLDEN'] === '1';

beforeAll(async () => {
  await build({ ...cliBundle(join(folder, 'dist')), absWorkingDir: root, logLevel: 'error' });
  writeFileSync(join(folder, 'dist/package.json'), '{ "type": "module" }');
  mkdirSync(join(folder, 'dist/webview'));
  copyFileSync(join(root, 'webview/playground/index.html'), join(folder, 'dist/webview/playground.html'));
  for (const name of ['playground.js', 'playground.css']) writeFileSync(join(folder, 'dist/webview', name), '');
  symlinkSync(join(root, 'examples'), join(folder, 'examples'));
  copyFileSync(modelPath('fp16_overflow'), join(folder, 'model.onnx'));
  // Two exports of one encoder, built with TensorRT 10.6 on an H200.
  for (const [onnx, model, capture, report] of [
    ['encoder.onnx', 'fp16_overflow', 'fp16_overflow.fp16', 'before.json'],
    ['encoder_mixed.onnx', 'fp16_overflow_mixed', 'fp16_overflow_mixed.typed', 'after.json'],
  ] as const) {
    copyFileSync(modelPath(model), join(folder, onnx));
    const file = (name: string) => fixturePath(`captures/tensorrt-10.6.0/${capture}/${name}`);
    const files = ['--log', file('log.txt.gz'), '--layers', file('layers.json'), '--profile', file('profile.json')];
    writeFileSync(join(folder, report), trtlens(['fusion', '--onnx', onnx, ...files, '--json']).stdout);
  }
});

const trtlens = (args: string[]) =>
  spawnSync(process.execPath, [join(folder, 'dist/cli.js'), ...args], { cwd: folder, encoding: 'utf8' });

/** A block as a shell would make it: what each line behind `$` prints. A last line `…` on the page stands for the rest. */
function replayed(block: string): string {
  let status = 0;
  return block.replaceAll(/^\$ (.+)\n((?:(?!\$ ).*\n)*)/gm, (_, command: string, shown: string) => {
    const [program, ...args] = command.split(' ');
    if (command === 'echo $?') return `$ ${command}\n${status}\n`;
    if (program === 'cat') return `$ ${command}\n${readFileSync(join(folder, args[0]!), 'utf8')}`;
    expect(program).toBe('trtlens');
    const ran = trtlens(args);
    status = ran.status ?? -1;
    expect(status === 0 || block.includes(`$ echo $?\n${status}`), `${command}: ${status} ${ran.stderr}`).toBe(true);
    const output = `${ran.stdout}${ran.stderr}`.trim();
    const lines = shown.trimEnd().split('\n');
    const text = lines.at(-1) === '…' ? [...output.split('\n').slice(0, lines.length - 1), '…'].join('\n') : output;
    return `$ ${command}\n${text && `${text}\n`}`;
  });
}

const howTos = readdirSync(docs).filter((name) => name.startsWith('how-to-'));
const pages = [...howTos, 'gate.md'];

test('there are pages', () => {
  expect(howTos.length).toBeGreaterThan(2);
});

describe.each(pages)('%s', (name) => {
  const path = join(docs, name);
  const page = readFileSync(path, 'utf8');
  const blocks = (language: string): string[] =>
    [...page.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, text]) => text!);

  test('its commands print what it shows', () => {
    for (const text of blocks('trtprec')) writeFileSync(join(folder, 'model.trtprec'), text);
    let current = page;
    for (const text of blocks('console')) current = current.replace(text, () => replayed(text));
    if (update) writeFileSync(path, current);
    expect(current).toBe(update ? current : page);
  });

  test('its scripts use commands and options that exist', () => {
    const scripts = [...blocks('sh'), ...blocks('yaml')].join('\n').replaceAll('\\\n', ' ');
    for (const [, command, rest] of scripts.matchAll(/(?:^\s*|- |run: )trtlens (\w[\w-]*)([^\n|>#]*)/gm)) {
      const { stdout, status } = trtlens([command!, '--help']);
      expect(status, command).toBe(0);
      for (const option of rest!.match(/(?<= )--[a-z][\w-]*/g) ?? []) expect(stdout, command).toContain(option);
    }
  });

  if (howTos.includes(name))
    test('its launchers are right', () => {
      for (const text of blocks('yaml'))
        expect(readLauncher(parse(text))).toMatchObject({ command: expect.any(Array) as unknown });
    });

  test('its links lead somewhere', () => {
    const files = [...page.matchAll(/\]\(([\w.-]+\.md)/g)].map(([, file]) => file!);
    expect(files.filter((file) => !readdirSync(docs).includes(file))).toEqual([]);
  });
});
