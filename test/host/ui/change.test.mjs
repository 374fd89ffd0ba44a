// Changes of a model on the installed package, by mouse and keyboard: a part, a split, a plugin, and what a failed build
// offers, down to the smallest part that fails alike.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bytesOf } from '../../../src/kernel/base/problem.ts';
import { readModel } from '../../../src/kernel/read/onnx/readModel.ts';
import { fillWeights } from '../../../src/kernel/node/files/fillWeights.ts';
import { extractSubgraph } from '../../../src/features/surgery/node/extractSubgraph.ts';
import { subgraphOf } from '../../../src/features/surgery/extractModel.ts';
import { windows } from './windows.mjs';
import { DOWNLOAD } from './workbench.mjs';

const { open, install, folder, cache } = windows({ files: ['yolo_like.onnx', 'bert_base.onnx'] });
/** Small models that are built; the others only lose parts. */
const built = ['yolo_like.onnx', 'fp16_overflow_fp16.onnx'];

before(async () => {
  install();
  // With weights, which the models of the tests lack.
  const everything = (graph) => subgraphOf(graph, graph.nodes.keys(), null);
  for (const file of built) {
    const fixture = fileURLToPath(new URL(`../../fixtures/models/${file}`, import.meta.url));
    // oxlint-disable-next-line no-await-in-loop -- two small models
    const path = await fillWeights(fixture, cache);
    // In place of the one without weights, which is no file of ours.
    rmSync(join(folder, file), { force: true });
    // oxlint-disable-next-line no-await-in-loop
    await extractSubgraph({ path, pick: everything, out: join(folder, file), weights: 'embed' });
  }
  const broken = misspelled(readFileSync(join(folder, 'yolo_like.onnx')), 'Sigmoid', 'Sigmoyd');
  writeFileSync(join(folder, 'yolo_broken.onnx'), broken);
});

/** A model of which one node in the middle has an operator that no one knows. */
function misspelled(model, operator, wrong) {
  const field = (text) => Buffer.from(`\x22${String.fromCharCode(text.length)}${text}`, 'latin1');
  const places = [];
  for (let at = model.indexOf(field(operator)); at >= 0; at = model.indexOf(field(operator), at + 1)) places.push(at);
  field(wrong).copy(model, places[places.length >> 1]);
  return model;
}

async function openGraph(w, file) {
  await w.untilExtensionKnown(file, 'Build TensorRT Engine');
  await w.openFile(file);
  await w.view.getByRole('tree').getByRole('treeitem').first().waitFor();
}

/** Finds a node in the graph, which selects it. */
async function find(w, text) {
  await w.searchGraph(text);
  await w.view.getByRole('treeitem', { selected: true }).first().waitFor();
  await w.page.keyboard.press('Escape');
}

/** Takes what VS Code's box for files proposes. */
async function acceptPath(w, title) {
  await w
    .box(title)
    .getByRole('button', { name: /^(?:OK|Write Here)$/ })
    .click();
}

/** Closes what has opened next to the model, so that the model's graph is the only one. */
async function closeBeside(w, file) {
  await w
    .tab(file)
    .getByRole('button', { name: /^Close/ })
    .click();
  await w.tab(file).waitFor({ state: 'hidden' });
}

test('a part, a split and a plugin of a detector open next to it', async () => {
  const original = readFileSync(join(folder, 'yolo_like.onnx'));
  const w = await open();
  await openGraph(w, 'yolo_like.onnx');
  const module = w.view.getByRole('treeitem', { expanded: false }).first();
  await module.click({ button: 'right' });
  await w.menuItem('Extract Selected Nodes').waitFor();
  await w.shot('change-1-menu');
  await w.pickMenuItem('Extract Selected Nodes');
  await acceptPath(w, 'Extract 3 nodes');
  await w.tab('yolo_like-part.onnx').waitFor();
  await w.viewWith('#root > *');
  await w.shot('change-2-part');
  assert.ok(existsSync(join(folder, 'yolo_like-part.onnx')));
  await closeBeside(w, 'yolo_like-part.onnx');

  await find(w, 'op:Concat');
  await w.changeModel('Split Model Behind Selected Node');
  await acceptPath(w, 'Folder for yolo_like-parts');
  await w.toast('Split into 2 parts').waitFor();
  await w.tab('part-0.onnx').waitFor();
  await w.shot('change-3-split');
  const chain = JSON.parse(readFileSync(join(folder, 'yolo_like-parts/chain.json'), 'utf8'));
  assert.equal(chain.parts.length, 2);
  await closeBeside(w, 'part-0.onnx');

  await find(w, 'op:Sigmoid');
  await w.changeModel('Replace Selected Nodes by Plugin');
  // A question stays when something else gets the focus.
  await w.box('Name of the operator').waitFor();
  await w.view.getByLabel('Search nodes').click();
  await w.enter('Name of the operator');
  await acceptPath(w, 'Folder for yolo_like-MyPlugin');
  await w.toast('Plugin MyPlugin written').waitFor();
  await w.shot('change-4-plugin');
  assert.ok(existsSync(join(folder, 'yolo_like-MyPlugin/MyPlugin_kernel.cu')));
  assert.ok(original.equals(readFileSync(join(folder, 'yolo_like.onnx'))), 'the model was changed');
  assert.deepEqual(w.violations, []);
});

