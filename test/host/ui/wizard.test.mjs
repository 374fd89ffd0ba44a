// The build form, on the installed package with real builds: what the back-end can do, one question after the other with
// a way back, and the answers of the last time.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { int, len, model, node } from '../../support/wire.ts';
import { windows } from './windows.mjs';

const { open, install, folder, cache } = windows({ files: ['fp16_overflow.onnx'] });
install();
// Its batch and its length are open.
const value = (field, name, ...dims) =>
  len(field, len(1, name), len(2, len(1, int(1, 1), len(2, ...dims.map((dim) => len(1, dim))))));
writeFileSync(
  join(folder, 'open.onnx'),
  model(
    node('Relu', ['x'], ['r'], len(3, 'first')),
    node('Exp', ['r'], ['y'], len(3, 'second')),
    value(11, 'x', len(2, 'batch'), len(2, 'seq'), int(1, 8)),
    value(12, 'y', len(2, 'batch'), len(2, 'seq'), int(1, 8)),
  ),
);

const manifestsOf = (name) => {
  const parent = readdirSync(join(cache, 'builds')).find((one) => one.startsWith(`${name}-`) && !one.endsWith('.lock'));
  const all = join(cache, 'builds', parent);
  return readdirSync(all)
    .toSorted()
    .map((build) => JSON.parse(readFileSync(join(all, build, 'manifest.json'), 'utf8')));
};

/** Picks a line of the question that has this placeholder. */
async function answer(w, placeholder, line) {
  await w.page.locator(`.quick-input-widget input[placeholder^="${placeholder}"]`).waitFor();
  await w.quickPick(line).first().click();
}

test('TensorRT-RTX builds in FP16 by a typed copy, with one click', async () => {
  const w = await open();
  await w.untilExtensionKnown('fp16_overflow.onnx', 'Build TensorRT Engine');
  await w.pickInMenu('fp16_overflow.onnx', 'Build TensorRT Engine As');
  await w.quickPick('FP16 by a Typed Copy').waitFor();
  assert.equal(await w.quickPick('Calibration').count(), 0);
  await w.shot('wizard-1-presets');
  await w.quickPick('FP16 by a Typed Copy').click();
  await w.terminal(/Built in/).waitFor();
  await w.message.getByText(/fp16/i).first().waitFor();
  const [{ options, result }] = manifestsOf('fp16_overflow');
  assert.equal(result, 'passed');
  assert.match(options.overrides, /fp16\.trtprec$/);
  // In a browser there is no file manager: the engine is shown in VS Code's own dialog, which opens it.
  await w.toast('Built fp16_overflow.onnx').getByRole('button', { name: 'Reveal Engine' }).click();
  const dialog = w.box().locator('input.input');
  await w.page.waitForFunction((input) => input.value.endsWith('.engine'), await dialog.elementHandle());
  await w.shot('wizard-4-revealed');
  await dialog.press('Enter');
  await w.tab(/\.engine$/).waitFor();
});

test('Enter takes the first shapes that are offered', async () => {
  const w = await open();
  await w.untilExtensionKnown('open.onnx', 'Build TensorRT Engine');
  await w.pickInMenu('open.onnx', /^Build TensorRT Engine$/);
  await w.quickPick('Suggested Shapes').waitFor();
  await w.page.keyboard.press('Enter');
  await w.terminal(/Built in/).waitFor();
  // The last that a build does is to show its groups, which would take the next test's explorer away.
  await w.message.getByText(/^open\.onnx · /).waitFor();
  assert.equal(manifestsOf('open').length, 1);
});

