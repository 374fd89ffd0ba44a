// The quantization of a model in the installed package: the page, its way to the graph, the scales of a cache, and those of
// samples.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pythonForTests } from '../../support/python.ts';
import { windows } from './windows.mjs';
import { STEP } from './workbench.mjs';

const tools = mkdtempSync(join(tmpdir(), 'tensorrt-lens-python-'));
after(() => rmSync(tools, { recursive: true, force: true }));
// An environment of the user's that has the package onnx, which quantize_static needs.
const { runtime } = await pythonForTests();
const python = join(tools, 'python');
const run = `PYTHONPATH='${runtime.environment.PYTHONPATH}' exec '${runtime.python}' "$@"`;
writeFileSync(python, `#!/bin/sh\n${run}\n`, { mode: 0o755 });
const { open, install, folder } = windows({
  files: ['resnet18_qdq.onnx', 'resnet18.onnx'],
  settings: { 'tensorrtLens.python.path': python },
});

test('the page lists pairs and placements, and leads to the nodes in the graph', async () => {
  const w = await open();
  await w.openGraph('resnet18_qdq.onnx');
  await w.runCommand('TensorRT: Show Quantization');
  await w.view.getByText("10 placements against TensorRT's rules.").waitFor();
  await w.shot('quantization-1-page');
  await w.view.getByText('before-activation', { exact: false }).first().waitFor();
  await w.view.getByRole('link', { name: '/conv1/Conv_output_0_QuantizeLinear' }).first().click();
  const graph = await w.viewWith('.graph-inspector:not([hidden])');
  await graph.getByRole('heading', { name: '3 nodes selected' }).waitFor();
  await w.shot('quantization-2-graph');
});

test('the scales of a calibration cache are on the page and on the graph', async () => {
  writeFileSync(join(folder, 'resnet18.cache'), 'TRT-100600-EntropyCalibration2\ninput: 3d000000\n');
  const w = await open();
  await w.openGraph('resnet18.onnx');
  await w.runCommand('TensorRT: Use a Calibration Cache');
  await w.quickPick('resnet18.cache').click();
  await w.toast('resnet18.onnx shows 1 scale of resnet18.cache.').waitFor();
  await w.view.getByRole('treeitem', { name: 'input' }).first().click();
  await w.runCommand('TensorRT: Show Quantization');
  await w.view.getByText('0.03125').waitFor();
  await w.view.getByText('calibration cache', { exact: true }).waitFor();
  await w.shot('quantization-3-cache');
});

test('a model is calibrated with samples, and the page gives the share of values that each scale clips', async () => {
  install();
  for (const [file, name] of [
    ['model.onnx', 'attention.onnx'],
    ['inputs.npz', 'samples.npz'],
  ])
    copyFileSync(join('test/fixtures/faults/softmax_no_max', file), join(folder, name));
  const w = await open();
  await w.openGraph('attention.onnx');
  await w.runCommand('TensorRT: Calibrate');
  // The folder with the model, which has one file of samples.
  await w.quickPick('Select a Folder of Input Files').click();
  await w.box().getByRole('button', { name: 'Use These Inputs' }).click();
  await w.box('Write Calibrated Model').getByRole('button', { name: 'OK' }).click();
  await w.toast('Wrote attention.int8.onnx, calibrated by ONNX Runtime 1.').waitFor();
  await w.page.getByRole('button', { name: 'Show Quantization' }).click();
  await w.view.getByText(/^\d+ Q\/DQ pairs of activations/).waitFor();
  await w.shot('quantization-4-calibrated');
  await w.view.getByRole('link', { name: 'Measure Clipping…' }).click();
  await w.quickPick('Select Input Files').click();
  await w.quickPick('samples.npz').click();
  // A click on the file can be enough for VS Code's dialog.
  const use = w.box().getByRole('button', { name: 'Use These Inputs' });
  await use.click({ timeout: STEP / 12 }).catch(() => {});
  await w.view.getByRole('columnheader', { name: 'clipped' }).waitFor();
  const shares = w.view.getByRole('cell', { name: /^(?:[<>] )?[\d.]+ %$/ });
  assert.ok((await shares.count()) > 30, 'Each activation has the share of its values that is clipped');
  await w.shot('quantization-5-clipping');
  await w.view.getByRole('link', { name: 'x', exact: true }).click();
  const graph = await w.viewWith('.graph-inspector:not([hidden])');
  await graph.getByRole('heading', { name: /^\d nodes selected/ }).waitFor();
  assert.deepEqual(w.violations, []);
});
