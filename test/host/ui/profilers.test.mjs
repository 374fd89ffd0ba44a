// What profilers write in the installed package: traces of Nsight Systems, one that is opened and one that is recorded of a
// build; counters of Nsight Compute; a trace in Chrome's format. nsys is a stand-in that exports a recorded trace.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { importBuild } from '../../../src/kernel/node/run/importBuild.ts';
import { writeManifest } from '../../../src/kernel/node/store/buildFolder.ts';
import { fakeTool } from '../../support/fakeTool.ts';
import { playerTool } from '../../support/playerTool.ts';
import { windows } from './windows.mjs';

const recorded = 'test/fixtures/traces/vit_tiny.fp16';
const tools = mkdtempSync(join(tmpdir(), 'tensorrt-lens-nsys-'));
after(() => rmSync(tools, { recursive: true, force: true }));
const unpack = (name, to) => writeFileSync(to, gunzipSync(readFileSync(join(recorded, name))));
unpack('graph.sqlite.gz', join(tools, 'graph.sqlite'));
const calls = join(tools, 'calls.jsonl');
const flags = '--trace= --cuda-graph-trace=<granularity> --sample= --cpuctxsw= --output= --force-overwrite=';
const nsys = fakeTool(
  tools,
  'nsys',
  `const fs = require('node:fs');
   if (args[1] === '--help') { console.log(${JSON.stringify(flags)}); process.exit(0); }
   fs.appendFileSync(${JSON.stringify(calls)}, JSON.stringify(args) + '\\n');
   const output = args.find((one) => one.startsWith('--output=')).slice('--output='.length);
   if (args[0] === 'export') fs.copyFileSync(${JSON.stringify(join(tools, 'graph.sqlite'))}, output);
   else fs.writeFileSync(output + '.nsys-rep', 'report');`,
);
const trtexec = playerTool(tools, 'trtexec', { capture: 'tensorrt-10.6.0/vit_tiny.fp16' });
const { open, folder, cache } = windows({
  files: ['vit_tiny.onnx', 'fusion_zoo.onnx'],
  settings: { 'tensorrtLens.nsys.path': nsys, 'tensorrtLens.trtexec.path': trtexec },
});

test('a trace opens with the layer info next to it, and its findings lead to the nodes', async () => {
  unpack('layers.json.gz', join(folder, 'layers.json'));
  unpack('plain.sqlite.gz', join(folder, 'run.sqlite'));
  const w = await open();
  await w.untilExtensionKnown('run.sqlite', 'Open with TensorRT Lens');
  await w.pickInMenu('run.sqlite', 'Open with TensorRT Lens');
  const finding = w.group('Launch-bound');
  await w.expand(w.group('Where time goes'));
  await finding.waitFor();
  await w.view.locator('canvas').first().waitFor();
  await finding.click();
  await w.view
    .getByText(/nodes selected/)
    .first()
    .waitFor();
  await w.shot('profilers-1-finding');
  await w.runCommand('TensorRT: Open Fusion Page');
  // The finding is selected there, too; what belongs to no layer shows without a selection.
  await w.view.getByRole('heading', { name: '88 layers of the engine' }).waitFor();
  await w.view.getByRole('button', { name: 'Clear', exact: true }).click();
  await w.view.getByText('5 copies to the device, 12.7 MiB').waitFor();
  await w.shot('profilers-2-page');

  // Named as Nsight Systems names it, a trace opens by a double click.
  unpack('plain.sqlite.gz', join(folder, 'report1.sqlite'));
  await w.runCommand('View: Show Explorer');
  await w.openFile('report1.sqlite');
  await w.view.getByText(/It also shows what layers\.json in the same folder says/).waitFor();
  rmSync(join(folder, 'report1.sqlite'));
});

