// A model as ONNX Runtime's quantizer writes it, which TensorRT rejects: built, repaired and built again, by mouse.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import onnxProto from 'onnx-proto';
import { windows } from './windows.mjs';
import { DOWNLOAD } from './workbench.mjs';

const { onnx } = onnxProto;
const { open, install, folder } = windows({ files: [] });

before(() => {
  install();
  writeFileSync(join(folder, 'mlp.onnx'), quantizedModel());
});

/** Two layers, whose weights are UINT8 with a zero point that is not 0. */
function quantizedModel() {
  const value = (name) => ({
    name,
    type: { tensorType: { elemType: 1, shape: { dim: [{ dimValue: 4 }, { dimValue: 16 }] } } },
  });
  const layer = (index, input, output) => [
    {
      opType: 'DequantizeLinear',
      name: `fc${index}/weight`,
      input: [`q${index}`, 'scale', 'zero'],
      output: [`w${index}`],
    },
    { opType: 'MatMul', name: `fc${index}/MatMul`, input: [input, `w${index}`], output: [output] },
  ];
  const weight = (name, factor) => ({
    name,
    dims: [16, 16],
    dataType: 2,
    rawData: Uint8Array.from({ length: 256 }, (_, index) => (index * factor) % 256),
  });
  const graph = {
    name: 'mlp',
    node: [...layer(1, 'x', 'h'), { opType: 'Relu', name: 'relu', input: ['h'], output: ['r'] }, ...layer(2, 'r', 'y')],
    input: [value('x')],
    output: [value('y')],
    initializer: [
      weight('q1', 7),
      weight('q2', 11),
      { name: 'scale', dims: [], dataType: 1, floatData: [0.02] },
      { name: 'zero', dims: [], dataType: 2, int32Data: [121] },
    ],
  };
  return onnx.ModelProto.encode({ irVersion: 8, opsetImport: [{ domain: '', version: 17 }], graph }).finish();
}

test('a model that is rejected is repaired and built from the notice of its failed build', async () => {
  const original = readFileSync(join(folder, 'mlp.onnx'));
  const w = await open();
  await w.untilExtensionKnown('mlp.onnx', 'Build TensorRT Engine');
  await w.openFile('mlp.onnx');
  await w.view.getByRole('tree').getByRole('treeitem').first().waitFor();
  await w.pickInMenu('mlp.onnx', /^Build TensorRT Engine$/);
  await w.view.getByText(/Build failed\./).waitFor({ timeout: DOWNLOAD });
  await w.shot('repair-1-failed');
  await w.view.getByRole('button', { name: 'Repair Model…' }).click();
  await w.toast('Repaired with 1 repair').waitFor({ timeout: DOWNLOAD });
  await w.tab('mlp.repaired.onnx').waitFor();
  assert.equal(await w.page.locator('.editor-group-container').count(), 1, 'the editor was split');
  await w.shot('repair-2-repaired');
  assert.ok(existsSync(join(folder, 'mlp.repaired.onnx')));
  assert.ok(original.equals(readFileSync(join(folder, 'mlp.onnx'))), 'the model was changed');
  await w.terminal('Built in').waitFor({ timeout: DOWNLOAD });
  await w.shot('repair-3-built');
  assert.deepEqual(w.violations, []);
});
