import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadFiles } from '../../../../src/kernel/node/store/loadBuild.ts';
import { fusion } from '../../../../src/kernel/node/cli/fusion.ts';
import type { FusionReport } from '../../../../src/kernel/fusion/fusionReport.ts';
import { captureText, modelPath } from '../../../support/fixtures.ts';
import { hardModel, recordedLog } from '../../../support/hardModels/builtModels.ts';

let folder: string;
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'builds-'));
  await writeFile(file('twins.onnx'), hardModel('twins').bytes);
  const other = captureText('tensorrt-10.6.0/loop_if.fp32/log.txt')!;
  await writeFile(file('twice.log'), `${recordedLog('twins')}${recordedLog('twins')}`);
  await writeFile(file('both.log'), `${recordedLog('twins')}${other}`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the report on a log of several builds', () => {
  it('is on the last build of the model, and says so', async () => {
    const { report } = await loadFiles({ onnx: file('twins.onnx'), log: file('twice.log') });
    expect(report.build).toMatchObject({ number: 2, of: 2 });
    expect(report.layers).toHaveLength(1);
    expect(report.problems).toMatchObject([{ severity: 'info', code: 'several-builds' }]);
  });

  it('mixes nothing of a build of another model and version', async () => {
    const { report } = await loadFiles({ onnx: file('twins.onnx'), log: file('both.log') });
    expect(report.build).toMatchObject({ number: 1, of: 2, line: 1 });
    expect(report.tensorrt).toEqual({ product: 'tensorrt-rtx', version: '1.7.1' });
    expect(report.nodes.map(({ fate }) => fate)).toEqual(['foreign', 'foreign', 'foreign']);
    const rest = await loadFiles({ onnx: modelPath('loop_if'), log: file('both.log') });
    expect(rest.report.build).toMatchObject({ number: 2, of: 2 });
    expect(rest.report.tensorrt).toEqual({ product: 'tensorrt', version: '10.6.0' });
  });

  it('is on the build that is asked for', async () => {
    const { report } = await loadFiles({ onnx: file('twins.onnx'), log: file('both.log'), buildNumber: 2 });
    expect(report.problems.map(({ code }) => code)).toContain('other-model');
    await expect(loadFiles({ onnx: file('twins.onnx'), log: file('both.log'), buildNumber: 3 })).rejects.toThrow(
      'contains 2 builds, so there is no build number 3',
    );
  });

  it('can be asked for by trtlens fusion --build-number', async () => {
    const printed: string[] = [];
    const terminal = {
      out: (text: string) => {
        printed.push(text);
        return Promise.resolve();
      },
    } as unknown as Parameters<typeof fusion.run>[1];
    const ask = (number: string) =>
      fusion.run(
        ['--onnx', file('twins.onnx'), '--log', file('twice.log'), '--build-number', number, '--json'],
        terminal,
      );
    await ask('1');
    expect((JSON.parse(printed.join('')) as FusionReport).build).toEqual({ number: 1, of: 2, line: 1 });
    await expect(ask('0')).rejects.toThrow("--build-number '0' is not a positive integer");
  });
});
