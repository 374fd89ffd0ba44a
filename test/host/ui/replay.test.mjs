// A tactic replay on the installed package: the edit that everybody tries fails with TensorRT's own message, and a quick fix
// makes of it one that TensorRT offers. Polygraphy is played from recordings.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { windows } from './windows.mjs';

const tools = mkdtempSync(join(tmpdir(), 'tensorrt-lens-tool-'));
const polygraphy = join(tools, 'polygraphy');
const script = new URL('../replayTool.mjs', import.meta.url).href;
writeFileSync(polygraphy, `#!${process.execPath}\nimport(${JSON.stringify(script)});\n`);
chmodSync(polygraphy, 0o755);
after(() => rmSync(tools, { recursive: true, force: true }));

const { open, folder } = windows({
  files: ['vit_tiny.onnx', 'resnet18.onnx'],
  settings: { 'tensorrtLens.polygraphy.path': polygraphy, 'editor.fontSize': 12 },
});
// Which of the two models it is of, only its layers say.
const replay = join(folder, 'tactics.replay.json');
const capture = new URL('../../fixtures/captures/tensorrt-10.6.0/vit_tiny.poly_replay/replay.json', import.meta.url);
const recorded = readFileSync(capture, 'utf8');
// HALF becomes FLOAT in the first entry, and nothing else changes.
const [first, ...rest] = recorded.split('"{ForeignNode[');
writeFileSync(
  join(folder, 'other.replay.json'),
  recorded.replaceAll('/patch_embed/', '/x/').replaceAll('/blocks/', '/y/'),
);
writeFileSync(replay, [first.replaceAll('HALF', 'FLOAT'), ...rest].join('"{ForeignNode['));

test('an edited type fails by the real message, and a quick fix changes the whole entry', async () => {
  const w = await open();
  await w.untilExtensionKnown('vit_tiny.onnx', 'Build TensorRT Engine');

  // A replay of neither model asks.
  await w.openFile('other.replay.json');
  await w.clickLens('Build with this replay', w.quickPick('resnet18.onnx'));
  await w.box().getByPlaceholder('Select the model that this replay was recorded for').waitFor();
  await w.quickPick('vit_tiny.onnx').waitFor();
  await w.box().press('Escape');
  await w.box().waitFor({ state: 'hidden' });

  await w.openFile('tactics.replay.json');
  await w.lens('Build with this replay').waitFor();
  await w.page.locator('.squiggly-info').first().waitFor(); // The ForeignNode's note.
  await w.shot('replay-1-edited');

  const failure = w.toast('Could not build vit_tiny.onnx');
  await w.clickLens('Build with this replay', failure);
  assert.match(await failure.innerText(), /\/patch_embed\/proj\/Conv/);
  await w.lens('Log line').first().waitFor();
  await w.page.locator('.squiggly-error').first().waitFor();
  await w.shot('replay-2-failed');

  await w.clickLens('Log line', w.line(/Tactic in replay was not provided by TensorRT as a choice for this layer/));
  await w.shot('replay-3-log');
  await w.tab('tactics.replay.json').click();
  await w.line(/patch_embed\/proj\/Conv/).click();
  await w.quickFix('Change the whole entry to FP32', { shot: 'replay-4-fixes', docs: 'replay-fixes' });
  await w.page.locator('.squiggly-error').first().waitFor({ state: 'hidden' });

  await w.clickLens('Build with this replay', w.terminal('Built in'));
  await w.shot('replay-5-built');
  const fixed = readFileSync(replay, 'utf8');
  assert.notEqual(fixed, recorded);
  assert.equal(fixed.split('"{ForeignNode[')[1], rest[0]);
  assert.doesNotMatch(fixed.split('"{ForeignNode[')[0], /1236070762725864170|HALF/);
  assert.deepEqual(w.violations, []);
});
