// Precision overrides on the installed package: rules are typed, corrected, built for real, and seen to be obeyed.
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { windows } from './windows.mjs';

const captured = 'test/fixtures/captures/tensorrt-10.6.0/fp16_overflow.fp16/layers.json';
const { open, install, folder } = windows({ files: ['fp16_overflow.onnx'] });

test('rules are typed, fixed, built and verified', async () => {
  install();
  const w = await open();
  await w.untilExtensionKnown('fp16_overflow.onnx', 'Edit Precision Overrides');
  await w.pickInMenu('fp16_overflow.onnx', 'Edit Precision Overrides');
  await w.tab('fp16_overflow.trtprec').waitFor();
  await w.line(/^base fp16/).waitFor();

  // A name with a mistake: the editor knows a better one.
  await w.page.keyboard.press('Control+End');
  await w.typeLine('/layers.1/attn/softmx/Softmax  fp32');
  await w.typeLine('/layers.2/**  fp32');
  await w.page.locator('.squiggly-warning').first().waitFor();
  await w.shot('precision-1-typo');
  await w.line(/softmx/).click();
  await w.page.keyboard.press('Home');
  await w.quickFix('/layers.1/attn/softmax/Softmax');
  await w.line(/^\/layers\.1\/attn\/softmax\/Softmax fp32/).waitFor();
  await w.page.locator('.squiggly-warning').first().waitFor({ state: 'hidden' });

  // Names complete while they are typed.
  await w.lens('Show 1 node in the graph').waitFor();
  await w.page.keyboard.press('Control+End');
  await w.page.keyboard.type('op:Soft');
  await w.page.keyboard.press('Control+Space');
  await w.page.locator('.suggest-widget .monaco-list-row', { hasText: 'Softmax' }).first().waitFor();
  await w.shot('precision-2-completion', { docs: 'override-completion' });
  await w.page.keyboard.press('Escape');
  await w.page.keyboard.press('Shift+Home');
  await w.page.keyboard.press('Delete');

  await w.lens('Show 1 node in the graph').first().waitFor();
  await w.clickLens('Build with these', w.terminal('fp16_overflow'));
  await w.terminal('Built in').waitFor();
  await w.tab('fp16_overflow.trtprec').click();
  // A Softmax alone stays in a fused attention kernel, whose inside nobody sees; a whole layer dissolves it.
  await w.behind(/\? unverifiable/);
  await w.behind(/✓ probably obeyed/);
  await w.lens('Verify against the last build').waitFor();
  await w.shot('precision-3-verdicts', { docs: 'override-verdicts' });
  assert.match(
    readFileSync(join(folder, 'fp16_overflow.trtprec'), 'utf8'),
    /softmax\/Softmax +fp32\n\/layers\.2\/\*\*/,
  );

  // A rule that was never built is told apart from one that was.
  await w.page.keyboard.press('Control+End');
  await w.typeLine('op:Gelu, op:Erf  fp32');
  await w.line(/^op:Gelu/).waitFor();
  const verdict = w.page.locator('.quick-input-list .monaco-list-row', { hasText: 'obeyed' }).first();
  await w.clickLens('Verify against the last build', verdict);
  await w.shot('precision-4-verify');
  await w.page.keyboard.press('Escape');

  await w.hidePanel();
  await w.line(/layers\.1\/attn/).click();
  await w.clickLens('Show 1 node in the graph', w.view.getByRole('treeitem', { name: /^Softmax/, selected: true }));
  await w.view.locator('.graph-legend select').selectOption('overrides');
  await w.view.locator('.legend-label', { hasText: 'Unverifiable' }).waitFor();
  await w.view.locator('.legend-label', { hasText: 'Probably obeyed' }).waitFor();
  await w.shot('precision-5-graph', { docs: 'override-graph' });
  assert.deepEqual(w.violations, []);
});

