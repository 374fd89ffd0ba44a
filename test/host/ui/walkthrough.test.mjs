// The walkthrough, in a window without a folder, as after a fresh installation: each step's button works.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { windows } from './windows.mjs';

const { openEmpty, install } = windows({ files: [] });

test('each step opens, builds and shows the sample model', async () => {
  install();
  const w = await openEmpty();
  await w.runCommand('Welcome: Open Walkthrough');
  await w.quickPick('See what TensorRT did with your model').click();
  const button = (text) => w.page.locator('.getting-started-step .monaco-button', { hasText: text });
  await button('Open Sample…').waitFor();
  await w.shot('walkthrough-1');
  // Recorded builds: one click to the picture of each.
  for (const [text, model, group] of [
    ['failed build', 'unsupported_op', null],
    ['transformer', 'vit_tiny', 'ForeignNode 0'],
    ['CNN with many groups', 'convnext_tiny', 'ForeignNode 19'],
    ['detector', 'yolo_like', 'ForeignNode 0'],
    ['model with Q/DQ nodes', 'resnet_int8', 'ForeignNode 0'],
  ]) {
    // oxlint-disable no-await-in-loop -- one after the other
    await w.page.locator('.getting-started-step a', { hasText: text }).click();
    await w.tab(`${model}.onnx`).waitFor();
    if (group === null) await w.view.getByText('no importer for the operator MyCustomOp').first().waitFor();
    else
      await w.page
        .locator('.sidebar .pane-header', { hasText: `${model}.onnx` })
        .first()
        .waitFor();
    if (group !== null) await w.group(group).first().waitFor();
    await w.shot(`walkthrough-sample-${model}`);
    await w.page.keyboard.press('ControlOrMeta+F4');
    await w.tab('Welcome').click();
    // oxlint-enable no-await-in-loop
  }
  await button('Open Sample…').click();
  await w.quickPick('Model to Build').click();
  await w.tab('fusion_zoo.onnx').waitFor();
  await w.view.locator('canvas').first().waitFor();
  await w.view.getByRole('button', { name: 'Build TensorRT Engine' }).waitFor();

  const step = async (title, text) => {
    await w.tab('Welcome').click();
    await w.page.locator('.getting-started-step', { hasText: title }).click();
    await button(text).click();
  };
  await step('Build an engine', 'Build Sample Model');
  await w.terminal(/Built in/).waitFor();
  await w.view
    .getByText(/^[\d,]+ unknown$/)
    .first()
    .waitFor();
  await w.shot('walkthrough-2');
  await step('Read the fusion', 'Open Fusion Page');
  await w.tab('Fusion of fusion_zoo.onnx').waitFor();
  await w.shot('walkthrough-3');

  // Each of the other questions has a step of its own with a way in.
  await w.tab('Welcome').click();
  for (const [title, text] of [
    ['When a build fails', 'Diagnose Pasted Build Log'],
    ['When FP16 gives NaN', 'Find What Breaks in FP16'],
    ['See what changed', 'Compare Builds'],
    ['Open an engine or a trace', 'Open a File'],
  ]) {
    // oxlint-disable no-await-in-loop -- one step after the other
    await w.page.locator('.getting-started-step', { hasText: title }).click();
    await button(text).waitFor();
    // oxlint-enable no-await-in-loop
  }
  await w.shot('walkthrough-5-steps');
});

test('a group has the color of the graph in the side bar, and a search shows what it finds', async () => {
  const w = await openEmpty();
  await w.runCommand('TensorRT: Open Sample');
  await w.quickPick('Transformer').click();
  await w.tab('vit_tiny.onnx').waitFor();
  const group = w.group('ForeignNode 0');
  await group.locator('.custom-view-tree-node-item-icon[style*="data:image/svg"]').waitFor();
  // A graph that has just opened takes the focus, and with it the box of a search away.
  await w.graphAtRest();
  await w.runCommand('TensorRT: Search Fusion Groups');
  await w.box('Filter by name, operator or layer').locator('input.input').fill('Softmax');
  await w.enter('Filter by name');
  // The node itself, without a click.
  await w.group('Softmax').first().waitFor();
  await w.shot('walkthrough-4-search');
});

test('the page of the extension shows each of its pictures, and each link leads somewhere', async () => {
  const w = await openEmpty();
  // What the repository has, from this checkout; anything else is not there.
  const inRepository = /^https:\/\/github\.com\/tensorrt-lens\/tensorrt-lens\/(?:raw|blob)\/HEAD\//;
  await w.page.context().route(inRepository, (route) => {
    const path = route.request().url().replace(inRepository, '');
    return existsSync(path) ? route.fulfill({ path }) : route.fulfill({ status: 404 });
  });
  await w.runCommand('Extensions: Show Installed Extensions');
  await w.page.locator('.extensions-list .monaco-list-row', { hasText: 'TensorRT Lens' }).first().click();
  await w.tab('Extension: TensorRT Lens').waitFor();
  const readme = await w.viewWith('img[src*="docs/images/build-to-graph.png"]');
  const pictures = readme.locator('img[src*="/docs/images/"]');
  assert.equal(await pictures.count(), 3);
  for (const picture of await pictures.all()) {
    // oxlint-disable no-await-in-loop -- one picture after the other
    await picture.scrollIntoViewIfNeeded();
    const { width, src } = await picture.evaluate(async (image) => {
      await image.decode().catch(() => {});
      return { width: image.naturalWidth, src: image.src };
    });
    assert.ok(width > 100, `${src} is not shown`);
    // oxlint-enable no-await-in-loop
  }
  const links = await readme.locator('a[href]').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  const dead = links.filter((link) =>
    inRepository.test(link) ? !existsSync(link.replace(inRepository, '')) : !/^(?:https:|#)/.test(link),
  );
  assert.deepEqual(dead, []);
  assert.ok(links.filter((link) => inRepository.test(link)).length >= 5);
  await w.shot('walkthrough-extension-page');
});
