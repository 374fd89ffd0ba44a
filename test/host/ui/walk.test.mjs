// The walk that the extension is for, on the installed package, with a real build: from a right click on a model to its
// nodes inside of a ForeignNode's boundary.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windows } from './windows.mjs';

const { open } = windows({ files: ['fp16_overflow.onnx'] });

test('from a right click to the boundary of a ForeignNode', async () => {
  const w = await open();
  await w.untilExtensionKnown('fp16_overflow.onnx', 'Build TensorRT Engine');
  await w.openContextMenu('fp16_overflow.onnx');
  await w.shot('walk-1-menu');
  await w.pickMenuItem('Build TensorRT Engine');

  // The first build of all asks before it downloads TensorRT-RTX.
  const question = w.dialog('Download NVIDIA TensorRT-RTX?');
  await question.waitFor();
  assert.match(await question.innerText(), /licence/i);
  await w.shot('walk-2-consent');
  await question.getByRole('button', { name: 'Download and Build' }).click();

  await w.terminal('Built in').waitFor();
  const group = w.group('ForeignNode 0');
  await group.waitFor();
  await w.shot('walk-3-built');
  await w.message.getByText(/ForeignNode; it swallowed \d+ of \d+ nodes/).waitFor();
});
