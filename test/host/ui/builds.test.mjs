// Builds that do not simply succeed, and what the side bar offers, on the installed package.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { windows } from './windows.mjs';

const { open, install, folder, cache } = windows({ files: ['vit_tiny.onnx', 'fp16_overflow.onnx'] });

test('a no to the download builds nothing and says so', async () => {
  const w = await open();
  await w.untilExtensionKnown('fp16_overflow.onnx', 'Build TensorRT Engine');
  await w.pickInMenu('fp16_overflow.onnx', 'Build TensorRT Engine');
  const question = w.dialog('Download NVIDIA TensorRT-RTX?');
  await question.waitFor();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await w.terminal('was not installed').waitFor();
  const left = existsSync(cache) ? readdirSync(cache).filter((name) => name.startsWith('tensorrt-rtx')) : [];
  assert.deepEqual(left, []);
});

test('a model without its weights can be built with random ones, and is searched and sorted', async () => {
  install();
  const w = await open();
  await w.untilExtensionKnown('vit_tiny.onnx', 'Build TensorRT Engine');
  await w.pickInMenu('vit_tiny.onnx', 'Build TensorRT Engine');
  const failure = w.toast('Could not build vit_tiny.onnx');
  await failure.waitFor();
  assert.match(await failure.innerText(), /weights\.bin/);
  await w.shot('builds-1-no-weights');
  await failure.getByRole('button', { name: 'Build with Random Weights' }).click();

  await w.message.getByText(/\d+ layers? · 1 ForeignNode · \d+ folded/).waitFor();
  await w.group('ForeignNode 0').waitFor();
  await w.shot('builds-2-vit');

  await w.runCommand('TensorRT: Search Fusion Groups');
  await w.box('Filter by name, operator or layer').locator('input.input').fill('Softmax');
  await w.message.getByText(/“Softmax”: 1\d nodes/).waitFor();
  await w.enter('Filter by name');
  await w.group('ForeignNode 0').click();
  await w.shot('builds-3-search');
  await w.runCommand('TensorRT: Clear Search');
  await w.message.getByText('“Softmax”').waitFor({ state: 'hidden' });
  await w.group('Not computed').waitFor(); // All groups are back, and none is expanded any more.

  // Down to a node of a block, for the picture of the documentation.
  await w.hidePanel();
  await w.expand(w.group('ForeignNode 0'));
  await w.expand(w.group('blocks.0 …'));
  await w.expand(w.group('blocks.3,'));
  await w.group('attn,').click();
  await w.view.getByRole('heading', { name: /^attn/ }).waitFor(); // As where it is selected in the graph.
  await w.expand(w.group('attn,'));
  await (await w.scrollTo(w.group('Softmax,'))).click();
  await w.view.getByRole('treeitem', { name: /^Softmax.*Attention ×/, selected: true }).waitFor();
  await w.shot('builds-6-vit-node', { docs: 'node' });
});

test('the fusion page shows the build, and a click there selects in the side bar', async () => {
  const w = await open();
  await w.untilExtensionKnown('vit_tiny.onnx', 'Build TensorRT Engine');
  await w.row('vit_tiny.onnx').click();
  // VS Code may never load one of two webviews that open at the same moment (microsoft/vscode#312020).
  await w.view.locator('canvas').first().waitFor();
  await w.runCommand('TensorRT: Open Fusion Page');
  await w.tab('Fusion of vit_tiny.onnx').waitFor();
  await w.view.locator('svg text', { hasText: 'Changes no data' }).waitFor(); // Among the last that are drawn.
  await w.shot('builds-4-page', { docs: 'fusion-page' });
  await w.showSideBar();
  await w.group('ForeignNode 0').waitFor();
  await w.view
    .locator('.flow')
    .getByRole('button', { name: /Attention ×/ })
    .click();
  await w.selectedRow('ForeignNode 0').waitFor();
  assert.deepEqual(w.violations, []);
});

test('a page whose script gets lost on its way is loaded again', async () => {
  const w = await open();
  await w.openGraph('vit_tiny.onnx', 'Build TensorRT Engine');
  // As when VS Code's service worker is replaced meanwhile: no answer ever comes.
  const workers = w.page.context().serviceWorkers();
  const worker = workers.find((one) => one.url().includes('/webview/'));
  assert.ok(worker, `No worker of the webviews among ${workers.map((one) => one.url()).join(', ')}`);
  await worker.evaluate(() => {
    const { create } = resourceRequestStore;
    globalThis.lost = 0;
    resourceRequestStore.create = function () {
      if (globalThis.lost === 2) return create.call(this);
      globalThis.lost += 1;
      return { requestId: -globalThis.lost, promise: new Promise(() => {}) };
    };
  });
  await w.runCommand('TensorRT: Open Fusion Page');
  await w.tab('Fusion of vit_tiny.onnx').waitFor();
  await w.view.locator('svg text', { hasText: 'Changes no data' }).waitFor();
  assert.equal(await worker.evaluate(() => globalThis.lost), 2);
});

test('a file that is no model says what it is, and where it breaks off', async () => {
  writeFileSync(join(folder, 'broken.onnx'), 'this is no model\n');
  const w = await open();
  await w.untilExtensionKnown('vit_tiny.onnx', 'Build TensorRT Engine');
  await w.openFile('broken.onnx');
  await w.view
    .getByText(/text file/)
    .first()
    .waitFor();
  await w.shot('builds-5-broken');
});
