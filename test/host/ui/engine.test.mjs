// Files of engines in the installed package: layer info without its model, the editor of engines, what TensorRT (a
// stand-in) says of them, the pages of caches.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { standInEngine, standInPython, standInTimingCache } from '../../support/standInTensorrt.ts';
import { windows } from './windows.mjs';

const captured = 'test/fixtures/captures/tensorrt-10.6.0/fusion_zoo.fp32';
const tools = mkdtempSync(join(tmpdir(), 'tensorrt-lens-python-'));
after(() => rmSync(tools, { recursive: true, force: true }));
// Of a version that lists the entries of timing caches, on a computer with a GPU.
const python = standInPython(tools, { STANDIN_VERSION: '10.8.0' });
/** TensorRT's lines of a log of trtexec, as ONNX Runtime's logger writes them. */
const ortLog = (log) => {
  const lines = [];
  let isTensorrt = false;
  for (const line of log.split('\n')) {
    const [, severity, text] = /^\[[^\]]*\] \[([VIWE])\] \[TRT\] (.*)$/.exec(line) ?? [];
    if (text !== undefined) {
      const word = { V: 'VERBOSE', I: '   INFO', W: 'WARNING', E: '  ERROR' }[severity];
      const writer = `[${severity}:onnxruntime:Default, tensorrt_execution_provider.h:88 log]`;
      lines.push(`2026-11-20 10:07:46.563271041 ${writer} [2026-11-20 09:07:46 ${word}] ${text}`);
      // A message of several lines has a prefix on the first.
    } else if (isTensorrt && !/^(?:\[\d\d\/|&&&&)/.test(line)) lines.push(line);
    isTensorrt = text !== undefined || (isTensorrt && lines.at(-1) === line);
  }
  return lines.join('\n');
};

const { open, folder } = windows({
  files: ['resnet18.onnx'],
  settings: { 'tensorrtLens.python.path': python },
});

test('layer info opens as the graph of the engine, and with its model as the accounting', async () => {
  for (const file of ['layers.json', 'profile.json']) copyFileSync(join(captured, file), join(folder, file));
  const w = await open();
  await w.untilExtensionKnown('layers.json', 'Open with TensorRT Lens');
  await w.pickInMenu('layers.json', 'Open with TensorRT Lens');
  await w.view.locator('canvas').first().waitFor();
  await w.view
    .getByTitle(/^24 engine layers: /)
    .first()
    .waitFor();
  const banner = w.view.locator('.graph-state');
  await banner.getByText(/profile\.json in the same folder/).waitFor();
  await w.shot('engine-1-graph');
  copyFileSync('test/fixtures/models/fusion_zoo.onnx', join(folder, 'fusion_zoo.onnx'));
  await banner.getByRole('button', { name: 'Choose the ONNX File…' }).click();
  await w.page.locator('.quick-input-list .monaco-list-row', { hasText: 'fusion_zoo.onnx' }).click();
  await w.view
    .getByTitle(/^In ForeignNodes: /)
    .first()
    .waitFor();
  await w.shot('engine-2-accounting');
});

test('the log of a failed build says why without its model, and with it marks the node', async () => {
  copyFileSync('test/fixtures/captures/tensorrt-10.6.0/unsupported_op.fp32/log.txt', join(folder, 'failed.log'));
  const w = await open();
  await w.untilExtensionKnown('failed.log', 'Open with TensorRT Lens');
  await w.pickInMenu('failed.log', 'Open with TensorRT Lens');
  const banner = w.view.locator('.graph-state');
  await banner.getByText(/^Build failed\. TensorRT has no importer for/).waitFor();
  await w.shot('engine-9-failed');
  copyFileSync('test/fixtures/models/unsupported_op.onnx', join(folder, 'unsupported_op.onnx'));
  await banner.getByRole('button', { name: 'Open Log' }).click();
  await w
    .line(/MyCustomOp/)
    .first()
    .waitFor();
  await w.runCommand('TensorRT: Open with TensorRT Lens');
  await w.tab('unsupported_op.onnx').waitFor();
  await w.view.getByRole('button', { name: 'Show Node' }).waitFor();
});

