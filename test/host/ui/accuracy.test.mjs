// From outputs that are not finite in FP16 to a repaired build, by mouse and keyboard on the installed package.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { windows } from './windows.mjs';

const { open, install, folder } = windows({ files: ['fp16_overflow.onnx'] });

before(install);

test('one output is searched for from its menu in the graph', async () => {
  const w = await open();
  await w.untilExtensionKnown('fp16_overflow.onnx');
  await w.openFile('fp16_overflow.onnx');
  await w.view.getByRole('button', { name: 'Collapse All' }).click();
  const output = w.view.getByRole('treeitem', { name: /^Graph output/ }).first();
  await w.pickInGraph(output, 'Find What Breaks in FP16');
  await w.quickPick('Random Values').click();
  await w.toast('FP16 gives outputs that are not finite; with').waitFor();
  await w.shot('accuracy-0-output');
});

test('what breaks in FP16 is found, its rules are added, and a build is made with them', async () => {
  const w = await open();
  const item = 'Find What Breaks in FP16';
  await w.untilExtensionKnown('fp16_overflow.onnx', item);
  await w.pickInMenu('fp16_overflow.onnx', item);
  await w.quickPick('Random Values').click();
  await w.toast('FP16 gives outputs that are not finite; with').waitFor();
  await w.shot('accuracy-1-found');

  await w.page.getByRole('button', { name: /^Add \d+ Rules?$/ }).click();
  await w.tab('fp16_overflow.trtprec').waitFor();
  await w.line(/^\/final_norm\/Pow fp32/).waitFor();
  await w.shot('accuracy-2-rules');

  // The page: what breaks, and from a culprit to the graph.
  await w.runCommand('TensorRT: Open Accuracy Page');
  const page = await w.viewWith('p.verdict');
  assert.match(await page.locator('p.verdict').innerText(), /with 12 nodes in FP32 the error is 0\.00/);
  await w.shot('accuracy-3-page');
  await page.getByRole('link', { name: '/layers.3/ffn/down/MatMul' }).click();
  const graph = await w.viewWith('.graph-inspector section');
  await graph.getByText(/^To blame: largest result .* FP16 ends at 65,504/).waitFor();
  await w.shot('accuracy-4-graph');
  await w.tab('fp16_overflow.trtprec').click();

  await w.clickLens('Build with these', w.terminal('fp16_overflow'));
  await w.terminal('Built in').waitFor();
  assert.match(
    readFileSync(join(folder, 'fp16_overflow.trtprec'), 'utf8'),
    /^base +fp16$[^]*^\/final_norm\/Pow +fp32/m,
  );

  assert.deepEqual(w.violations, []);
});
