import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { gate } from '../../../../src/features/gate/node/cli/gate.ts';
import type { BuildManifest } from '../../../../src/kernel/build/buildManifest.ts';
import { reportWith } from '../diff/reportWith.ts';
import { runCommand } from '../../shell/cli/runCommand.ts';

const examples = join(import.meta.dirname, '../../../../examples');
const folder = mkdtempSync(join(tmpdir(), 'gate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string) => join(folder, name);

/** A build folder of the example, by another version. */
function build(name: string, version: string, gpu: string | null = null): string {
  cpSync(join(examples, 'recorded/vit_tiny'), file(name), { recursive: true });
  const path = join(file(name), 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as BuildManifest;
  const model = { ...manifest.model, file: join(examples, 'vit_tiny.onnx'), sha256: null };
  writeFileSync(path, JSON.stringify({ ...manifest, model, gpu, tensorrt: { ...manifest.tensorrt, version } }));
  return file(name);
}

const jobs = [
  { name: 'vit fp16 rtx-1.7', folder: build('a', '1.7.1'), result: 'passed' },
  { name: 'vit fp16 rtx-1.8', folder: build('b', '1.8.0', 'NVIDIA L40S'), result: 'passed' },
];
const failed = { name: 'vit fp16 rtx-2.0', folder: null, result: 'failed', error: 'Could not find any implementation' };

it('judges every build of a matrix; a job without a build fails, and says why in every format', async () => {
  writeFileSync(file('vit.gate.yaml'), 'rules:\n  foreignNodes: 1\n  nodes: { unknown: 0 }\n');
  writeFileSync(file('good.json'), JSON.stringify({ jobs }));
  const good = await runCommand(gate, file('vit.gate.yaml'), '--matrix', file('good.json'));
  expect(good.code).toBe(0);
  expect(good.out.match(/2 checks passed\./g)).toHaveLength(2);

  writeFileSync(file('bad.json'), JSON.stringify({ jobs: [...jobs, failed] }));
  const outputs = ['--markdown', file('s.md'), '--junit', file('s.xml')];
  const bad = await runCommand(gate, file('vit.gate.yaml'), '--matrix', file('bad.json'), ...outputs);
  expect(bad.code).toBe(1);
  const reason = 'not judged, because the build failed: Could not find any implementation';
  expect(bad.out).toMatch(/^1 of 3 builds failed\n/);
  expect(bad.out).toMatch(new RegExp(`\n✗ vit fp16 rtx-2\\.0 +${reason}\n`));
  const table = readFileSync(file('s.md'), 'utf8').split('\n').slice(2, 9);
  expect(table.map((line) => line.slice(0, 5))).toEqual(['### 1', '', '|  | ', '| ---', '| ✓ |', '| ✓ |', '| ✗ |']);
  expect(readFileSync(file('s.xml'), 'utf8').match(/<failure /g)).toHaveLength(1);
  const json = await runCommand(gate, file('vit.gate.yaml'), '--matrix', file('bad.json'), '--json');
  expect(JSON.parse(json.out)).toMatchObject({ results: [{ passed: true }, {}], unbuilt: [{ result: 'failed' }] });
});

it('shows a matrix with versions and GPUs, one line a build', async () => {
  writeFileSync(file('vit.gate.yaml'), 'rules:\n  foreignNodes: 1\n  nodes: { unknown: 0 }\n');
  const { out } = await runCommand(gate, file('vit.gate.yaml'), '--matrix', file('bad.json'));
  expect(out.split('\n').slice(2, 5)).toEqual([
    `✓ ${file('a')}  vit_tiny.onnx, TensorRT-RTX 1.7.1               2 checks passed`,
    `✓ ${file('b')}  vit_tiny.onnx, TensorRT-RTX 1.7.1, NVIDIA L40S  2 checks passed`,
    expect.stringMatching(/^✗ vit fp16 rtx-2\.0 .+not judged/),
  ]);
});

it('writes a gate that the same build passes, its memory included', async () => {
  const folder_ = build('memory', '1.7.1');
  const manifest = JSON.parse(readFileSync(join(folder_, 'manifest.json'), 'utf8')) as BuildManifest;
  const log = join(folder_, manifest.files.log!);
  const line = '[11/22/2026-07:31:01] [I] [TRT] Total Activation Memory: 1048576 bytes\n';
  writeFileSync(log, Buffer.concat([readFileSync(log), gzipSync(line)]));
  expect((await runCommand(gate, file('new.gate.yaml'), '--init', '--build', folder_)).code).toBe(0);
  expect(readFileSync(file('new.gate.yaml'), 'utf8')).toContain("memory: { activation: '+10%' }");
  const { code, out } = await runCommand(gate, file('new.gate.yaml'), '--build', folder_);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('✓ memory.activation') as string });
});

it('a pattern that fits nothing fails with the reason', async () => {
  writeFileSync(file('none.gate.yaml'), "rules:\n  precision: { '/nothing/**': fp16, 'op:Shape': fp16 }\n");
  const { out } = await runCommand(gate, file('none.gate.yaml'), '--build', build('none', '1.7.1'));
  expect(out).toContain('/nothing/** selects no node.\n');
  expect(out).toMatch(/op:Shape selects no node(?: that accepts a precision)?\.\n/);
});

it('without a build that passed cannot judge', async () => {
  for (const text of ['no JSON', '{}', JSON.stringify({ jobs: [failed] })]) {
    writeFileSync(file('none.json'), text);
    const ran = runCommand(gate, file('vit.gate.yaml'), '--matrix', file('none.json'));
    // oxlint-disable-next-line no-await-in-loop -- three
    await expect(ran).rejects.toThrow('pass the output of `trtlens build --json`');
  }
});

describe('a build of another network', () => {
  const models = join(import.meta.dirname, '../../../fixtures/models');
  /** A report of a chain of nodes, as `trtlens fusion --json` writes one. */
  const reportOf = (name: string, model: string, nodes: readonly string[]): string => {
    const layers = nodes.map((one) => ({ nodes: [one] }));
    const report = { ...reportWith(nodes, layers), model: { file: model, nodes: nodes.length } };
    writeFileSync(file(name), JSON.stringify(report));
    return file(name);
  };
  const names = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${at}`);
  const swin = [...names('swin/MatMul', 20), 'Relu0'];
  const gateOf = (text: string): string => {
    writeFileSync(file('swin.gate.yaml'), `${text}\nrules: { layers: 100, nodes: { unknown: 0 } }\n`);
    return file('swin.gate.yaml');
  };

  it('is refused by the nodes of the baseline, whatever its file is called', async () => {
    reportOf('swin.report.json', 'model.onnx', swin);
    const path = gateOf('baseline: swin.report.json');
    const vit = reportOf('vit.json', 'model.onnx', [...names('vit/MatMul', 20), 'Relu0']);
    await expect(runCommand(gate, path, '--build', vit)).rejects.toThrow(
      /vit\.json is a build of another network than the baseline .+only 5% of their nodes in common/,
    );
    const again = reportOf('again.json', 'renamed.onnx', [...names('swin/MatMul', 15), ...names('new/Add', 8)]);
    expect((await runCommand(gate, path, '--build', again)).code).toBe(0);
  });

  it('is refused by the name of the model where nothing else is known', async () => {
    const path = gateOf('model: swin.onnx');
    const vit = reportOf('vit.json', 'vit.onnx', names('vit/MatMul', 20));
    await expect(runCommand(gate, path, '--build', vit)).rejects.toThrow('vit.json is a build of vit.onnx, but');
    expect((await runCommand(gate, path, '--build', reportOf('s.json', 'swin.onnx', swin))).code).toBe(0);
  });

  it('is refused by the model of the gate, as a build folder', async () => {
    const path = gateOf(`model: ${JSON.stringify(join(models, 'unnamed.onnx'))}`);
    await expect(runCommand(gate, path, '--build', build('vit', '1.7.1'))).rejects.toThrow('of another model');
  });

  it('takes an absolute baseline', async () => {
    const baseline = reportOf('absolute.json', 'swin.onnx', swin);
    const { out } = await runCommand(gate, gateOf(`baseline: ${JSON.stringify(baseline)}`), '--build', baseline);
    expect(out).toContain(`against ${baseline}`);
  });
});
