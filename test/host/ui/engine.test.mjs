// Layer info without its model in the installed package: the menu of the explorer, the graph of the engine, its panel,
// and the way to the model.
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { windows } from './windows.mjs';

const captured = 'test/fixtures/captures/tensorrt-10.6.0/fusion_zoo.fp32';
const { open, folder } = windows({ files: ['resnet18.onnx'] });

test('layer info opens as the graph of the engine, and with its model as the accounting', async () => {
  for (const file of ['layers.json', 'profile.json']) copyFileSync(join(captured, file), join(folder, file));
  const w = await open();
  await w.untilExtensionKnown('layers.json', 'Open with TensorRT Lens');
  await w.pickInMenu('layers.json', 'Open with TensorRT Lens');
  await w.view.locator('canvas').first().waitFor();
  await w.view
    .getByText(/24 engine layers: .* the model's nodes is unknown\./)
    .first()
    .waitFor();
  const banner = w.view.locator('.graph-state');
  await banner.getByText(/profile\.json in the same folder/).waitFor();
  await w.shot('engine-1-graph');
  copyFileSync('test/fixtures/models/fusion_zoo.onnx', join(folder, 'fusion_zoo.onnx'));
  await banner.getByRole('button', { name: 'Choose the ONNX File…' }).click();
  await w.page.locator('.quick-input-list .monaco-list-row', { hasText: 'fusion_zoo.onnx' }).click();
  await w.view
    .getByText(/are in ForeignNodes/)
    .first()
    .waitFor();
  await w.shot('engine-2-accounting');
});

test('an engine opens with its header, and says whether it loads in a version and on a GPU', async () => {
  const header = Buffer.alloc(64);
  header.write('vtrt', 0);
  header.writeUInt32LE(2, 8);
  header.writeBigUInt64LE(64n, 16);
  header.set([1, 7, 1, 116], 24);
  header.write('vtrt', 28);
  header.writeUInt32LE(0x0a, 32);
  writeFileSync(join(folder, 'vit.engine'), header);
  const w = await open();
  await w.untilExtensionKnown('resnet18.onnx');
  await w.row('vit.engine').dblclick();
  await w.view.getByText('8.0, 8.9', { exact: true }).waitFor();
  await w.view.getByText('Compare with a Version and GPU…').click();
  const box = w.page.locator('.quick-input-widget input');
  await box.fill('rtx-1.7.1');
  await w.page.keyboard.press('Enter');
  await w.page
    .locator('.quick-input-widget')
    .getByText(/compute capability of the GPU/)
    .waitFor();
  await box.fill('12.0');
  await w.page.keyboard.press('Enter');
  await w.view.getByRole('cell', { name: 'Does not load', exact: true }).waitFor();
  await w.shot('engine-3-header');
});
