// Changes of a model on the installed package, by mouse and keyboard: a part of a detector, and what a failed build offers.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fillWeights } from '../../../src/builder/files/fillWeights.ts';
import { extractPiece } from '../../../src/builder/surgery/extractPiece.ts';
import { pieceOf } from '../../../src/core/surgery/pieceOf.ts';
import { windows } from './windows.mjs';
import { DOWNLOAD } from './workbench.mjs';

const { open, install, folder, cache } = windows({ files: ['yolo_like.onnx'] });
const yolo = fileURLToPath(new URL('../../fixtures/models/yolo_like.onnx', import.meta.url));

before(async () => {
  install();
  // With weights, which the models of the tests lack.
  const own = join(folder, 'yolo_like.onnx');
  const everything = (graph) => pieceOf(graph, graph.nodes.keys(), null);
  await extractPiece({ path: await fillWeights(yolo, cache), pick: everything, out: own, weights: 'embed' });
  writeFileSync(join(folder, 'yolo_broken.onnx'), misspelt(readFileSync(own), 'Sigmoid', 'Sigmoyd'));
});

/** A model of which one node in the middle has an operator that no one knows. */
function misspelt(model, operator, wrong) {
  const field = (text) => Buffer.from(`\x22${String.fromCharCode(text.length)}${text}`, 'latin1');
  const places = [];
  for (let at = model.indexOf(field(operator)); at >= 0; at = model.indexOf(field(operator), at + 1)) places.push(at);
  field(wrong).copy(model, places[places.length >> 1]);
  return model;
}

async function openGraph(w, file) {
  await w.untilExtensionKnown(file, 'Build TensorRT Engine');
  await w.row(file).dblclick();
  await w.view.getByRole('tree').getByRole('treeitem').first().waitFor();
}

/** Takes what VS Code's box for files proposes. */
async function acceptPath(w, title) {
  const box = w.page.locator('.quick-input-widget', { hasText: title });
  await box.getByRole('button', { name: /^(?:OK|Write Here)$/ }).click();
}

test('a module becomes a model of its own, which opens next to it', async () => {
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
  await w.shot('change-2-part');
  assert.ok(existsSync(join(folder, 'yolo_like-part.onnx')));
  assert.ok(original.equals(readFileSync(join(folder, 'yolo_like.onnx'))), 'the model was changed');
  assert.deepEqual(w.violations, []);
});

test('a build that fails for an operator offers a plugin, and asks what the model does not say', async () => {
  const w = await open();
  await openGraph(w, 'yolo_broken.onnx');
  await w.pickInMenu('yolo_broken.onnx', /^Build TensorRT Engine$/);
  await w.view.getByText(/Build failed\..*Sigmoyd/).waitFor({ timeout: DOWNLOAD });
  await w.view.getByRole('button', { name: 'Reduce to a Minimal Model…' }).waitFor();
  await w.shot('change-3-failed');

  await w.view.getByRole('button', { name: 'Replace by Plugin…' }).click();
  await w.page.locator('.quick-input-widget', { hasText: 'Name of the operator' }).waitFor();
  await w.page.keyboard.press('Enter');
  await acceptPath(w, 'Folder for yolo_broken-');
  const question = w.dialog('Does it have the type and shape of input');
  await question.waitFor();
  await w.shot('change-4-type');
  assert.match(await question.innerText(), /float\[1, 96, 16, 16\]/);
  assert.deepEqual(w.violations, []);
});