test('rules are copied as flags and made of flags, and what is lost on the way is said', async () => {
  const file = 'flags.trtprec';
  writeFileSync(
    join(folder, file),
    'model ./fp16_overflow.onnx\nbase fp16\nop:Softmax fp32 -> fp32\n/layers.0/** [fp23](command:undo)\n',
  );
  const w = await open();
  await w.untilExtensionKnown('fp16_overflow.onnx', 'Edit Precision Overrides');
  await w.openFile(file);
  await w.page.locator('.squiggly-error').first().waitFor();

  await w.runCommand('TensorRT: Copy as Precision Flags');
  await w.quickPick('Polygraphy').waitFor();
  await w.shot('flags-1-programs');
  await w.quickPick('Polygraphy').click();
  const told = w.toast('Flags copied.');
  await told.waitFor();
  // What stands in a file makes no link in a message.
  const said = await told.innerText();
  assert.match(said, /Line 4 is ignored: "\[fp23\]\u200b\(command:undo\)" is not a type/);
  assert.match(said, /no option for output types of layers; 4 of them are omitted/);
  await w.shot('flags-2-copied');
  const copied = await w.page.evaluate(() => navigator.clipboard.readText());
  assert.match(
    copied,
    /^--fp16 --precision-constraints obey --layer-precisions \/layers\.0\/attn\/softmax\/Softmax:float32 /,
  );
  await w.page.keyboard.press('Escape');

  // The same is said of a model that is written with what can be read of the rules.
  const box = w.page.locator('.quick-input-widget');
  await w.runCommand('TensorRT: Apply Precision Overrides to the Model…');
  await box.getByText('Write Typed Model').waitFor();
  await w.enter();
  const written = w.toast('Wrote fp16_overflow.typed.onnx');
  await written.waitFor();
  assert.match(await written.innerText(), /Line 4 is ignored: "\[fp23\]\u200b\(command:undo\)" is not a type/);
  await w.shot('flags-3-written');
  await w.page.keyboard.press('Escape');
  await w.page.keyboard.press('Escape');

  // The box has what is on the clipboard when that is a command line; what cannot be taken over becomes a comment.
  await w.page.evaluate(() =>
    navigator.clipboard.writeText('polygraphy convert --layer-precisions head:float32 x:fp23'),
  );
  await w.runCommand('TensorRT: Import Precision Flags');
  await box.getByText('Enter a command line of trtexec').waitFor();
  await w.shot('flags-4-import');
  await w.enter('Enter a command line');
  await w.line(/^head fp32/).waitFor();
  await w.line(/^# "x:fp23" has no type of override files/).waitFor();
  await w.shot('flags-5-imported');

  // Anything else is refused, with what is missing.
  await w.runCommand('TensorRT: Import Precision Flags');
  await box.getByText('Enter a command line of trtexec').waitFor();
  await box.locator('input').fill('trtexec --fp16');
  await box.getByText('The command line sets no layer precisions').waitFor();
  await w.shot('flags-6-none');
  assert.deepEqual(w.violations, []);
});

test('rules are compared with the optimization profile that is chosen', async () => {
  // Of a recorded build in FP16, the layers of a second profile, which are all in FP32.
  const { Layers: first, ...rest } = JSON.parse(readFileSync(captured, 'utf8'));
  const second = first.map((layer) => ({
    ...JSON.parse(JSON.stringify(layer).replaceAll(/Half|FP16/g, 'Float')),
    Name: `${layer.Name} [profile 1]`,
  }));
  copyFileSync(join(folder, 'fp16_overflow.onnx'), join(folder, 'two.onnx'));
  writeFileSync(join(folder, 'two.layers.json'), JSON.stringify({ Layers: [...first, ...second], ...rest }));
  writeFileSync(join(folder, 'two.trtprec'), 'model ./two.onnx\nbase fp16\n/head/** fp32\n');
  const w = await open();
  const { view } = w;
  await w.openGraph('two.onnx', 'Build TensorRT Engine');
  const banner = view.locator('.graph-state');
  await banner.getByRole('button', { name: 'Open as a Build' }).click();
  await banner.getByText('This is profile 0.').waitFor();
  await w.runCommand('View: Show Explorer');
  await w.openFile('two.trtprec');
  await w.behind(/✗ disobeyed/);
  await w.shot('profiles-1-first');
  // The list says which profile it is about, and leads to another.
  const box = w.page.locator('.quick-input-widget');
  const placeholder = (shown) =>
    box.locator(`input[placeholder$=", optimization profile ${shown} (the engine has 2)"]`);
  await w.clickLens('Verify against the last build', placeholder(0));
  await w.quickPick('disobeyed').waitFor();
  await w.shot('profiles-2-verify');
  await w.quickPick('Select Optimization Profile…').click();
  await w.quickPick('Profile 1').waitFor();
  await w.shot('profiles-3-choose');
  await w.quickPick('Profile 1').click();
  await w.behind(/✓ probably obeyed/);
  await w.shot('profiles-4-second');
  await w.clickLens('Verify against the last build', placeholder(1));
  await w.shot('profiles-5-verify');
  await w.page.keyboard.press('Escape');
  await w.tab('two.onnx').click();
  await banner.getByText('This is profile 1.').waitFor();
  assert.deepEqual(w.violations, []);
});
