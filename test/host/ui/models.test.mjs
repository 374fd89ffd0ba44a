// Models that are hard to show, each with a build that was recorded, one after the other in a window on the installed
// package: many groups, many nodes, If and Loop; the menus of graph and side bar; the way from the log and back.
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { importBuild } from '../../../src/kernel/node/run/importBuild.ts';
import { windows } from './windows.mjs';

const { open, folder, cache } = windows({
  files: ['deep_encoder_11k.onnx', 'loop_if.onnx'],
  settings: { 'tensorrtLens.launchers': { 'gpu-box': { command: ['ssh', 'gpu-box', '{shell}'] } } },
});
const fixtures = fileURLToPath(new URL('../../fixtures/', import.meta.url));
const imported = (model, files) =>
  importBuild({ model: join(folder, model), pieces: files.map((file) => ({ file: fixtures + file })), cache });

copyFileSync(`${fixtures}convnext_tiny/model.onnx`, join(folder, 'convnext_tiny.onnx'));
await imported(
  'convnext_tiny.onnx',
  ['log.txt.gz', 'layers.json.gz', 'profile.json'].map((name) => `convnext_tiny/${name}`),
);
const captured = (name, ...files) => files.map((file) => `captures/tensorrt-10.6.0/${name}/${file}`);
await imported(
  'deep_encoder_11k.onnx',
  captured('deep_encoder_11k.fp32', 'log.txt.gz', 'layers.json.gz', 'profile.json.gz'),
);
await imported('loop_if.onnx', captured('loop_if.fp32', 'log.txt', 'layers.json', 'profile.json'));

async function openGraph(w, file) {
  await w.untilExtensionKnown(file);
  await w.openFile(file);
  await w.view.getByRole('treeitem').first().waitFor();
  await w.showSideBar();
  await w.graphAtRest();
}

