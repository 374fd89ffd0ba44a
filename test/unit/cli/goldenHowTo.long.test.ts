// Runs the commands of docs/how-to-*.md and compares what they print with the page. `npm run golden` writes it anew.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
// @ts-expect-error -- the build script is plain JavaScript
import { cliBundle } from '../../../esbuild.mjs';
import { readLauncher } from '../../../src/core/build/launcher.ts';
import { modelPath } from '../../support/fixtures.ts';
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
});

/** What a command prints, as a page shows it: stdout, then stderr. */
function printed(command: string): string {
  const args = [join(folder, 'dist/cli.js'), ...command.split(' ')];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return `${stdout}${stderr}`.trim();
}

const pages = readdirSync(docs).filter((name) => name.startsWith('how-to-'));

test('there are pages', () => {
  expect(pages.length).toBeGreaterThan(2);
});

describe.each(pages)('%s', (name) => {
  const path = join(docs, name);
  const page = readFileSync(path, 'utf8');
  const blocks = (language: string): string[] =>
    [...page.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, text]) => text!);

  test('its commands print what it shows', () => {
    for (const text of blocks('trtprec')) writeFileSync(join(folder, 'model.trtprec'), text);
    let current = page;
    for (const text of blocks('console')) {
      const command = /^\$ trtlens (.*)$/m.exec(text)![1]!;
      const output = printed(command);
      current = current.replace(text, () => `$ trtlens ${command}\n${output && `${output}\n`}`);
    }
    if (update) writeFileSync(path, current);
    expect(current).toBe(update ? current : page);
  });

  test('its launchers are right', () => {
    for (const text of blocks('yaml'))
      expect(readLauncher(parse(text))).toMatchObject({ command: expect.any(Array) as unknown });
  });

  test('its links lead somewhere', () => {
    const files = [...page.matchAll(/\]\(([\w.-]+\.md)/g)].map(([, file]) => file!);
    expect(files.filter((file) => !readdirSync(docs).includes(file))).toEqual([]);
  });
});
