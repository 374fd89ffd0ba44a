// Builds by trtexec and Polygraphy, as recorded, on the installed package: what is seen while they run, when they fail and
// when they are stopped, and what can be done with them afterwards.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { playerTool } from '../../support/playerTool.ts';
import { windows } from './windows.mjs';

const tools = mkdtempSync(join(tmpdir(), 'tensorrt-lens-tools-'));
const recorded = (capture, more = {}) =>
  playerTool(tools, 'trtexec', { capture: `tensorrt-10.6.0/${capture}`, ...more });
const log = fileURLToPath(
  new URL('../../fixtures/captures/tensorrt-10.6.0/unsupported_op.fp32/log.txt', import.meta.url),
);
const trtexec = recorded('vit_tiny.fp16');
/** While it is there, a build stays amid its tactics, however long what is looked at meanwhile takes. */
const hold = join(tools, 'hold');
const polygraphy = playerTool(tools, 'polygraphy', {
  capture: 'tensorrt-10.6.0/vit_tiny.poly_replay',
  as: 'polygraphy',
  log: 'log0.txt',
});
after(() => rmSync(tools, { recursive: true, force: true }));

const { open, folder, cache } = windows({
  files: ['vit_tiny.onnx', 'unsupported_op.onnx', 'resnet18.onnx'],
  settings: { 'tensorrtLens.trtexec.path': trtexec, 'tensorrtLens.polygraphy.path': polygraphy },
});

mkdirSync(join(folder, '.vscode'));
const task = {
  label: 'by Polygraphy',
  type: 'tensorrt',
  model: 'vit_tiny.onnx',
  backend: 'polygraphy',
  precision: 'fp16',
};
writeFileSync(join(folder, '.vscode/tasks.json'), JSON.stringify({ version: '2.0.0', tasks: [task] }));

/** The folders of a model's builds, oldest first. */
const buildsOf = (model) => {
  const parent = readdirSync(join(cache, 'builds')).find(
    (name) => name.startsWith(`${model}-`) && !name.endsWith('.lock'),
  );
  const all = join(cache, 'builds', parent);
  return readdirSync(all)
    .toSorted()
    .map((name) => join(all, name));
};
const manifestOf = (build) => JSON.parse(readFileSync(join(build, 'manifest.json'), 'utf8'));

async function buildOf(w, model) {
  await w.pickInMenu(model, /^Build TensorRT Engine$/);
}

test('a build can be followed in the side bar, the status bar and on the graph', async () => {
  writeFileSync(hold, '');
  recorded('resnet18.fp32', { hold });
  const w = await open();
  await w.untilExtensionKnown('resnet18.onnx', 'Build TensorRT Engine');
  await w.openFile('resnet18.onnx');
  await w.view.locator('#root > *').first().waitFor();
  await buildOf(w, 'resnet18.onnx');
  await w.showSideBar();
  await w.group('Now').waitFor();
  await w.status(/resnet18\.onnx: timing tactics [\d,]+ of [\d,]+/).waitFor();
  await w.group('Timing now').waitFor();
  await w.group('Layers timed').waitFor();
  await w.view.getByText(/Building: timing tactics: [\d,]+ of [\d,]+, layer /).waitFor();
  // Another build is not the next step then.
  await w.view.getByRole('button', { name: 'Check Model' }).waitFor();
  assert.equal(await w.view.getByRole('button', { name: 'Build TensorRT Engine' }).count(), 0);
  await w
    .toast('Building resnet18.onnx')
    .getByText(/timing tactics/)
    .waitFor();
  await w.view.getByRole('button', { name: 'Fit', exact: true }).click();
  await w.graphAtRest();
  await w.shot('history-1-running', { docs: 'build-running', toasts: true });
  rmSync(hold);
  await w.message.getByText(/resnet18\.onnx · TensorRT 10\.6\.0\. /).waitFor();
  await w.terminal(/Built in/).waitFor();
  await w.group('Now').waitFor({ state: 'hidden' });
  const [build] = buildsOf('resnet18');
  const { command, timeLine, result } = manifestOf(build);
  assert.equal(result, 'passed');
  assert.ok(command.includes('--verbose'));
  assert.ok(timeLine.stages.some(({ stage }) => stage === 'tactics'));

  // Where the minutes went stays with the build.
  await w.hidePanel();
  await w.runCommand('TensorRT: Open Fusion Page');
  const heading = w.view.getByRole('heading', { name: 'Build time by stage' });
  await heading.scrollIntoViewIfNeeded();
  await w.view.locator('.build-time .stage', { hasText: 'timing tactics' }).waitFor();
  await w.shot('history-2-time-line', { docs: 'build-time' });
  assert.deepEqual(w.violations, []);
});

