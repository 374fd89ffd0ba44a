// What the graph says of builds that fail, are cancelled or are of an older model, and what its buttons do, on the
// installed package.
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { playerTool } from '../../support/playerTool.ts';
import { concat, int, len, model, node } from '../../support/wire.ts';
import { windows } from './windows.mjs';

const tools = mkdtempSync(join(tmpdir(), 'tensorrt-lens-tools-'));
const recorded = (capture, more = {}) =>
  playerTool(tools, 'trtexec', { capture: `tensorrt-10.6.0/${capture}`, ...more });
const trtexec = recorded('unsupported_op.fp32');
const hold = join(tools, 'hold');
after(() => rmSync(tools, { recursive: true, force: true }));

const { open, install, folder } = windows({
  files: ['unsupported_op.onnx', 'vit_tiny.onnx', 'resnet18.onnx', 'bert_base.onnx'],
  settings: { 'tensorrtLens.trtexec.path': trtexec },
});

const value = (field, name, ...shape) =>
  len(field, len(1, name), len(2, len(1, int(1, 1), len(2, ...shape.map((size) => len(1, int(1, size)))))));
const badShape = () =>
  model(
    node('Relu', ['x'], ['r'], len(3, 'before')),
    node('MatMul', ['r', 'w'], ['y'], len(3, 'wrong')),
    len(5, concat(int(1, 5), int(1, 3)), int(2, 1), len(8, 'w'), len(9, new Uint8Array(60))),
    value(11, 'x', 2, 4),
    value(12, 'y', 2, 3),
  );

const openModel = (w, file) => w.openGraph(file, 'Build TensorRT Engine');
const build = (w, file) => w.pickInMenu(file, /^Build TensorRT Engine$/);
const state = (w) => w.view.locator('.graph-state');

test('an unsupported operator: the banner, the node and the log name it', async () => {
  recorded('unsupported_op.fp32');
  const w = await open();
  await openModel(w, 'unsupported_op.onnx');
  await build(w, 'unsupported_op.onnx');
  await state(w)
    .getByText(/Build failed\. .*operator MyCustomOp of node "\/custom\/MyCustomOp"/)
    .waitFor();
  await w.view.locator('.graph-inspector .fault', { hasText: 'no importer' }).waitFor();
  await w.hidePanel();
  await w.shot('states-1-unsupported');
  // By keys: to the node from another one, and to the log.
  const node = w.view.getByRole('treeitem', { name: /^MyCustomOp/, selected: true });
  await w.view.getByRole('treeitem', { name: /^Graph input/ }).press('Enter');
  await node.waitFor({ state: 'hidden' });
  await state(w).getByRole('button', { name: 'Show Node' }).press('Enter');
  await node.waitFor();
  await state(w).getByRole('button', { name: 'Open Log' }).press('Enter');
  await w
    .line(/MyCustomOp/)
    .first()
    .waitFor();
});

test('missing weights: one click builds with random ones', async () => {
  recorded('cli.missing_weights', { code: 1 });
  const w = await open();
  await openModel(w, 'vit_tiny.onnx');
  await build(w, 'vit_tiny.onnx');
  const button = state(w).getByRole('button', { name: 'Build with Random Weights' });
  await button.waitFor();
  await w.hidePanel();
  await w.shot('states-2-weights');
  recorded('vit_tiny.fp32');
  await button.click();
  await w.view.getByTitle(/^In ForeignNodes: \d+ of 636 nodes/).waitFor();
  await state(w).waitFor({ state: 'hidden' });
});

test('shapes that TensorRT rejects: the next step asks for others', async () => {
  recorded('bert_base.badprofile');
  const w = await open();
  await openModel(w, 'bert_base.onnx');
  await build(w, 'bert_base.onnx');
  await w.quickPick('1 Along Each Open Dimension').click();
  await state(w)
    .getByText(/Build failed\. .*Set the shapes again: minimum ≤ optimum ≤ maximum/)
    .waitFor();
  await w.hidePanel();
  await w.shot('states-5-shapes');
  await state(w).getByRole('button', { name: 'Set Shapes…' }).press('Enter');
  await w.box(/batch: minimum, optimum and maximum of input_ids/).waitFor();
});

test('a cancelled build says so, and a changed model makes the picture an old one', async () => {
  writeFileSync(hold, '');
  recorded('resnet18.fp32', { hold });
  const w = await open();
  await openModel(w, 'resnet18.onnx');
  await build(w, 'resnet18.onnx');
  await state(w)
    .getByText(/Building: timing tactics: [\d,]+ of [\d,]+/)
    .waitFor();
  await state(w).getByRole('button', { name: 'Cancel Build' }).click();
  await state(w).getByText('Build cancelled.').waitFor();
  rmSync(hold);
  recorded('resnet18.fp32');
  await state(w).getByRole('button', { name: 'Build Again' }).click();
  await w.view
    .getByText(/^[\d,]+ unknown$/)
    .first()
    .waitFor();
  // Both builds had the same terminal.
  assert.equal(await w.page.locator('.terminal-wrapper').count(), 1);
  await state(w).waitFor({ state: 'hidden' });
  // An unknown field at the end: another file, the same network.
  appendFileSync(join(folder, 'resnet18.onnx'), int(1000, 1));
  await state(w).getByText('The model changed after this build').waitFor();
  await w.shot('states-3-stale');
});

test('shapes that do not fit: the node and both shapes', async () => {
  install();
  writeFileSync(join(folder, 'badshape.onnx'), badShape());
  mkdirSync(join(folder, '.vscode'));
  const task = { label: 'with TensorRT-RTX', type: 'tensorrt', model: 'badshape.onnx', backend: 'rtx' };
  writeFileSync(join(folder, '.vscode/tasks.json'), JSON.stringify({ version: '2.0.0', tasks: [task] }));
  const w = await open();
  await openModel(w, 'badshape.onnx');
  await w.openQuickly('task with TensorRT-RTX');
  await state(w)
    .getByText(/Build failed\. Node "wrong" cannot multiply its inputs: .* is 4, .* is 5/)
    .waitFor();
  await w.view.getByRole('treeitem', { name: /wrong.*error: /, selected: true }).waitFor();
  await w.hidePanel();
  await w.shot('states-4-shapes');
  await state(w).getByRole('button', { name: 'Open Log' }).click();
  await w
    .line(/must match/)
    .first()
    .waitFor();
});
