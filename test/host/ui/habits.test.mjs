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

  await w.view.getByRole('button', { name: 'Fit', exact: true }).click();
  // Modules that look alike but are not one after the other are no stack.
  for (const name of [/^d1,/, /^d4,/, /^n1,/, /^n4,/]) await w.view.getByRole('treeitem', { name }).waitFor(); // oxlint-disable-line no-await-in-loop
  assert.equal(await w.view.getByRole('treeitem', { name: /×/ }).count(), 0);

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
  // In the field, too, and by the mouse in the list.
  await field.press('Enter');
  await w.view.getByText(/^2 of \d+$/).waitFor();
  await field.press('Shift+Enter');
  await w.view.getByText(/^1 of \d+$/).waitFor();
  await w.view.getByRole('option').nth(2).click();
  await w.view.getByText(/^3 of \d+$/).waitFor();
  await w.view.getByRole('option').first().click();
  await w.view.getByText(/^1 of \d+$/).waitFor();
  await field.press('Escape');
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

  // The way of modules to a node leads to each of them by a key and by a click.
  await field.fill('op:MaxPool');
  await field.press('Enter');
  await w.view.getByText(/^1 of \d+$/).waitFor();
  await field.press('Escape');
  const sppf = w.view.getByRole('treeitem', { name: /^sppf/ }).first();
  const selectedSppf = w.view.getByRole('treeitem', { name: /^sppf/, selected: true });
  await w.view.locator('.crumbs').getByRole('button', { name: 'sppf' }).press('Enter');
  await selectedSppf.waitFor();

  // The paths between two of its nodes, by a key and by the menu.
  const pools = w.view.getByRole('treeitem', { name: /^MaxPool/ });
  await w.graphAtRest();
  await pools.first().click();
  await pools.nth(1).click({ modifiers: ['Control'] });
  await w.view.getByRole('heading', { name: '2 nodes selected' }).waitFor();
  await pools.nth(1).press('Alt+p');
  const paths = w.view.locator('.graph-part', { hasText: 'the paths between two nodes' });
  await paths.waitFor();
  await w.shot('habits-paths');
  await keyboard.press('Alt+a');
  await whole.waitFor({ state: 'hidden' });
  await w.pickInGraph(pools.nth(1), 'Isolate Paths Between Two Selected Nodes');
  await paths.waitFor();
  await whole.click();
  await whole.waitFor({ state: 'hidden' });
  await pools.first().click();
  await w.view.locator('.crumbs').getByRole('button', { name: 'sppf' }).click();
  await selectedSppf.waitFor();

  // The same by the menu of a box, and back by the button.
  await w.pickInGraph(sppf, 'Isolate Selection and Neighbors', { y: 0, below: 8 });
  await whole.click();
  await whole.waitFor({ state: 'hidden' });
  await sppf.press('Alt+x');
  await w.view.getByRole('treeitem', { name: /^act,/, expanded: true }).first().waitFor();
  await w.view.getByRole('button', { name: 'Collapse All' }).click();
  const expanded = w.view.getByRole('treeitem', { expanded: true });
  await expanded.first().waitFor({ state: 'hidden' });
  await w.view.getByRole('button', { name: 'Fit', exact: true }).click();
  await w.pickInGraph(sppf, 'Expand All Modules');
  await expanded.first().waitFor();
  assert.deepEqual(w.violations, []);

  // What else can be done with the model is in one submenu.
  await w.page.locator('.editor-actions [aria-label^="More Actions"]').first().click();
  await w.menuItem('TensorRT').waitFor();
  assert.ok(await w.openSubmenu('Change the Model'));
  await w.shot('habits-menu');
  await w.closeMenu();

  // All of these keys can be changed in the editor of keyboard shortcuts.
  await w.page.locator('.activitybar .action-label[aria-label^="Manage"]').click();
  await w.pickMenuItem('Keyboard Shortcuts');
  const shortcuts = w.page.locator('.keybindings-editor');
  await shortcuts.locator('.keybindings-header input').first().fill('tensorrtLens.graph');
  for (const command of ['Find in Graph', 'Isolate Selection and Neighbors', 'Expand All Modules'])
    // oxlint-disable-next-line no-await-in-loop -- one row after the other
    await shortcuts
      .locator('.monaco-list-row', { hasText: command })
      .filter({ has: w.page.locator('.monaco-keybinding-key') })
      .first()
      .waitFor();
  await w.shot('habits-shortcuts');
});