test('the form asks for shapes, precision, workspace and weights, goes back, and remembers', async () => {
  const w = await open();
  await w.untilExtensionKnown('open.onnx', 'Build TensorRT Engine');
  await w.pickInMenu('open.onnx', 'Build TensorRT Engine As');
  await w.quickPick('Choose Options…').click();
  await answer(w, 'Select the back-end', /^\s*rtx/);
  await answer(w, 'This model leaves dimensions open', 'Choose Shapes…');
  const box = w.page.locator('.quick-input-widget input.input');
  const prompt = w.page.locator('.quick-input-message');
  await prompt.getByText(/^batch: minimum/).waitFor();
  await box.fill('1 2 4');
  await w.enter();
  await prompt.getByText(/^seq: minimum/).waitFor();
  assert.equal(await box.inputValue(), '128');
  // One back, and on again.
  await w.page.locator('.quick-input-widget').getByRole('button', { name: /^Back/ }).click();
  await prompt.getByText(/^batch: minimum/).waitFor();
  await box.fill('1 2 3');
  await w.enter();
  await prompt.getByText(/^seq: minimum/).waitFor();
  await w.enter();
  await answer(w, 'Select what to do next', 'Use These Shapes');
  await w.page.locator('.quick-input-widget input[placeholder^="Select the precision"]').waitFor();
  await w.shot('wizard-2-precision');
  await answer(w, 'Select the precision', 'Default');
  await prompt.getByText(/^Workspace in MiB/).waitFor();
  await box.fill('64');
  await w.enter();
  await w.page.locator('.quick-input-widget input[placeholder^="Select what else"]').waitFor();
  await w.enter();
  await answer(w, 'Build with these options', 'Build');
  await w.terminal(/Built in/).waitFor();
  const { options, shapes } = manifestsOf('open').at(-1);
  assert.equal(options.workspace, 64);
  assert.deepEqual(shapes[0][0], { input: 'x', min: '1x128x8', opt: '2x128x8', max: '3x128x8' });

  const built = w.toast(/Built open\.onnx in .*: \d+ nodes? → .*, engine [\d.]+ [KM]iB\./);
  await built.waitFor();
  for (const name of ['Show Graph', 'Open Fusion Page', 'Reveal Engine']) {
    const isWhole = (button) => button.scrollWidth <= button.clientWidth;
    // oxlint-disable-next-line no-await-in-loop -- one button after the other
    assert.ok(await built.getByRole('button', { name, exact: true }).evaluate(isWhole), `${name} is cut`);
  }

  // The next build offers the same shapes first, and the form the same options.
  await w.page.locator('.activitybar .action-label[aria-label^="Explorer"]').click();
  await w.pickInMenu('open.onnx', /^Build TensorRT Engine$/);
  await w
    .quickPick('Last Shapes')
    .getByText(/x 1×128×8 to 3×128×8/)
    .waitFor();
  await w.page.keyboard.press('Escape');
  await w.pickInMenu('open.onnx', 'Build TensorRT Engine As');
  await w
    .quickPick('Last Options')
    .getByText(/rtx · custom shapes · workspace 64 MiB/)
    .waitFor();
  await w.shot('wizard-3-remembered');
  await w.page.keyboard.press('Escape');

  // What the open dimensions cost is asked without a selection, and the build says it from then on.
  await w.openFile('open.onnx');
  await w.graphAtRest();
  await w.changeModel('What If…');
  await answer(w, 'Select a change to try', 'Build for Other Shapes…');
  for (const [dimension, size] of Object.entries({ batch: '2', seq: '128' })) {
    // oxlint-disable-next-line no-await-in-loop -- one question after the other
    await prompt.getByText(new RegExp(`^${dimension}: minimum`)).waitFor();
    // oxlint-disable-next-line no-await-in-loop
    await box.fill(size);
    // oxlint-disable-next-line no-await-in-loop
    await w.enter();
  }
  await answer(w, 'Select what to do next', 'Use These Shapes');
  await w.tab('What If: Shapes x 2×128×8').waitFor();
  await w.toast('Shapes x 2×128×8: 1 → 1 kernels').waitFor();
  await w.shot('wizard-5-fixed-shapes');
  const kept = readdirSync(join(cache, 'builds'), { recursive: true }).filter((name) =>
    name.endsWith('dynamic-shapes.json'),
  );
  assert.equal(kept.length, 1);
});
