// The habits of other editors in the graph: Ctrl+F, F3, back and forward and context menus.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windows } from './windows.mjs';

const { open } = windows({ files: ['yolo_like.onnx'] });

test('the graph has search, isolation, a way back and context menus', async () => {
  const w = await open();
  await w.untilExtensionKnown('yolo_like.onnx');
  await w.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await w.row('yolo_like.onnx').dblclick();
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
  await field.fill('op:Resize');
  await keyboard.press('Enter');
  await w.view.getByText(/^1 of \d+$/).waitFor();
  await keyboard.press('Escape');
  await w.view.locator('.crumbs > li:last-child', { hasNotText: 'Concat' }).waitFor();
  const name = await last.innerText();
  assert.notEqual(name, 'Concat');
  await keyboard.press('Alt+ArrowLeft');
  await w.view.locator('.crumbs > li:last-child', { hasText: 'Concat' }).waitFor();
  await keyboard.press('Alt+ArrowRight');
  await w.view.locator('.crumbs > li:last-child', { hasText: name }).waitFor();

  // The menu of a node: its commands are the editor's.
  await selected.first().click({ button: 'right' });
  await w.menuItem('Copy as Markdown').waitFor();
  await w.shot('habits-menu');
  await w.pickMenuItem('Copy Name');
  await w.menuItem('Copy Name').waitFor({ state: 'hidden' });
  // What was copied is pasted where one searches: it is the name of what the menu was opened on, now selected.
  await keyboard.press('Control+f');
  await w.view.locator('input:focus').waitFor();
  await field.fill('');
  await keyboard.press('Control+v');
  await w.view.getByText(/^\d+ results?$/).waitFor();
  assert.match(await field.inputValue(), /\S/);
  assert.deepEqual(w.violations, []);
});
