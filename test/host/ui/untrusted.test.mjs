// What a workspace that nobody trusts can do: be looked at, and nothing else.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { standInEngine } from '../../support/standInTensorrt.ts';
import { windows } from './windows.mjs';

const { open, folder } = windows({ files: ['fp16_overflow.onnx'], askTrust: true });

test('an untrusted workspace shows models and builds nothing', async () => {
  writeFileSync(join(folder, 'net.engine'), standInEngine());
  const w = await open();
  const question = w.dialog('Do you trust the authors');
  await question.waitFor();
  await question.getByRole('button', { name: /No, I don't trust/ }).click();
  await question.waitFor({ state: 'hidden' });

  await w.untilExtensionKnown('fp16_overflow.onnx');
  await w.openContextMenu('fp16_overflow.onnx');
  assert.equal(await w.openSubmenu('Build TensorRT Engine'), false);
  await w.closeMenu();

  await w.openFile('fp16_overflow.onnx');
  await w.tab('fp16_overflow.onnx').waitFor();
  await w.view.locator('#root > *').first().waitFor();
  await w.showSideBar();
  await w.page.locator('.sidebar', { hasText: 'need a trusted workspace' }).waitFor();
  await w.shot('untrusted');
  await w.page.locator('.activitybar .action-label[aria-label^="Explorer"]').click();
  await w.openFile('net.engine');
  await w.view.getByText('Read with TensorRT', { exact: true }).click();
  await w.toast('Reading an engine runs programs, so it needs a trusted workspace.').waitFor();
});