test('convnext_tiny: its 20 groups by legend, bar, search and time, and the menus of a group and of a row', async () => {
  const w = await open();
  await openGraph(w, 'convnext_tiny.onnx');
  await w.view.getByText(/20 ForeignNodes/).waitFor();
  await w.shot('models-1-convnext');

  // The largest group of the legend.
  await w.view.locator('.legend-groups > summary').click();
  const entry = w.view.locator('.legend-entries .legend-line').first();
  const text = await entry.innerText();
  const [name, number] = /ForeignNode (\d+)/.exec(text);
  const title = text.split('\n')[0].replace(/ · [\d.]+ [µm]s$/, '');
  await entry.click();
  await w.selectedRow(name).waitFor();
  await w.view.locator('.graph-inspector h2', { hasText: title }).waitFor();
  await w.shot('models-2-group');
  await w.page.keyboard.press('Escape');

  // The part of a collapsed module's bar is its group's, with the group's menu.
  await w.view.getByRole('button', { name: 'Collapse All' }).click();
  await w.graphAtRest();
  const module = w.view.getByRole('treeitem', { expanded: false }).last();
  await w.pickInGraph(module, /^Name$/, { y: 1, below: -8 });
  await w.copied(/^\{ForeignNode\[|^\/|^\w/);
  await w.view
    .locator('.graph-inspector h2', { hasText: /ForeignNode \d+|×| · / })
    .first()
    .waitFor();

  // By keyboard: the same group by a search.
  await w.page.keyboard.press('Control+f');
  await w.view.locator('input:focus').waitFor();
  await w.searchGraph(`group:${number} op:Erf`);
  await w.view.getByText(/^1 of \d+$/).waitFor();
  await w.page.keyboard.press('Escape');

  // Times, from the profile.
  await w.view.locator('.graph-legend select').selectOption('time');
  await w.view.locator('.legend-list', { hasText: /0.1 – 0.3 %/ }).waitFor();
  assert.equal(await w.view.locator('.graph-state').isVisible(), false);
  await w.shot('models-3-time');

  // A row of the side bar has the same menu.
  await w.pickInRow(w.group(name), /^Name$/);
  await w.copied(/^\{ForeignNode\[/);
  await w.pickInRow(w.group(name), /^.trtprec Selector$/);
  await w.copied(/^\/stages\//);

  // From the side bar, by the mouse and by keys: the graph expands what hides it, and shows it.
  const expanded = w.view.getByRole('treeitem', { expanded: true });
  await w.view.getByRole('button', { name: 'Collapse All' }).click();
  await expanded.first().waitFor({ state: 'hidden' });
  await w.group(name).click();
  await expanded.first().waitFor();
  const shown = w.view.locator('.graph-inspector h2', { hasText: title });
  await shown.waitFor();
  const tree = w.page.locator('.sidebar .tree-explorer-viewlet-tree-view .monaco-list').first();
  await tree.press('ArrowDown');
  await tree.press('Enter');
  await shown.waitFor({ state: 'hidden' });
  await w.view.locator('.graph-inspector h2').first().waitFor();
  await w.shot('models-13-side-bar');
  assert.deepEqual(w.violations, []);
});

test('convnext_tiny: what the search asks of a build, the table and the timeline, by mouse and by keys', async () => {
  const w = await open();
  await openGraph(w, 'convnext_tiny.onnx');
  const field = w.view.getByLabel('Search nodes');
  for (const text of ['fate:folded', 'kernel:gemm', 'dtype:fp32', 'group:0', '/blocks\\.[01]\\/mlp/']) {
    // oxlint-disable no-await-in-loop -- one search after the other
    await field.fill(text);
    await w.view.getByText(/^[\d,]+ results$/).waitFor();
    await field.press('Shift+Enter');
    await w.view.getByText(/^[\d,]+ of [\d,]+$/).waitFor();
    await field.press('Escape');
    // oxlint-enable no-await-in-loop
  }

  // The table: order and columns by the mouse, the filter and what is copied by keys.
  await w.runCommand('TensorRT: Open Fusion Page');
  await w.tab('Fusion of convnext_tiny.onnx').waitFor();
  await w.view.getByRole('button', { name: 'Clear', exact: true }).click(); // The last result of the search.
  await w.view.getByRole('tab', { name: 'Table' }).click();
  const count = w.view.locator('.table-count');
  await count.getByText('137 layers').waitFor();
  const header = (name) => w.view.getByRole('columnheader', { name });
  // The slowest first, without a click.
  await w.view.locator('[aria-sort="descending"]', { hasText: 'Time' }).waitFor();
  await w.view.locator('.table-columns > summary').click();
  await w.view.getByLabel('Tactic').click();
  await header('Tactic').waitFor({ state: 'hidden' });
  await w.shot('models-10-table');
  await w.view.getByLabel('Filter layers').fill('kernel:gemm');
  await count.getByText(/^\d+ of 137 layers$/).waitFor();
  await w.view.getByRole('button', { name: 'Copy All as CSV' }).click();
  await w.copied(/^Order,Name,Time \(ms\),Share \(%\),Nodes,Type,Precision,Formats,/);
  const grid = w.view.getByRole('grid');
  await grid.press('Home');
  await grid.press('Shift+ArrowDown');
  await w.view.getByRole('heading', { name: '2 layers of the engine' }).waitFor();
  await grid.press('Control+c');
  await count.getByText('2 layers copied').waitFor();
  await w.view.getByLabel('Filter layers').fill('');

  // The timeline: a range by keys, and one by the mouse.
  await w.view.getByRole('tab', { name: 'Table' }).press('ArrowLeft');
  const timeline = w.view.locator('svg.timeline').first();
  const groups = w.view.locator('.flow').getByRole('button', { name: /^(?:ForeignNode|stages|stem)/ });
  await groups.nth(3).waitFor();
  await timeline.locator('.bar').nth(10).focus();
  const bar = timeline.locator('.bar:focus');
  await bar.press('[');
  await bar.press('ArrowRight');
  await bar.press('ArrowRight');
  await bar.press(']');
  const range = w.view.locator('.range-bar');
  // The flow is of the range.
  await range.getByText(/^Range of 3 layers, /).waitFor();
  await groups.nth(3).waitFor({ state: 'hidden' });
  await w.shot('models-11-range');
  await range.getByRole('button', { name: 'Show Whole Run' }).press('Enter');
  await groups.nth(3).waitFor();
  await timeline.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await timeline.boundingBox();
  await w.page.mouse.move(x + width * 0.3, y + height - 8);
  await w.page.mouse.down();
  await w.page.mouse.move(x + width * 0.6, y + height - 8, { steps: 4 });
  await w.page.mouse.up();
  await range.getByText(/^Range of \d\d layers, /).waitFor();
  await range.getByRole('button', { name: 'Show Whole Run' }).click();
  await range.waitFor({ state: 'hidden' });
  assert.deepEqual(w.violations, []);
});

test('deep_encoder_11k: from the search to one node of 14,163, its neighbors and its log', async () => {
  const w = await open();
  await openGraph(w, 'deep_encoder_11k.onnx');
  await w.view
    .getByText(/^[\d,]+ unknown$/)
    .first()
    .waitFor();
  await w.view.getByRole('treeitem', { name: /^Graph input/ }).click();
  await w.page.keyboard.press('Control+f');
  await w.view.locator('input:focus').waitFor();
  await w.searchGraph('op:Softmax layers.117');
  await w.view.getByText(/^1 of \d+$/).waitFor();
  await w.page.keyboard.press('Escape');
  const node = w.view.getByRole('treeitem', { name: /^Softmax/, selected: true });
  await node.waitFor();
  await w.selectedRow('Softmax').waitFor();
  await w.page.keyboard.press('Alt+i');
  await w.view.getByRole('button', { name: 'Show Whole Graph' }).waitFor();
  await w.shot('models-4-deep');
  await w.page.keyboard.press('Alt+a');
  await node.waitFor();
  await w.pickInGraph(node, /^Name$/);
  await w.copied(/layers\.117\/.*Softmax/);
  assert.deepEqual(w.violations, []);
});

test('loop_if: the body of the Loop, the menus of an edge and a node, and the log there and back', async () => {
  const w = await open();
  await openGraph(w, 'loop_if.onnx');
  const nodes = (name) => w.view.getByRole('treeitem', { name });
  // So small a model is open down to the bodies of its loops.
  await nodes(/^Identity.*keep_going/).waitFor();

  // What a node is, to the pointer and to the keyboard.
  const matmul = nodes(/^MatMul.*stem\/matmul/);
  const card = w.view.locator('.graph-hover', { hasText: 'stem/matmul' });
  await matmul.hover();
  await card.waitFor();
  await w.view.getByRole('button', { name: 'Fit', exact: true }).hover();
  await card.waitFor({ state: 'hidden' });
  await nodes(/^Graph input/).press('ArrowDown');
  await card.waitFor();

  // The edge to the only reader of a node, straight below it.
  await w.pickInGraph(matmul, /^Name$/, { y: 1, below: 3 });
  await w.copied(/^stem_mm$/);
  await w.view.locator('.graph-inspector', { hasText: /Tensor.*float.*8×64/s }).waitFor();

  await w.pickInGraph(matmul, /^Markdown$/);
  await w.copied(/MatMul[^]*stem\/matmul/);
  await w.shot('models-5-loop');

  // Only what computes is offered a type.
  await matmul.click({ button: 'right' });
  assert.ok(await w.openSubmenu(/^FP32$/));
  await w.closeMenu();
  await nodes(/^Graph input/)
    .first()
    .click({ button: 'right' });
  assert.ok(await w.openSubmenu(/^Name$/));
  assert.equal(await w.openSubmenu(/^FP32$/), false);
  await w.closeMenu();

  // To the line of the log that lists its layer, whose lens leads back.
  await w.pickInGraph(matmul, /^Log$/);
  await w.tab('build.log').waitFor();
  const listed = w.line(/^Name: stem\/matmul_myl0_6/);
  await listed.first().waitFor();
  const lens = w.lens(/Reveal in Graph · 1 node/).first();
  await lens.waitFor();
  await w.shot('models-6-log');

  // The stages of the build are its symbols, each with a word where it begins.
  await w.openQuickly('@finishing the engine');
  await w.status(/Ln 381/).waitFor();
  await w.behind(/— finishing the engine/);

  // The node's name in another line: hover, and from there to the layer.
  await w.page.keyboard.press('Control+g');
  await w.box().locator('input.input').fill(':522');
  await w.enter();
  const timed = w.line(/90\.4\s+stem\/matmul_myl0_6/).first();
  const word = timed.locator('span', { hasText: 'stem/matmul' }).last();
  const { x, y, width, height } = await word.boundingBox();
  // At the end of the line, in the name.
  await w.page.mouse.move(x + width - 30, y + height / 2);
  await w.page.locator('.monaco-hover', { hasText: 'Reveal in Graph' }).waitFor();
  await w.shot('models-7-hover');
  await w.page.mouse.click(x + width - 30, y + height / 2);
  await w.page.keyboard.press('F12');
  await w.status(/Ln 413/).waitFor();

  // Breadcrumbs show where one is.
  await w.page.locator('.breadcrumbs-control', { hasText: 'finishing the engine' }).waitFor();
  await w.clickLens(/Reveal in Graph · 1 node/, w.view.getByRole('treeitem', { selected: true }));
  await w.shot('models-8-back');

  // To where an open text mentions the node first, which is not where its layer is listed.
  await w.pickInGraph(matmul, /^Open Text$/);
  await w.status(/^Ln 187, Col \d+ \(11 selected\)$/).waitFor();
  await w.shot('models-12-text');
  await w.runCommand('TensorRT: Open Graph');
  await matmul.waitFor();

  // By keys into a branch of the If.
  const field = w.view.getByLabel('Search nodes');
  await field.fill('name:then_branch/matmul');
  await field.press('Enter');
  const inBranch = w.view.getByRole('treeitem', { name: /^MatMul.*then_branch/, selected: true });
  await inBranch.waitFor();
  await w.graphAtRest();
  await inBranch.press('ContextMenu');
  assert.ok(await w.openSubmenu(/^Markdown$/));
  await w.pickMenuItem(/^Markdown$/);
  await w.copied(/MatMul[^]*then_branch\/matmul/);
  // The menu, too.
  await w.graphAtRest();
  await inBranch.press('ContextMenu');
  assert.ok(await w.openSubmenu(/^Open Text$/));
  await w.pickMenuItem(/^Open Text$/);
  await w.status(/^Ln 282, Col \d+ \(18 selected\)$/).waitFor();
  assert.deepEqual(w.violations, []);
});

test('the build form asks where to build when there are launchers', async () => {
  const w = await open();
  await w.untilExtensionKnown('loop_if.onnx', 'Build TensorRT Engine');
  await w.pickInMenu('loop_if.onnx', 'Build TensorRT Engine As');
  await w.quickPick('Choose Options…').click();
  await w.page.locator('.quick-input-widget input[placeholder^="Select the back-end"]').waitFor();
  await w
    .quickPick(/^\s*trtexec/)
    .first()
    .click();
  await w.page.locator('.quick-input-widget input[placeholder^="Select where to build"]').waitFor();
  await w.quickPick('gpu-box').waitFor();
  await w.shot('models-9-launcher');
  // A key: the first line is this machine.
  await w.page.keyboard.press('ArrowDown');
  await w.page.keyboard.press('Escape');
  await w.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
  assert.deepEqual(w.violations, []);
});
