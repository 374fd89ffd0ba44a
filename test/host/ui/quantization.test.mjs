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
