// The five questions that people come with, each answered by two clicks at most from the open model; on the installed
// package, in one window, with files of recorded builds and with real builds.
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { windows } from './windows.mjs';

const captured = (build, file) => join('test/fixtures/captures/tensorrt-10.6.0', build, file);

const { open, install, folder } = windows({
  files: ['fusion_zoo.onnx', 'fp16_overflow.onnx', 'unsupported_op.onnx'],
});

test('five questions take two clicks at most each', async () => {
  install();
  for (const file of ['layers.json', 'profile.json'])
    copyFileSync(captured('fusion_zoo.fp32', file), join(folder, `zoo.${file}`));
  copyFileSync(captured('unsupported_op.fp32', 'log.txt'), join(folder, 'failed.log'));
  const w = await open();
  const { view } = w;
  const banner = view.locator('.graph-state');
  const inspector = view.locator('.graph-inspector');
  const take = async (question, ...clicks) => {
    assert.ok(clicks.length <= 2, question);
    for (const target of clicks)
      // oxlint-disable-next-line no-await-in-loop -- one click after the other
      await target.click();
  };

  // Without a build, the picture has what is next to the model, and the ways to a build.
  await w.openGraph('fusion_zoo.onnx', 'Build TensorRT Engine');
  await view.getByRole('button', { name: 'Check Model' }).waitFor();
  await banner
    .getByText(/^zoo\.(?:layers|profile)\.json and zoo\.\w+\.json next to this model are from a build/)
    .waitFor();
  await w.shot('tasks-1-offered');
  await banner.getByRole('button', { name: 'Open as a Build' }).click();
  await view
    .getByTitle(/^In ForeignNodes: /)
    .first()
    .waitFor();
  await w.graphAtRest();

  const normalization = view.getByRole('treeitem', { name: /^InstanceNormalization/ }).first();
  await take('Which group has X?', normalization);
  await inspector.locator('.fate', { hasText: /InstanceNorm/ }).waitFor();
  await w.shot('tasks-2-group');

  await take(
    'Which kernel is the slowest, and what does it compute?',
    view.getByRole('button', { name: /^Slowest kernel: / }),
  );
  await inspector.getByRole('heading', { level: 2, name: '__myl_Top_myl23_2' }).waitFor();
  await inspector
    .getByText(/26\.0 µs/)
    .first()
    .waitFor();
  await inspector.getByRole('button', { name: '/topk/TopK', exact: true }).waitFor();
  await w.shot('tasks-3-slowest');

  await w.runCommand('View: Show Explorer');
  await w.openFile('unsupported_op.onnx');
  const node = view.getByRole('button', { name: 'Show Node' });
  await take('Why did it fail?', banner.getByRole('button', { name: 'Open as a Build' }), node);
  await banner.getByText(/^Build failed\. TensorRT has no importer for the operator MyCustomOp/).waitFor();
  await inspector.locator('.fault', { hasText: 'no importer' }).waitFor();
  await w.shot('tasks-4-failed');

  // Keep X in FP32 and build again: the graph of a model that was built opens with the terminal.
  await w.runCommand('View: Show Explorer');
  await w.pickInMenu('fp16_overflow.onnx', /^Build TensorRT Engine$/);
  await w.terminal('Built in').waitFor();
  await w.tab('fp16_overflow.onnx').waitFor();
  await w.toast('Built fp16_overflow.onnx').getByRole('button', { name: 'Show Graph' }).click();
  await view
    .getByTitle(/^In ForeignNodes: /)
    .first()
    .waitFor();
  await w.shot('tasks-5-built');
  await w.hidePanel();
  await w.searchGraph('/layers.2/attn/softmax/Softmax');
  await take(
    'Keep X in FP32 and build again',
    inspector.getByRole('button', { name: 'Keep in FP32' }),
    w.page.getByRole('button', { name: 'Build with These Precision Overrides' }).first(),
  );
  await w.toast('Built fp16_overflow.onnx').waitFor();

  await w.tab('fp16_overflow.onnx').click();
  await take('What changed?', w.page.getByRole('button', { name: /^Compare Builds/ }).first());
  const page = await w.viewWith('.change-list');
  await page.getByRole('heading', { level: 1, name: /^fp16_overflow\.onnx: / }).waitFor();
  await w.shot('tasks-6-changed');
  assert.deepEqual(w.violations, []);
});