test('counters of Nsight Compute and a trace in Chrome format open from the menu of the explorer', async () => {
  unpack('layers.json.gz', join(folder, 'layers.json'));
  // Of several traces that fit, none would be taken.
  rmSync(join(folder, 'run.sqlite'), { force: true });
  const { Layers: layers } = JSON.parse(readFileSync(join(folder, 'layers.json'), 'utf8'));
  const tactic = layers.find(({ Name }) => Name === '/patch_embed/proj/Conv').TacticName;
  const metrics = ['sm__throughput', 'gpu__dram_throughput'].map(
    (name) => `"${name}.avg.pct_of_peak_sustained_elapsed"`,
  );
  writeFileSync(
    join(folder, 'ncu.csv'),
    `"ID","Kernel Name",${metrics.join(',')}\n"","","%","%"\n"0","${tactic}","7.3","4.1"\n`,
  );
  const w = await open();
  await w.untilExtensionKnown('ncu.csv', 'Open with TensorRT Lens');
  await w.pickInMenu('ncu.csv', 'Open with TensorRT Lens');
  await w.view.locator('canvas').first().waitFor();
  await w.runCommand('TensorRT: Open Fusion Page');
  await w.view.getByRole('tab', { name: 'Table' }).click();
  await w.view.getByRole('columnheader', { name: 'SM' }).waitFor();
  await w.view.getByRole('gridcell', { name: '7.3 %', exact: true }).waitFor();
  await w.shot('profilers-4-counters');
  const events = layers.map(({ Name }, index) => ({ name: Name, ph: 'X', ts: 4000 * index, dur: 3210 }));
  writeFileSync(join(folder, 'perfetto_trace.json'), JSON.stringify({ traceEvents: events }));
  await w.page.locator('.activitybar .action-label[aria-label^="Explorer"]').click();
  await w.pickInMenu('perfetto_trace.json', 'Open with TensorRT Lens');
  await w.expand(w.group('Where time goes'));
  // Each of the 90 layers takes as long.
  await w.page.locator('.sidebar .monaco-list-row', { hasText: '1.1 % · 1 layer' }).waitFor();
  await w.shot('profilers-5-chrome');
  assert.deepEqual(w.violations, []);
});

test('a build is profiled with nsys, and the trace becomes its profile', async () => {
  const model = join(folder, 'vit_tiny.onnx');
  const layers = join(tools, 'layers.json');
  unpack('layers.json.gz', layers);
  const build = await importBuild({ model, pieces: [{ file: layers }], cache });
  copyFileSync(layers, join(build.folder, 'model.engine'));
  const { manifest } = build;
  const files = { ...manifest.files, engine: 'model.engine' };
  await writeManifest({ ...build, manifest: { ...manifest, name: 'with an engine', files } });
  const w = await open();
  await w.untilExtensionKnown('vit_tiny.onnx');
  await w.openFile('vit_tiny.onnx');
  await w.graphAtRest();
  await w.showSideBar();
  await w.group('ForeignNode 0').waitFor();
  // Whichever was looked at before.
  const named = w.group('with an engine');
  await w.pickInRow(named, 'Show Build');
  await named.and(w.page.locator('[aria-label*=", shown, "]')).waitFor();
  await w.pickInRow(named, 'Profile with nsys');
  const timeline = w.view.getByText(/The median pass of the trace, with its gaps/);
  await timeline.scrollIntoViewIfNeeded();
  await w.shot('profilers-3-profiled');
  const [profile, exported] = readFileSync(calls, 'utf8').trim().split('\n').map((line) => JSON.parse(line)); // oxfmt-ignore
  assert.deepEqual(profile.slice(0, 5), ['profile', '--trace=cuda,nvtx', '--cuda-graph-trace=node', '--sample=none', '--cpuctxsw=none']); // oxfmt-ignore
  assert.ok(profile.includes('--profilingVerbosity=detailed'));
  assert.deepEqual(exported.slice(0, 2), ['export', '--type=sqlite']);
  assert.deepEqual(w.violations, []);
});
