// The extension in the host that browsers have: a worker, no Node, no programs.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { stop, windows } from './windows.mjs';

/** The installed extension as vscode.dev sees it: by its entry `browser` alone. */
function webOnly() {
  const extensions = mkdtempSync(join(tmpdir(), 'tensorrt-lens-web-'));
  const [installed] = readdirSync(process.env.EXTENSIONS).filter((name) => name.includes('tensorrt-lens'));
  cpSync(join(process.env.EXTENSIONS, installed), join(extensions, installed), { recursive: true });
  const file = join(extensions, installed, 'package.json');
  const { main: _, extensionKind: __, ...manifest } = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify(manifest));
  return extensions;
}

const extensions = webOnly();
const { open, folder } = windows({ extensions, files: ['fp16_overflow.onnx'] });
after(async () => {
  // The server would write into it again.
  await stop();
  rmSync(extensions, { recursive: true, force: true });
});
// What a URI would write in another way.
const model = 'ü #%41.onnx';
renameSync(join(folder, 'fp16_overflow.onnx'), join(folder, model));
writeFileSync(join(folder, 'rules.trtprec'), `model "./${model}"\nbase fp17\n`);

test('a model, its recorded build and its rules, without Node', async () => {
  const bench = await open();
  const { page } = bench;
  await bench.openGraph(model);

  // The recorded build becomes one of the model's history, which is in the browser's own storage.
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const log = gunzipSync(
    readFileSync('test/fixtures/captures/tensorrt-10.6.0/fp16_overflow.fp16/log.txt.gz'),
  ).toString();
  await page.evaluate((text) => navigator.clipboard.writeText(text), log);
  await bench.runCommand('TensorRT: Paste Build Log or Layer Info');
  await page.locator('.sidebar .monaco-list-row', { hasText: '10.6 ·' }).first().waitFor();

  // The language server, which is a worker of its own.
  await bench.runCommand('View: Show Explorer');
  await bench.openFile('rules.trtprec');
  await page.locator('.squiggly-error').first().waitFor();

  // A recorded build from the extension's own files.
  await bench.runCommand('TensorRT: Open Sample');
  await bench.quickPick('CNN with Many Groups').click();
  await bench.tab('convnext_tiny.onnx').waitFor();
  await bench.group('ForeignNode 19').first().waitFor();
  await bench.shot('web-sample');
  await bench.runCommand('View: Show Explorer');

  // Nothing that would run a program is offered.
  await bench.openContextMenu(model);
  assert.equal(await page.locator('.monaco-menu .action-item', { hasText: 'Build TensorRT Engine' }).count(), 0);
});