test('a build that fails says why on the model, and shows the node', async () => {
  recorded('unsupported_op.fp32');
  const w = await open();
  await w.untilExtensionKnown('unsupported_op.onnx', 'Build TensorRT Engine');
  await w.openFile('unsupported_op.onnx');
  await w.view.locator('#root > *').first().waitFor();
  await buildOf(w, 'unsupported_op.onnx');
  const failure = w.toast('Could not build unsupported_op.onnx');
  await failure.waitFor();
  assert.match(await failure.innerText(), /MyCustomOp/);
  await w.runCommand('Problems: Focus on Problems View');
  await w.page
    .locator('.markers-panel')
    .getByText(/MyCustomOp/)
    .first()
    .waitFor();
  await w.page
    .locator('.markers-panel')
    .getByText(/unsupported-op|plugin-missing/)
    .first()
    .waitFor();
  await w.showSideBar();
  await w.view.getByRole('treeitem', { name: /MyCustomOp/, selected: true }).waitFor();
  await w.shot('history-3-failed', { docs: 'build-failed' });

  // The same log, pasted as if from somebody else's machine, becomes a build of the history, too.
  await w.page.evaluate((text) => navigator.clipboard.writeText(text), readFileSync(log, 'utf8'));
  await w.runCommand('TensorRT: Open Build Log or Layer Info');
  await w.quickPick('From the Clipboard').first().click();
  await w.page.locator('.sidebar .monaco-list-row', { hasText: 'failed · imported' }).waitFor();
});

test('a build that is stopped half-way leaves its log and nothing else', async () => {
  writeFileSync(hold, '');
  recorded('vit_tiny.fp16', { hold });
  const w = await open();
  await w.untilExtensionKnown('vit_tiny.onnx', 'Build TensorRT Engine');
  await buildOf(w, 'vit_tiny.onnx');
  await w.status(/vit_tiny\.onnx: timing tactics/).waitFor();
  // A second build of the same model is refused while this one runs.
  await buildOf(w, 'vit_tiny.onnx');
  const refusal = w.toast('is already running');
  await refusal.waitFor();
  await w.showSideBar();
  await w.group('Now').waitFor();
  await refusal.getByRole('button', { name: 'Cancel Build' }).click();
  await w.page.locator('.sidebar .monaco-list-row', { hasText: 'cancelled' }).first().waitFor();
  await w.group('Now').waitFor({ state: 'hidden' });
  const last = buildsOf('vit_tiny').at(-1);
  assert.equal(manifestOf(last).result, 'cancelled');
  assert.deepEqual(readdirSync(last).toSorted(), ['build.log', 'manifest.json']);
});

test('a task of tasks.json builds by Polygraphy', async () => {
  const w = await open();
  await w.untilExtensionKnown('vit_tiny.onnx', 'Build TensorRT Engine');
  await w.openQuickly('task by Polygraphy');
  await w.terminal(/Built in/).waitFor();
  // The last that a build does is to show its groups, which would take the next test's explorer away.
  await w.message.getByText(/vit_tiny\.onnx · TensorRT 10\.6\.0\. /).waitFor();
  const { backend, result, tensorrt } = manifestOf(buildsOf('vit_tiny').at(-1));
  assert.deepEqual([backend, result, tensorrt.version], ['polygraphy', 'passed', '10.6.0']);
});