test('a build that fails for an operator offers a plugin and the smallest part that fails alike', async () => {
  const w = await open();
  await openGraph(w, 'yolo_broken.onnx');
  await w.pickInMenu('yolo_broken.onnx', /^Build TensorRT Engine$/);
  await w.view.getByText(/Build failed\..*Sigmoyd/).waitFor({ timeout: DOWNLOAD });
  await w.view.getByRole('button', { name: 'Reduce to a Minimal Model…' }).waitFor();
  await w.shot('change-5-failed');

  await w.view.getByRole('button', { name: 'Replace by Plugin…' }).click();
  await w.enter('Name of the operator');
  await acceptPath(w, 'Folder for yolo_broken-');
  const question = w.dialog('Does it have the type and shape of input');
  await question.waitFor();
  await w.shot('change-7-type');
  await question.getByRole('button', { name: 'Same as the Input' }).click();
  await w.toast('written to').waitFor();
  await w.tab('model.onnx').waitFor();
  await closeBeside(w, 'model.onnx');
  await w.changeModel('Reduce to a Minimal Model');
  await acceptPath(w, 'Folder for yolo_broken-reduced');
  await w.toast(/→ 1 nodes? in \d+ builds/).waitFor({ timeout: DOWNLOAD });
  await w.tab('model.onnx').waitFor();
  await w.shot('change-8-reduced');
  assert.ok(existsSync(join(folder, 'yolo_broken-reduced/build.log')));

  // The problem leads to the same steps.
  await w.runCommand('Problems: Focus on Problems View');
  await w.runCommand('Notifications: Clear All Notifications');
  const problem = w.page.locator('.markers-panel .monaco-list-row', { hasText: 'TensorRT has no importer' });
  await problem.last().getByText('unsupported-op', { exact: true }).click();
  await w.quickPick('Replace by Plugin').waitFor();
  await w.shot('change-6-fixes');
  await w.page.keyboard.press('Escape');
});

test('nodes in a rectangle of a language model become a model', async () => {
  const w = await open();
  await openGraph(w, 'bert_base.onnx');
  await find(w, 'name:layer.3/attention/self/Softmax');
  await w.graphAtRest();
  const { x, y, width, height } = await w.view.getByRole('treeitem', { selected: true }).first().boundingBox();
  await w.page.mouse.move(x - 20, y - 10);
  await w.page.keyboard.down('Shift');
  await w.page.mouse.down();
  await w.page.mouse.move(x + width + 120, y + height + 250, { steps: 4 });
  await w.shot('change-9-rectangle');
  await w.page.mouse.up();
  await w.page.keyboard.up('Shift');
  await w.view.getByText(/^\d+ nodes in the rectangle$/).waitFor();
  await w.changeModel('Extract Selected Nodes');
  await acceptPath(w, /Extract \d+ nodes/);
  await w.tab('bert_base-part.onnx').waitFor();
  await w.viewWith('#root > *');
  await w.shot('change-10-part');
  assert.deepEqual(w.violations, []);
});

test('an output within an attention dissolves this one', async () => {
  const w = await open();
  await openGraph(w, 'fp16_overflow_fp16.onnx');
  await find(w, 'name:layers.1/attn/qk/MatMul');
  await w.changeModel('What If…');
  await w.quickPick('Mark as Output').waitFor();
  await w.shot('change-11-what-if');
  await w.quickPick('Mark as Output').click();
  const found = w.toast('nodes split');
  await found.waitFor({ timeout: DOWNLOAD });
  await found.hover(); // It stays as long as the pointer is on it.
  await w.tab('What If: Output').waitFor();
  const page = await w.viewWith('.change-list li');
  await page.getByText('1 dissolved').first().waitFor();
  await page.getByRole('heading', { name: 'fp16_overflow_fp16.onnx:' }).waitFor();
  await w.shot('change-12-what-if-result');
  // What was tried becomes a model next to it, with the output.
  await found.getByRole('button', { name: 'Keep This Change' }).click();
  await acceptPath(w, 'Keep This Change');
  await w.tab('fp16_overflow_fp16.changed.onnx').waitFor();
  const { value } = await readModel(bytesOf(readFileSync(join(folder, 'fp16_overflow_fp16.changed.onnx'))));
  assert.deepEqual(
    value.graph.outputs.map(({ name }) => name).filter((name) => name.includes('layers.1/attn/qk/MatMul')),
    ['/layers.1/attn/qk/MatMul_output_0'],
  );
  await w.shot('change-13-kept');
  assert.deepEqual(w.violations, []);
});
