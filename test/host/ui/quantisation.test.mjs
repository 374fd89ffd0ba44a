// The quantization of a model in the installed package: the page, its way to the graph, and the scales of a cache.
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pythonForTests } from '../../support/python.ts';
import { windows } from './windows.mjs';

const { open, folder } = windows({ files: ['resnet18_qdq.onnx', 'resnet18.onnx'] });

test('the page lists pairs and placements, and leads to the nodes in the graph', async () => {
  const w = await open();
  await w.untilExtensionKnown('resnet18_qdq.onnx');
  await w.row('resnet18_qdq.onnx').dblclick();
  await w.view.locator('canvas').first().waitFor();
  await w.runCommand('TensorRT: Show Quantization');
  await w.view.getByText("9 placements against TensorRT's rules.").waitFor();
  await w.shot('quantization-1-page');
  await w.view.getByRole('cell', { name: 'before-activation' }).first().waitFor();
  await w.view.getByRole('link', { name: '/conv1/Conv_output_0_QuantizeLinear' }).first().click();
  const graph = await w.viewWith('.graph-inspector:not([hidden])');
  await graph.getByRole('heading', { name: '3 nodes selected' }).waitFor();
  await w.shot('quantization-2-graph');
});

test('the scales of a calibration cache are on the page and on the graph', async () => {
  writeFileSync(join(folder, 'resnet18.cache'), 'TRT-100600-EntropyCalibration2\ninput: 3d000000\n');
  const w = await open();
  await w.untilExtensionKnown('resnet18.onnx');
  await w.row('resnet18.onnx').dblclick();
  await w.view.locator('canvas').first().waitFor();
  await w.runCommand('TensorRT: Use a Calibration Cache');
  await w.quickPick('resnet18.cache').click();
  await w.toast('resnet18.onnx shows 1 scale of resnet18.cache.').waitFor();
  await w.view.getByRole('treeitem', { name: 'input' }).first().click();
  await w.runCommand('TensorRT: Show Quantization');
  await w.view.getByText('0.03125').waitFor();
  await w.view.getByText('calibration cache', { exact: true }).waitFor();
  await w.shot('quantization-3-cache');
});

test('a model is calibrated with samples into a new file, whose pairs the page lists', async () => {
  const { runtime } = await pythonForTests();
  const python = join(folder, 'python');
  writeFileSync(python, `#!/bin/sh\nPYTHONPATH='${runtime.environment.PYTHONPATH}' exec '${runtime.python}' "$@"\n`);
  chmodSync(python, 0o755);
  mkdirSync(join(folder, '.vscode'));
  writeFileSync(join(folder, '.vscode/settings.json'), JSON.stringify({ 'tensorrtLens.python.path': python }));
  for (const file of ['model.onnx', 'inputs.npz'])
    copyFileSync(`test/fixtures/faults/softmax_no_max/${file}`, join(folder, file));
  const w = await open();
  await w.untilExtensionKnown('model.onnx');
  await w.row('model.onnx').dblclick();
  await w.view.locator('canvas').first().waitFor();
  await w.runCommand('TensorRT: Calibrate');
  await w.quickPick('Select Input Files').click();
  const box = w.page.locator('.quick-input-widget input.input');
  // VS Code's own dialog for files, whose button for saving says OK.
  const accept = async (text, button, path) => {
    const dialog = w.page.locator('.quick-input-widget', { hasText: text });
    await dialog.waitFor();
    await box.fill(path);
    await dialog.getByRole('button', { name: button }).click();
  };
  await accept('Use These Inputs', 'Use These Inputs', join(folder, 'inputs.npz'));
  await w.shot('quantization-4-save');
  await accept('Write Calibrated Model', 'OK', join(folder, 'model.int8.onnx'));
  await w.toast(/Wrote model\.int8\.onnx, calibrated by ONNX Runtime/).waitFor();
  await w.shot('quantization-5-calibrated');
  assert.ok(existsSync(join(folder, 'model.int8.onnx')));
  await w.page.getByRole('button', { name: 'Show Quantization' }).click();
  await w.view.getByText(/\d+ Q\/DQ pairs of activations/).waitFor();
  await w.shot('quantization-6-page');
});
