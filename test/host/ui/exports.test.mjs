// Two exports of one network, built as recorded, on the installed package: compared from the history, with the nodes that
// only the older one has on the graph.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { playerTool } from '../../support/playerTool.ts';
import { windows } from './windows.mjs';

const tools = mkdtempSync(join(tmpdir(), 'tensorrt-lens-tools-'));
const recorded = (capture) => playerTool(tools, 'trtexec', { capture: `tensorrt-10.6.0/${capture}` });
after(() => rmSync(tools, { recursive: true, force: true }));

const { open } = windows({
  files: ['fp16_overflow.onnx', 'fp16_overflow_mixed.onnx'],
  settings: { 'tensorrtLens.trtexec.path': recorded('fp16_overflow_mixed.typed') },
});

test('builds of two exports are compared, and the nodes that only the older one has are on the graph', async () => {
  const w = await open();
  const showExplorer = () => w.page.locator('.activitybar .action-label[aria-label^="Explorer"]').click();
  const build = async (model, capture) => {
    await w.untilExtensionKnown(model, 'Build TensorRT Engine');
    recorded(capture);
    await w.pickInMenu(model, /^Build TensorRT Engine$/);
    await w.message.getByText(new RegExp(`^${model} · TensorRT 10`)).waitFor();
  };
  await build('fp16_overflow_mixed.onnx', 'fp16_overflow_mixed.typed');
  await showExplorer();
  await build('fp16_overflow.onnx', 'fp16_overflow.fp16');
  await w.hidePanel();
  const newest = w.page.locator('.sidebar .monaco-list-row[aria-level="1"]', { hasText: /· 10\.6 ·/ }).first();
  await w.pickInRow(newest, 'Compare Builds');
  await w.quickPick('fp16_overflow_mixed.onnx').click();
  await w.viewWith('.change-list li');
  await w.view.getByText('12 only in A').first().waitFor();
  await w.view
    .locator('.change', { hasText: /only in A, in / })
    .first()
    .click();
  await w.view.getByText(/^Only in A: Fused into ForeignNode 0/).waitFor();
  await w.view.locator('.legend-line', { hasText: 'Computed in A only' }).waitFor();
  await w.shot('exports-1-compared');
  assert.deepEqual(w.violations, []);
});
