// A verbose log may come at 20,000 lines a second: whoever types beside it must not notice, and no line may be lost.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fakeTool } from '../../support/fakeTool.ts';
import { windows } from './windows.mjs';

const SECONDS = 12;
const LINES = SECONDS * 20_000;
const help = fileURLToPath(new URL('../../fixtures/captures/tensorrt-10.6.0/cli.help/log.txt', import.meta.url));

const tools = mkdtempSync(join(tmpdir(), 'tensorrt-lens-flood-'));
// As many lines as the clock allows, whatever the machine does meanwhile: numbered, and each as long as a real one.
const trtexec = fakeTool(
  tools,
  'trtexec',
  `const fs = require('node:fs');
if (args.includes('--help')) process.stdout.write(fs.readFileSync(${JSON.stringify(help)}));
else if (args.includes('--version')) process.exitCode = 1;
else {
  const engine = args.find((arg) => arg.startsWith('--saveEngine=')).slice(13);
  const begun = Date.now();
  let line = 0;
  const frame = (word) => '&&&& ' + word + ' TensorRT.trtexec [TensorRT v100600] [b26] # trtexec ' + args.join(' ') + '\\n';
  fs.writeSync(1, frame('RUNNING'));
  const timer = setInterval(() => {
    const due = Math.min(${LINES}, Math.floor((Date.now() - begun) * 20));
    let text = '';
    for (; line < due; line += 1) text += '[V] [TRT] Tactic Name: sm80_xmma_fprop_implicit_gemm_tensor16x8x16 Tactic: 0x' + line + ' Time: 0.0' + line + '\\n';
    process.stdout.write(text);
    if (line < ${LINES}) return;
    clearInterval(timer);
    fs.writeFileSync(engine, 'engine');
    process.stdout.write(frame('PASSED'));
  }, 10);
}`,
);
after(() => rmSync(tools, { recursive: true, force: true }));

const { open, folder, cache } = windows({
  files: ['fp16_overflow.onnx'],
  settings: { 'tensorrtLens.trtexec.path': trtexec },
});

test('typing is not held up by a log of 20,000 lines a second', async () => {
  writeFileSync(join(folder, 'notes.txt'), '');
  const w = await open();
  await w.untilExtensionKnown('fp16_overflow.onnx', 'Build TensorRT Engine');
  await w.openFile('notes.txt');
  await w.tab('notes.txt').waitFor();
  // Until the editor has the focus, taking it closes every menu.
  await w.page.locator('.editor-instance .view-lines').click();
  await w.pickInMenu('fp16_overflow.onnx', 'Build TensorRT Engine');
  await w.terminal(/Tactic Name/).waitFor();
  // From the press of a key to when the editor takes it, by the browser's own account.
  await w.page.evaluate(() => {
    window.delays = [];
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (entry.name === 'keydown') window.delays.push(entry.processingStart - entry.startTime);
    });
    observer.observe({ type: 'event', durationThreshold: 16 });
  });
  await w.page.locator('.editor-instance .view-lines').click();
  const text = 'what is typed beside the log comes at once '.repeat(2);
  await w.page.keyboard.type(text, { delay: 50 });
  const slow = await w.page.evaluate(() => window.delays);
  // Keys that took less than 16 ms to be on the screen are not even told.
  const delays = [...Array(Math.max(0, text.length - slow.length)).fill(0), ...slow].toSorted((a, b) => a - b);
  const at = (share) => delays[Math.floor((delays.length - 1) * share)].toFixed(0);
  // A number to read, not to hold against: it says as much of the machine's other work as of ours.
  console.log(`input delay beside 20,000 lines/s: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, longest ${at(1)} ms`);
  // What was typed last is drawn with the next frame.
  await w.line(new RegExp(`^${text.trim()}\\s*$`)).waitFor();
  assert.equal(await w.page.locator('.editor-instance .view-line').count(), 1);

  await w.terminal(/Built in/).waitFor();
  const parent = readdirSync(join(cache, 'builds')).find((name) => !name.endsWith('.lock'));
  const [build] = readdirSync(join(cache, 'builds', parent));
  const log = readFileSync(join(cache, 'builds', parent, build, 'build.log'), 'utf8');
  assert.equal(log.split('\n').filter((line) => line.startsWith('[V] [TRT] Tactic Name')).length, LINES);
});
