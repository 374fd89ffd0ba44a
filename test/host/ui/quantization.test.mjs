// The quantization of a model in the installed package: the page, its way to the graph, and the scales of a cache.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { windows } from './windows.mjs';

const { open, folder } = windows({ files: ['resnet18_qdq.onnx', 'resnet18.onnx'] });

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
  await w.runCommand('TensorRT: Show Quantization');
  const page = await w.viewWith('text=Use a Calibration Cache');
  await page.getByText('Use a Calibration Cache').click();
  await w.quickPick('resnet18.cache').click();
  await w.toast('resnet18.onnx shows 1 scale of resnet18.cache.').waitFor();
  await w.view.getByText('0.03125').waitFor();
  await w.view.getByText('calibration cache', { exact: true }).waitFor();
  await w.shot('quantization-3-cache');
});