test('builds are compared, run again and deleted', async () => {
  const w = await open();
  await w.untilExtensionKnown('vit_tiny.onnx', 'Build TensorRT Engine');
  const choose = async (preset) => {
    await w.quickPick(preset).waitFor();
    await w.shot('history-4-presets', { docs: 'build-presets' });
    await w.quickPick(preset).click();
  };
  recorded('vit_tiny.fp16');
  await w.pickInMenu('vit_tiny.onnx', 'Build TensorRT Engine As');
  await choose('Quick FP16');
  await w.terminal(/Built in/).waitFor();
  await w.group('Now').waitFor({ state: 'hidden' });
  const shown = w.page.locator('.sidebar .monaco-list-row[aria-label*=", shown, "]');
  await shown.and(w.page.locator('[aria-label*="FP16"]')).waitFor();
  // The model of the side bar is the one that a command without a menu is about.
  recorded('vit_tiny.fp32');
  await w.runCommand('TensorRT: Build TensorRT Engine As');
  await choose('FP32 reference');
  const builds = w.page.locator('.sidebar .monaco-list-row[aria-level="1"]', { hasText: /· 10\.6 ·/ });
  // Lines of a list stand in no order on the page; their places say which they are.
  const nth = (index) => builds.and(w.page.locator(`[data-index="${index}"]`));
  await shown.and(w.page.locator('[aria-label*="FP32"]')).waitFor();
  const count = await builds.count();
  assert.ok(count >= 2);

  // An older build can be looked at again, and the two be compared: what was asked, what came of it, node by node.
  const older = nth(1);
  await older.hover();
  await older.getByRole('button', { name: 'Show Build' }).click();
  await older.and(shown).waitFor();
  await w.hidePanel();
  await w.pickInRow(nth(0), 'Compare Builds');
  // Each build is told by what would differ.
  await w
    .quickPick(/FP16 → FP32/)
    .first()
    .click();
  const page = await w.viewWith('.change-list li');
  await w.tab(/^FP16.* ↔ FP32/).waitFor();
  await page.getByRole('heading', { level: 1, name: /^vit_tiny\.onnx: FP16 → FP32/ }).waitFor();
  await page.getByText(/^\d+ % slower: 12 attentions split/).waitFor();
  await w.shot('history-5-compared', { docs: 'build-compare' });
  // By keys: to the second change, and it alone, with its evidence.
  await page.locator('.change').first().press('ArrowDown');
  await page.locator('.change:focus').press('Enter');
  await page.locator('.change[aria-pressed="true"]').waitFor();
  await page.locator('.change-evidence').waitFor();
  await page.getByRole('tab', { name: 'Graph' }).press('ArrowRight');
  await page.locator('.table-row[aria-selected="true"]').first().waitFor();
  await w.shot('history-7-change');

  await w.pickInRow(nth(0), 'Repeat Build');
  // While it runs, it stands in another line, and those below it one further down.
  await shown.and(nth(0)).waitFor();
  await nth(count).waitFor();
  await w.group('Now').waitFor({ state: 'hidden' });
  const again = buildsOf('vit_tiny').at(-1);
  assert.equal(manifestOf(again).options.precision, 'fp32');

  // What differs by less than measurements vary is no change. The times are a table in the log, the average its second column.
  const log = readFileSync(join(again, 'build.log'), 'utf8');
  const faster = log.replaceAll(/(?<=\[I\] +[\d.]+ +)\d+\.\d{4}(?= +\d+\.\d{4} +[\d.]+ {3}\S)/g, (average) =>
    (0.985 * average).toFixed(4),
  );
  assert.notEqual(faster, log);
  writeFileSync(join(again, 'build.log'), faster);
  await w.pickInRow(nth(0), 'Compare Builds');
  await w.quickPick('the same request').click();
  const alike = await w.viewWith('text=/othing is computed differently, −1\\.\\d % is noise/');
  assert.equal(await alike.locator('.change').count(), 0);
  await w.shot('history-9-noise');

  await w.pickInRow(nth(0), 'Delete');
  await w.dialog('Delete this build').getByRole('button', { name: 'Delete' }).click();
  await nth(count).waitFor({ state: 'detached' });
  assert.equal(buildsOf('vit_tiny').length, count);

  // However it was built, the model has one task in the list.
  await w.findQuickly('task vit_tiny.onnx', w.quickPick('vit_tiny.onnx'));
  await w.quickPick('resnet18.onnx').waitFor({ state: 'hidden' });
  await w.shot('history-8-tasks');
  assert.equal(await w.quickPick('vit_tiny.onnx').count(), 1);
});

test('a build is named', async () => {
  const w = await open();
  await w.openGraph('vit_tiny.onnx', 'Build TensorRT Engine');
  await w.showSideBar();
  const builds = w.page.locator('.sidebar .monaco-list-row[aria-level="1"]', { hasText: /· 10\.6 ·/ });
  const older = builds.and(w.page.locator('[data-index="1"]'));
  await w.pickInRow(older, 'Name Build');
  await w.box('A name for this build').locator('input.input').fill('baseline');
  await w.enter('A name for this build');
  const named = w.group('baseline');
  await named.hover();
  await named.getByRole('button', { name: 'Show Build' }).click();
  await w.view.getByText('Build “baseline”.').waitFor({ state: 'attached' }); // In a folded list.
  await w.message.getByText('“baseline”').waitFor();
});
