// From an engine that is wrong to the nodes and the fixed model, by mouse and keyboard on the installed package. The engine
// is ONNX Runtime with a planted fault, which a launcher puts in the place of TensorRT.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { windows } from './windows.mjs';

const support = (name) => fileURLToPath(new URL(`../../support/${name}`, import.meta.url));
const driver = fileURLToPath(new URL('../../../src/driver', import.meta.url));

/** A folder with ONNX's own library, ONNX Runtime and NumPy: that of other tests, or a new one. */
function pythonPackages() {
  const cache = process.env.PACKAGES;
  const known = readdirSync(cache).find(
    (name) => name.startsWith('test-onnx-') && existsSync(join(cache, name, 'site/onnx')),
  );
  if (known) return join(cache, known, 'site');
  const site = join(mkdtempSync(join(tmpdir(), 'tensorrt-lens-site-')), 'site');
  execFileSync('python3', ['-m', 'pip', 'install', '-q', '--target', site, 'onnx==1.23.2', 'onnxruntime', 'numpy']);
  return site;
}

const site = pythonPackages();
const worker = `exec env FAULT=lost_mul DRIVER=${driver} PYTHONPATH=${site} python3 -B ${support('stand_in_engine_worker.py')}`;
const { open, install, folder } = windows({
  files: ['fp16_overflow.onnx'],
  settings: {
    'tensorrtLens.launchers': {
      gpu: {
        command: ['sh', '-c', worker, '{command}'],
        paths: ['{folder}', '{driverFolder}'].map((path) => ({ here: path, there: path })),
        guard: false,
      },
    },
    'tensorrtLens.build.launcher': 'gpu',
  },
});

before(() => {
  install();
  const env = { ...process.env, PYTHONPATH: site };
  execFileSync('python3', [support('bisect_models.py'), folder, '1', '1'], { env });
  renameSync(join(folder, '0.onnx'), join(folder, 'wrong.onnx'));
});

test('an engine that is wrong: the piece, its values, and the fixed model', async () => {
  const w = await open();
  const item = 'Find Where the Engine Goes Wrong…';
  await w.untilExtensionKnown('wrong.onnx', item);
  await w.pickInMenu('wrong.onnx', item);
  await w.quickPick('Random Values').click();
  const page = await w.viewWith('p.verdict');
  assert.equal(await page.locator('p.verdict').innerText(), '✗ The engine is wrong.');
  await page.getByText('a constant factor of 1.667').first().waitFor();
  await w.shot('bisect-1-page');
  await page.getByText('Copy as Polygraphy Command').click();
  await w.toast('Copied.').waitFor();
  await page.getByText('Save Fixed Model…').click();
  await w
    .box('Save Fixed Model')
    .getByRole('button', { name: /^(?:OK|Save)$/ })
    .click();
  await w.row('wrong-fixed.onnx').waitFor();
  assert.ok(existsSync(join(folder, 'wrong-fixed.onnx')));
  await w.shot('bisect-2-fixed');
});

test('the piece is selected in the graph', async () => {
  const w = await open();
  await w.pickInMenu('wrong.onnx', 'Find Where the Engine Goes Wrong…');
  await w.quickPick('Random Values').click();
  const page = await w.viewWith('p.verdict');
  await page.getByText('Show in Graph').click();
  await w.view.getByText('6 nodes selected').first().waitFor();
  await w.shot('bisect-3-graph');
});
