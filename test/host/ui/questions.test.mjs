// Ten questions that people ask about an engine, each answered in one window on the installed package, nine from recorded builds.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { importBuild } from '../../../src/kernel/node/run/importBuild.ts';
import { windows } from './windows.mjs';
import { STEP } from './workbench.mjs';

const fixtures = fileURLToPath(new URL('../../fixtures/', import.meta.url));
const { open, install, folder, cache } = windows({
  files: ['vit_tiny.onnx', 'fp16_overflow_fp16.onnx'],
});

const model = (name, from) => copyFileSync(fixtures + from, join(folder, name));
const recorded = (name, files) =>
  importBuild({ model: join(folder, name), pieces: files.map((file) => ({ file: fixtures + file })), cache });

model('tiny_vit.onnx', 'torch/vision/tiny_vit.onnx');
mkdirSync(join(folder, 'code'));
for (const file of ['blocks.py', 'tiny_vit.py']) model(`code/${file}`, `torch/vision/${file}`);
await recorded('tiny_vit.onnx', ['torch/vision/build.log.gz']);
const captured = (build, ...files) => files.map((file) => `captures/tensorrt-10.6.0/${build}/${file}`);
await recorded('vit_tiny.onnx', captured('vit_tiny.fp16', 'log.txt.gz', 'layers.json', 'profile.json'));
await recorded(
  'fp16_overflow_fp16.onnx',
  captured('fp16_overflow_fp16.typed', 'log.txt.gz', 'layers.json', 'profile.json'),
);
model('decoder.onnx', 'builds/gpt_kv/model.onnx');
const { folder: decoder } = await recorded('decoder.onnx', ['builds/gpt_kv/build.log.gz']);
copyFileSync(`${fixtures}builds/gpt_kv/dynamic-shapes.json`, join(decoder, 'dynamic-shapes.json'));
model('attention.onnx', 'builds/new_layers/attention.onnx');
await recorded('attention.onnx', ['builds/new_layers/attention.log.gz']);
model('split.onnx', 'ort/split/model.onnx');
await recorded('split.onnx', ['ort/split/log.txt.gz']);
writeFileSync(join(folder, 'cnn.onnx'), gunzipSync(readFileSync(`${fixtures}int8/model.onnx.gz`)));
model('cnn.cache', 'int8/calibration.cache');
await recorded('cnn.onnx', ['int8/layers.json']);
model('small.onnx', 'faults/softmax_no_max/model.onnx');
model('model.onnx', 'models/fp16_overflow.onnx');
copyFileSync('examples/for-tensorrt-8/build.sh', join(folder, 'build.sh'));

install();

const inspector = (w) => w.view.locator('.graph-inspector');
const show = async (w, name) => {
  await w.openFile(name);
  await w.view.getByRole('treeitem').first().waitFor();
  await w.graphAtRest();
};

test('which line of my Python', async () => {
  const w = await open();
  await w.openGraph('tiny_vit.onnx', 'Build TensorRT Engine');
  await w.searchGraph('node_softmax');
  await w.shot('questions-1-node');
  await inspector(w).getByRole('button', { name: 'blocks.py:30' }).click();
  const lens = w.lens(/\(ForeignNode 0\) · 2 nodes/).first();
  await lens.waitFor();
  await w.shot('questions-1-python');
  await lens.click();
  await inspector(w).getByRole('heading', { name: '2 nodes selected' }).waitFor();
  await w.shot('questions-1-back');
  assert.deepEqual(w.violations, []);
});

test('what must change for TensorRT 11', async () => {
  const w = await open();
  await w.openFile('build.sh');
  await w.page.locator('.squiggly-warning').first().waitFor();
  await w.line(/^trtexec /).click({ position: { x: 460, y: 8 } });
  await w.quickFix('Write the Typed Model and Its Command', { shot: 'questions-2-fix' });
  await w
    .box('Write Typed Model')
    .getByRole('button', { name: 'OK' })
    .click({ timeout: STEP / 4 });
  await w.toast('Build model.typed.onnx with: trtexec').waitFor();
  await w.shot('questions-2-typed');
  assert.deepEqual(w.violations, []);
});

test('where the memory goes', async () => {
  const w = await open();
  await show(w, 'vit_tiny.onnx');
  await w.pickInGraph(w.view.locator('.graph-stage'), 'Show Memory', { x: 0.03, y: 0.9 });
  const page = await w.viewWith('h1:has-text("memory")');
  await page.getByText('just what TensorRT recorded').waitFor();
  await w.shot('questions-3-memory', { toasts: false });
  assert.deepEqual(w.violations, []);
});

test('why this tactic', async () => {
  const w = await open();
  await show(w, 'vit_tiny.onnx');
  await w.searchGraph('/patch_embed/proj/Conv');
  const node = w.view.getByRole('treeitem', { selected: true }).first();
  await w.pickInGraph(node, /^Tactics$/);
  const page = await w.viewWith('h1:has-text("why this tactic")');
  await page.getByText('It is the fastest of 168 candidates').waitFor();
  await w.shot('questions-10-tactics', { toasts: false });
  assert.deepEqual(w.violations, []);
});

test('what a fusion saved', async () => {
  const w = await open();
  await show(w, 'fp16_overflow_fp16.onnx');
  await w.searchGraph('/layers.1/attn/softmax/Softmax');
  await inspector(w).getByRole('button', { name: 'Select Group' }).click();
  await inspector(w).getByText('Saved by fusion').waitFor();
  await w.shot('questions-8-saved');
  assert.deepEqual(w.violations, []);
});

test('what dynamic shapes cost', async () => {
  const w = await open();
  await show(w, 'decoder.onnx');
  await w.runCommand('TensorRT: Open Fusion Page');
  const page = await w.viewWith('text=the engine has 17 kernels fewer');
  await page.getByText('the engine has 17 kernels fewer (19 instead of 36)').first().waitFor();
  await w.shot('questions-5-dynamic');
  assert.deepEqual(w.violations, []);
});

test('which new layers an engine has', async () => {
  const w = await open();
  await show(w, 'attention.onnx');
  await w.runCommand('TensorRT: Open Fusion Page');
  const page = await w.viewWith('text=IRotaryEmbeddingLayer');
  await page.getByText('IRotaryEmbeddingLayer').first().waitFor();
  await w.shot('questions-7-layers');
  assert.deepEqual(w.violations, []);
});

test('explicit INT8 like the implicit one', async () => {
  const w = await open();
  await show(w, 'cnn.onnx');
  await w.runCommand('TensorRT: Use a Calibration Cache');
  await w.quickPick('cnn.cache').click({ timeout: STEP / 4 });
  await w.toast('of cnn.cache').waitFor();
  await w.runCommand('TensorRT: Write Scales of the Cache as Q/DQ Nodes');
  await w
    .box('Write Scales as Q/DQ Nodes')
    .getByRole('button', { name: 'OK' })
    .click({ timeout: STEP / 4 });
  await w.tab('cnn.int8.onnx').waitFor();
  await w.toast('6 activations, 6 weight tensors').waitFor();
  await w.shot('questions-4-int8');
  assert.deepEqual(w.violations, []);
});

test('against what', async () => {
  const w = await open();
  await show(w, 'small.onnx');
  await w.runCommand('TensorRT: Precision Sweep');
  await w.quickPick('Random Values').click({ timeout: STEP / 4 });
  const page = await w.viewWith('th:has-text("per second")');
  await page.getByText('ONNX Runtime FP32').first().waitFor();
  await w.shot('questions-9-table');
  assert.deepEqual(w.violations, []);
});