test('a log alone and the layer info of Torch-TensorRT open from their text, and are searched by keys', async () => {
  // With its model in the folder, the log would open that.
  rmSync(join(folder, 'fusion_zoo.onnx'), { force: true });
  const unpack = (from, to) => writeFileSync(join(folder, to), gunzipSync(readFileSync(from)));
  unpack(join(captured, 'log.txt.gz'), 'alone.log');
  unpack('test/fixtures/torch/tensorrt-10.6.0/encoder.layers.json.gz', 'engine_layer_info.json');
  const w = await open();
  await w.untilExtensionKnown('alone.log', 'Open with TensorRT Lens');
  const search = async (text) => {
    await w.view.locator('canvas').first().waitFor();
    const field = w.view.getByLabel('Search nodes');
    await field.fill(text);
    await field.press('Enter');
    await w.view.getByText(/^1 of \d+$/).waitFor();
    await field.press('Escape');
    await w.view.getByRole('treeitem', { selected: true }).first().waitFor();
  };
  await w.row('alone.log').waitFor();
  const explorer = w.page.locator('.explorer-folders-view .monaco-list').first();
  await explorer.press('Home'); // It is the first.
  await explorer.press('Enter');
  await w
    .line(/TensorRT/)
    .first()
    .waitFor();
  await w.runCommand('TensorRT: Open with TensorRT Lens');
  await w.view
    .getByTitle(/^24 engine layers: /)
    .first()
    .waitFor();
  await search('name:softmax_attention');
  await w.shot('engine-8-log');

  await w.runCommand('View: Show Explorer');
  await w.row('engine_layer_info.json').click();
  await w
    .line(/"Layers"/)
    .first()
    .waitFor();
  await w.runCommand('TensorRT: Open with TensorRT Lens');
  await w.view
    .getByRole('treeitem', { name: /^blocks/ })
    .first()
    .waitFor();
  await search('layer_norm');
  await w.shot('engine-9-torch');
  // The same page and table as for a model.
  await w.runCommand('TensorRT: Open Fusion Page');
  await w.view.getByRole('tab', { name: 'Charts' }).press('ArrowRight');
  await w.view.locator('.table-row', { hasText: '__myl_' }).first().waitFor();
  await w.shot('engine-10-table');

  // By the menu of the explorer: a profile has names and times, ONNX Runtime's log the layers of its sub-graph.
  copyFileSync('test/fixtures/convnext_tiny/profile.json', join(folder, 'convnext.profile.json'));
  const log = gunzipSync(readFileSync(join(captured, 'log.txt.gz'))).toString();
  writeFileSync(join(folder, 'onnxruntime.log'), ortLog(log));
  await w.runCommand('View: Show Explorer');
  await w.page.locator('.explorer-folders-view').hover();
  await w.page.getByRole('button', { name: 'Refresh Explorer' }).click();
  await w.pickInMenu('convnext.profile.json', 'Open with TensorRT Lens');
  await w.view
    .getByTitle(/^52 engine layers: /)
    .first()
    .waitFor();
  await w.pickInMenu('onnxruntime.log', 'Open with TensorRT Lens');
  await w.tab('onnxruntime.log').waitFor();
  await w.view
    .getByTitle(/^24 engine layers: /)
    .first()
    .waitFor();
  await search('name:softmax_attention');
  await w.shot('engine-11-onnxruntime');
  assert.deepEqual(w.violations, []);
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
  writeFileSync(join(folder, 'resnet18.trtprec'), '');
  copyFileSync(join(captured, 'layers.json'), join(folder, 'vit.layers.json'));
  const w = await open();
  await w.untilExtensionKnown('resnet18.onnx');
  // Each of the extension's files has its icon in the explorer, also after a change of the theme.
  const icons = async (theme) => {
    for (const [file, icon] of Object.entries({
      'resnet18.onnx': 'file-onnx',
      'vit.engine': 'file-engine',
      'resnet18.trtprec': 'overrides',
    }))
      // oxlint-disable-next-line no-await-in-loop -- one row after the other
      await w.page.waitForFunction(
        ([row, wanted]) =>
          getComputedStyle(row.querySelector('.monaco-icon-label'), '::before').backgroundImage.includes(wanted),
        [await w.row(file).elementHandle(), `${icon}-${theme}.svg`],
      );
  };
  await icons('light');
  await w.runCommand('Preferences: Toggle between Light/Dark Themes');
  await icons('dark');
  await w.shot('engine-12-icons');
  await w.openFile('vit.engine');
  await w.view.getByText('8.0, 8.9', { exact: true }).waitFor();
  await w.view.getByText('Compare with a Version and GPU…').click();
  const box = w.page.locator('.quick-input-widget input');
  await box.fill('rtx-1.7.1');
  await w.enter();
  await w.page
    .locator('.quick-input-widget')
    .getByText(/compute capability of the GPU/)
    .waitFor();
  await box.fill('12.0');
  await w.enter();
  await w.view.getByRole('cell', { name: 'Does not load', exact: true }).waitFor();
  await w.shot('engine-3-header');
  // Its layers are there at once, by the layer info that is named as it is.
  await w.view.getByText(/Listed by vit\.layers\.json in the same folder/).waitFor();
  await w.view.getByText('Open Layers as a Graph').click();
  await w.tab('vit.layers.json').waitFor();
  await w.view.locator('canvas').first().waitFor();
});

