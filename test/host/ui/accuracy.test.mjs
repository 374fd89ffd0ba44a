// From outputs that are not finite in FP16 to a repaired build, by mouse and keyboard on the installed package.
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { windows } from './windows.mjs';

const { open, install, folder } = windows({ files: ['fp16_overflow.onnx'] });

/** Values for the model's input, next to it: an array as NumPy stores it. */
function writeInput(shape) {
  const count = shape.reduce((product, size) => product * size, 1);
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')}), }`.padEnd(117) + '\n';
  const values = Float32Array.from({ length: count }, (_, at) => Math.sin(at * 12.9898) * 1.7);
  const length = Buffer.from([header.length, 0]);
  const data = [Buffer.from('\x93NUMPY\x01\x00', 'latin1'), length, Buffer.from(header), Buffer.from(values.buffer)];
  writeFileSync(join(folder, 'sample.npy'), Buffer.concat(data));
}

before(install);

test('one output is searched for from its menu in the graph', async () => {
  const w = await open();
  await w.untilExtensionKnown('fp16_overflow.onnx');
  await w.openFile('fp16_overflow.onnx');
  await w.view.getByRole('button', { name: 'Collapse All' }).click();
  const output = w.view.getByRole('treeitem', { name: /^Graph output/ }).first();
  await w.pickInGraph(output, 'Find What Breaks in FP16');
  await w.quickPick('Random Values').click();
  const toast = w.toast('FP16 gives outputs that are not finite; with');
  await toast.waitFor();
  // Of random inputs no rules are added: they may blame a node that is fine.
  assert.match(await toast.innerText(), /Random inputs: may invent or miss faults/);
  assert.equal(await w.page.getByRole('button', { name: /^Add \d+ Rules?$/ }).count(), 0);
  await w.page.getByRole('button', { name: 'Search with Real Inputs' }).waitFor();
  await w.shot('accuracy-0-output');
});

test('a copy with clamped constants is written from the page, and is searched', async () => {
  const fault = 'test/fixtures/faults/mask_1e9_full_row';
  copyFileSync(`${fault}/model.onnx`, join(folder, 'mask.onnx'));
  copyFileSync(`${fault}/inputs.npz`, join(folder, 'mask.npz'));
  const w = await open();
  const item = 'Find What Breaks in FP16';
  await w.untilExtensionKnown('fp16_overflow.onnx', item);
  await w.pickInMenu('mask.onnx', item);
  await w.quickPick('mask.npz').click();
  await w.toast('FP16 gives outputs that are not finite; with').getByRole('button', { name: 'Show Report' }).click();
  const page = await w.viewWith('p.verdict');
  await page.getByText('Write a Copy with the Changed Constants…').click();
  const write = w.box('Write a Copy with the Changed Constants').getByRole('button', { name: /^(?:OK|Write Here)$/ });
  await write.click();
  const written = w.toast('mask.remedied.onnx has the changed constants.');
  await written.waitFor();
  await w.shot('accuracy-6-remedied');
  await written.getByRole('button', { name: 'Search in the Copy' }).click();
  await w.quickPick('mask.npz').click();
  await w.toast('within the tolerance').waitFor();
  await w.shot('accuracy-7-copy');
});

test('what breaks in FP16 is found, its rules are added, and a build is made with them', async () => {
  writeInput([1, 32, 128]);
  const w = await open();
  const item = 'Find What Breaks in FP16';
  await w.untilExtensionKnown('fp16_overflow.onnx', item);
  await w.pickInMenu('fp16_overflow.onnx', item);
  // How to search can be changed; what is next to the model comes first.
  await w.quickPick('Search Options').click();
  await w.quickPick(/^Tolerance/).click();
  await w.box('Largest error of an output').locator('input.input').fill('2');
  await w.enter('Largest error of an output');
  await w.quickPick('2.0 %').waitFor();
  await w.shot('accuracy-1-options');
  await w.quickPick('Done').click();
  await w.quickPick('tolerance 2.0 %').waitFor();
  await w.quickPick('sample.npy').click();
  await w.toast('FP16 gives outputs that are not finite; with').waitFor();
  await w.shot('accuracy-1-found');

  await w.page.getByRole('button', { name: /^Add \d+ Rules?$/ }).click();
  await w.tab('fp16_overflow.trtprec').waitFor();
  await w.line(/^\/final_norm\/Pow fp32/).waitFor();
  await w.shot('accuracy-2-rules');
  // Judged again with the rules: they repair it.
  await w.toast('within the tolerance of 0.02').waitFor();

  // The page: what breaks, and from a culprit to the graph.
  await w.runCommand('TensorRT: Open Accuracy Page');
  const page = await w.viewWith('p.verdict');
  assert.match(await page.locator('p.verdict').innerText(), /within the tolerance of 0\.02/);
  await w.shot('accuracy-3-page');
  await page.getByRole('heading', { name: 'fp16_overflow.onnx in FP16 with fp16_overflow.trtprec' }).waitFor();
  assert.equal(await page.getByText('Out of date').count(), 0);
  await w.tab('fp16_overflow.trtprec').click();

  await w.clickLens('Build with these', w.terminal('fp16_overflow'));
  await w.terminal('Built in').waitFor();
  assert.match(
    readFileSync(join(folder, 'fp16_overflow.trtprec'), 'utf8'),
    /^base +fp16$[^]*^\/final_norm\/Pow +fp32/m,
  );

  assert.deepEqual(w.violations, []);

  // The page comes back with the window, and says what has changed meanwhile.
  await w.tab('Accuracy of fp16_overflow.onnx').click();
  writeFileSync(join(folder, 'fp16_overflow.trtprec'), 'model ./fp16_overflow.onnx\nbase fp16\n');
  await w.page.reload();
  // What is behind another tab is restored when it is shown.
  await w.tab('Accuracy of fp16_overflow.onnx').click();
  const back = await w.viewWith('p.verdict');
  await back.getByText('The rules in fp16_overflow.trtprec have changed since.').waitFor();
  await w.shot('accuracy-5-back');
  await back.getByRole('link', { name: 'Search Again' }).click();
  await w.toast('FP16 gives outputs that are not finite; with').waitFor();
  const again = await w.viewWith('table');
  await again.getByRole('link', { name: '/layers.3/ffn/down/MatMul' }).click();
  const graph = await w.viewWith('.graph-inspector section');
  await graph.getByText(/^To blame: largest result .* FP16 ends at 65,504/).waitFor();
  await w.shot('accuracy-4-graph');
});
