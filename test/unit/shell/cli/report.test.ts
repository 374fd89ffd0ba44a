import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { report } from '../../../../src/kernel/node/cli/report.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { runCommand } from './runCommand.ts';

const folder = mkdtempSync(join(tmpdir(), 'report-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string) => fixturePath(`captures/tensorrt-10.6.0/vit_tiny.fp16/${name}`);
const vit = ['--onnx', modelPath('vit_tiny'), '--layers', file('layers.json')];

it('writes a trace and node data, with or without the page', async () => {
  const [trace, nodes] = [join(folder, 'new/trace.json'), join(folder, 'nodes')] as [string, string];
  const outputs = ['--perfetto', trace, '--model-explorer', nodes];
  const { code, err } = await runCommand(report, ...vit, '--profile', file('profile.json'), ...outputs);
  expect(code).toBe(0);
  expect(readdirSync(nodes).toSorted()).toEqual(['fate.json', 'kernel.json', 'precision.json', 'time.json']);
  for (const name of [trace, ...readdirSync(nodes).map((one) => join(nodes, one))]) expect(err).toContain(name);
  expect((JSON.parse(readFileSync(trace, 'utf8')) as { traceEvents: object[] }).traceEvents.length).toBeGreaterThan(90);
  const page = join(folder, 'data.json');
  await runCommand(report, ...vit, '--model-explorer', nodes, '-o', page);
  expect(JSON.parse(readFileSync(page, 'utf8'))).toHaveProperty('report');
});

it('says what is missing, and overwrites no input', async () => {
  await expect(runCommand(report, ...vit)).rejects.toThrow('-o report.html is missing');
  const out = join(folder, 't.json');
  await expect(runCommand(report, ...vit, '--perfetto', out)).rejects.toThrow('There are no times for a trace');
  const profile = join(folder, 'time.json');
  writeFileSync(profile, readFileSync(file('profile.json')));
  await expect(runCommand(report, ...vit, '--profile', profile, '--model-explorer', folder)).rejects.toThrow(
    /time\.json would overwrite the input/,
  );
  await expect(runCommand(report, ...vit, '--perfetto', out, '-o', out)).rejects.toThrow(/would overwrite/);
});

it('overwrites its own page, but nothing that it did not make, unless forced', async () => {
  const out = (name: string) => join(folder, name);
  writeFileSync(out('model.engine'), 'ftrt\0engine');
  writeFileSync(out('index.html'), '<!doctype html><title>My site</title>');
  writeFileSync(out('config.json'), '{"mine": 1}');
  const others = [
    ['-o', 'model.engine'],
    ['-o', 'index.html'],
    ['-o', 'config.json'],
    ['--perfetto', 'config.json'],
  ] as const;
  for (const [option, name] of others) {
    const before = readFileSync(out(name), 'utf8');
    // oxlint-disable-next-line no-await-in-loop -- four
    await expect(runCommand(report, ...vit, option, out(name))).rejects.toThrow(/already exists .+ --force/);
    expect(readFileSync(out(name), 'utf8')).toBe(before);
  }
  expect((await runCommand(report, ...vit, '-o', out('config.json'), '--force')).code).toBe(0);
  expect((await runCommand(report, ...vit, '-o', out('config.json'))).code).toBe(0);
});

it('leaves nothing if one of its files cannot be made', async () => {
  const outputs = ['-o', join(folder, 'none.json'), '--perfetto', join(folder, 'none.trace')];
  await expect(runCommand(report, ...vit, ...outputs)).rejects.toThrow('There are no times for a trace');
  expect(readdirSync(folder).filter((name) => name.startsWith('none'))).toEqual([]);
});