test('a model in which ONNX Runtime keeps an engine says so, and shows none of its bytes', async () => {
  copyFileSync('test/fixtures/ort/model_ctx.onnx', join(folder, 'model_ctx.onnx'));
  const w = await open();
  await w.untilExtensionKnown('resnet18.onnx');
  await w.openFile('model_ctx.onnx');
  await w.view.getByRole('treeitem', { name: /^EPContext/ }).click();
  await w.view.getByText('(binary data)').waitFor();
  assert.equal(await w.view.getByRole('button', { name: 'Build TensorRT Engine' }).count(), 0);
  await w.view.getByText('1 note').click();
  await w.view.getByText(/open the model from which it was made/).waitFor();
  await w.shot('engine-14-context');
});

test('an engine that ONNX Runtime cached is read with TensorRT, and its layers open as a graph', async () => {
  const name = 'TensorrtExecutionProvider_TRTKernel_graph_main_graph_2697494743358455023_0_0_fp16_sm90.engine';
  writeFileSync(join(folder, name), standInEngine({}, [10, 8, 0, 43]));
  const w = await open();
  await w.untilExtensionKnown('resnet18.onnx');
  await w.openFile(name);
  await w.view.getByText('sub-graph 0_0 of the graph "main_graph"').waitFor();
  await w.view.getByText('Read with TensorRT', { exact: true }).click();
  await w.view.getByText('Channel major FP16 format where channel % 8 == 0 (kHWC8)').waitFor();
  await w.view.getByText('1×3×8×8 to 8×3×8×8, optimum 4×3×8×8').waitFor();
  await w.view.getByText('TensorRT 10.8.0 on Stand-in GPU (compute capability 9.0, CUDA 12.8) loads it.').waitFor();
  await w.shot('engine-4-read');
  await w.view.getByText('Open Layers as a Graph').click();
  await w.view.locator('canvas').first().waitFor();
  await w.view
    .getByText(/2 layers/)
    .first()
    .waitFor();
  await w.shot('engine-5-layers');
});

test('calibration and timing caches open as pages', async () => {
  writeFileSync(join(folder, 'calibration.cache'), 'TRT-8601-EntropyCalibration2\ninput: 3c010a14\nconv1: 3d2f1a9c\n');
  const key = `0x${'1a'.repeat(16)}`;
  writeFileSync(join(folder, 'timing.cache'), standInTimingCache({ [key]: [0xabc, 0.25] }));
  const w = await open();
  await w.untilExtensionKnown('resnet18.onnx');
  await w.openFile('calibration.cache');
  await w.view.getByRole('cell', { name: '0.00787594', exact: true }).waitFor();
  await w.shot('engine-6-calibration');
  await w.openFile('timing.cache');
  await w.view.getByText('Read with TensorRT', { exact: true }).click();
  await w.view.getByRole('rowheader', { name: key, exact: true }).waitFor();
  await w.shot('engine-7-timing');
});
