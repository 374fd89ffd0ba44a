// The walk that the extension is for, on the installed package, with a real build: from a right click on a model to its
// nodes inside of a ForeignNode's boundary.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windows } from './windows.mjs';
import { DOWNLOAD } from './workbench.mjs';

const { open } = windows({ files: ['fp16_overflow.onnx'] });

test('from a right click to the boundary of a ForeignNode', async () => {
  const w = await open();
  await w.untilExtensionKnown('fp16_overflow.onnx', 'Build TensorRT Engine');
  await w.openContextMenu('fp16_overflow.onnx');
  await w.openSubmenu('Build TensorRT Engine');
  await w.shot('walk-1-menu', { docs: 'build-menu' });
  await w.pickMenuItem('Build TensorRT Engine');

  // The first build of all asks before it downloads TensorRT-RTX.
  const question = w.dialog('Download NVIDIA TensorRT-RTX?');
  await question.waitFor();
  assert.match(await question.innerText(), /license/i);
  await w.shot('walk-2-consent');
  await question.getByRole('button', { name: 'Download and Build' }).click();

  await w.terminal('Built in').waitFor({ timeout: DOWNLOAD });
  const group = w.group('ForeignNode 0');
  await group.waitFor();
  await w.message.getByText(/\d+ layers? · 1 ForeignNode /).waitFor();
  await w.shot('walk-3-built', { docs: 'build-log', toasts: true });
  await w.hidePanel();

  // A click on the group opens the graph and selects it there; its nodes are in it, by module.
  await group.click();
  await w.tab('fp16_overflow.onnx').waitFor();
  const inGraph = w.view.getByRole('tree').getByRole('treeitem');
  await inGraph.first().waitFor();
  await w.shot('walk-4-group');
  await w.expand(group);
  await w.expand(w.group('layers.0 … layers.3'));
  await w.expand(w.group('layers.1,'));
  await w.expand(w.group('attn,'));
  await w.expand(w.group('softmax,'));
  await w.group('Softmax,').click();
  const selected = { selected: true };
  await w.view.getByRole('treeitem', { name: /^Softmax.*Attention ×/, ...selected }).waitFor();
  assert.equal(await w.view.getByRole('treeitem', selected).count(), 1);
  await w.shot('walk-5-node');

  // From a node to its whole group, in the side bar too.
  await w.selectedRow('Softmax').waitFor();
  await w.view.getByRole('button', { name: 'Collapse All' }).click();
  await w.view.getByRole('treeitem', { expanded: true }).first().waitFor({ state: 'hidden' });
  await w.view.getByRole('button', { name: 'Select Group' }).click();
  await w.selectedRow('ForeignNode 0').waitFor();
  await w.shot('walk-6-boundary', { docs: 'foreign-node' });

  // And a node that is found in the graph is found in the side bar.
  await w.searchGraph('/layers.2/attn/softmax/Softmax');
  await w.view.getByRole('treeitem', { name: /^Softmax.*Attention ×/, ...selected }).waitFor();
  await w.selectedRow('Softmax').waitFor();
  await w.shot('walk-7-found');

  // Whatever takes room from the page or gives it back, the selection stays in sight and no strip stays blank.
  const stage = w.view.locator('.graph-stage');
  const inSight = async (item, what) => {
    await w.graphAtRest();
    const [box, around, canvas] = await Promise.all(
      [item, stage, w.view.locator('canvas').first()].map((one) => one.boundingBox()),
    );
    const isIn =
      box.x + box.width > around.x &&
      box.x < around.x + around.width &&
      box.y + box.height > around.y &&
      box.y < around.y + around.height;
    assert.ok(isIn, `${what}: out of sight, ${JSON.stringify({ box, around })}`);
    const blank = [around.width - canvas.width, around.height - canvas.height];
    assert.ok(Math.max(...blank) < 2, `${what}: a blank strip, ${blank.join(' and ')} pixels`);
  };
  const node = w.view.getByRole('treeitem', { name: /^Softmax.*Attention ×/, ...selected });
  await w.runCommand('View: Toggle Maximized Panel');
  await w.runCommand('View: Toggle Maximized Panel');
  await inSight(node, 'with the terminal');
  await w.hidePanel();
  await inSight(node, 'without the terminal');
  await w.runCommand('View: New Editor Group to the Right');
  await inSight(node, 'in half of the editor');
  await w.shot('walk-9-split');
  await w.runCommand('View: Join All Editor Groups');
  await inSight(node, 'in all of it again');

  // What is selected can be kept in FP32: the override file shows the rule.
  await w.view.getByRole('button', { name: 'Keep in FP32' }).click();
  await w.tab('fp16_overflow.trtprec').waitFor();
  await w.page.locator('.view-line', { hasText: /layers\.2\/attn\/softmax\/Softmax\s+fp32/ }).waitFor();
  await w.shot('walk-8-override');
  assert.deepEqual(w.violations, []);
});
