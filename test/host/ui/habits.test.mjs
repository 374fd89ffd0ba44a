// The habits of other editors in the graph: Ctrl+F, F3, back and forward.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windows } from './windows.mjs';

const { open } = windows({ files: ['yolo_like.onnx'] });

test('the graph has search, isolation and a way back', async () => {
  const w = await open();
  await w.untilExtensionKnown('yolo_like.onnx');
  await w.openFile('yolo_like.onnx');
  const { keyboard } = w.page;
  const boxes = w.view.getByRole('tree').getByRole('treeitem');
  await boxes.first().waitFor();
  await w.view
    .getByRole('treeitem', { name: /^Graph input/ })
    .first()
    .click();

  // Search by the keys that VS Code passes on.
  const field = w.view.getByLabel('Search nodes');
  await keyboard.press('Control+f');
  await w.view.locator('input:focus').waitFor();
  await field.fill('op:Concat');
  await w.view.getByText(/^\d+ results$/).waitFor();
  await keyboard.press('F3');
  await w.view.getByText(/^1 of \d+$/).waitFor();
  await keyboard.press('F3');
  await w.view.getByText(/^2 of \d+$/).waitFor();
  await keyboard.press('Shift+F3');
  await w.view.getByText(/^1 of \d+$/).waitFor();
  await w.shot('habits-search');
  await keyboard.press('Escape');
  const selected = w.view.getByRole('treeitem', { selected: true });
  await selected.first().waitFor();

  // A part of the graph, and back to the whole.
  await keyboard.press('Alt+i');
  const whole = w.view.getByRole('button', { name: 'Show Whole Graph' });
  await whole.waitFor();
  await w.shot('habits-isolated');
  await keyboard.press('Alt+a');
  await whole.waitFor({ state: 'hidden' });

  // Back and forward through what was selected.
  const last = w.view.locator('.crumbs > li:last-child');
  assert.equal(await last.innerText(), 'Concat');
  await keyboard.press('Control+f');
  await w.view.locator('input:focus').waitFor();
  await w.searchGraph('op:Resize');
  await w.view.getByText(/^1 of \d+$/).waitFor();
  await keyboard.press('Escape');
  await w.view.locator('.crumbs > li:last-child', { hasNotText: 'Concat' }).waitFor();
  const name = await last.innerText();
  assert.notEqual(name, 'Concat');
  await keyboard.press('Alt+ArrowLeft');
  await w.view.locator('.crumbs > li:last-child', { hasText: 'Concat' }).waitFor();
  await keyboard.press('Alt+ArrowRight');
  await w.view.locator('.crumbs > li:last-child', { hasText: name }).waitFor();
  assert.deepEqual(w.violations, []);
});
