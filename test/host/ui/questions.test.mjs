// Questions that people ask about an engine, answered from recorded builds, in one window on the installed package.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { importBuild } from '../../../src/builder/run/importBuild.ts';
import { windows } from './windows.mjs';
import { STEP } from './workbench.mjs';

const fixtures = fileURLToPath(new URL('../../fixtures/', import.meta.url));
const { open, folder, cache } = windows({ files: ['vit_tiny.onnx'] });

const model = (name, from) => copyFileSync(fixtures + from, join(folder, name));
const recorded = (name, files) =>
  importBuild({ model: join(folder, name), pieces: files.map((file) => ({ file: fixtures + file })), cache });

model('tiny_vit.onnx', 'torch/vision/tiny_vit.onnx');
mkdirSync(join(folder, 'code'));
for (const file of ['blocks.py', 'tiny_vit.py']) model(`code/${file}`, `torch/vision/${file}`);
await recorded('tiny_vit.onnx', ['torch/vision/build.log.gz']);
const captured = (build, ...files) => files.map((file) => `captures/tensorrt-10.6.0/${build}/${file}`);
await recorded('vit_tiny.onnx', captured('vit_tiny.fp16', 'log.txt.gz', 'layers.json', 'profile.json'));
model('model.onnx', 'models/fp16_overflow.onnx');
copyFileSync('examples/for-tensorrt-8/build.sh', join(folder, 'build.sh'));

test('which line of Python, what must change for TensorRT 11, and where the memory goes', async () => {
  const w = await open();
  const { view } = w;
  const inspector = view.locator('.graph-inspector');
  const show = async (name) => {
    await w.runCommand('View: Show Explorer');
    await w.openFile(name);
    await view.getByRole('treeitem').first().waitFor();
    await w.graphAtRest();
  };

  // Which line of my Python?
  await w.openGraph('tiny_vit.onnx', 'Build TensorRT Engine');
  await w.searchGraph('node_softmax');
  await w.shot('questions-1-node');
  await inspector.getByRole('button', { name: 'blocks.py:30' }).click();
  const lens = w.lens(/\(ForeignNode 0\) · 2 nodes/).first();
  await lens.waitFor();
  await w.shot('questions-1-python');
  await lens.click();
  await inspector.getByRole('heading', { name: '2 nodes selected' }).waitFor();
  await w.shot('questions-1-back');

  // What must change for TensorRT 11?
  await w.runCommand('View: Show Explorer');
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
  // One column for the graph, whatever was opened next to the script.
  await w.runCommand('View: Single Column Editor Layout');

  // Where does the memory go?
  await show('vit_tiny.onnx');
  await w.pickInGraph(view.locator('.graph-stage'), 'Show Memory', { x: 0.03, y: 0.9 });
  const page = await w.viewWith('h1:has-text("memory")');
  await page.getByText('just what TensorRT recorded').waitFor();
  await w.shot('questions-3-memory', { toasts: false });
  assert.deepEqual(w.violations, []);
});
