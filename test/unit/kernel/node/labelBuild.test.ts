import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, test } from 'vitest';
import { newBuildFolder, readBuildFolder, writeManifest } from '../../../../src/kernel/node/store/buildFolder.ts';
import { nameBuild } from '../../../../src/kernel/node/store/buildHistory.ts';
import { buildManifest } from '../../../support/buildManifest.ts';
import { explainFailure } from '../../../../src/kernel/node/run/internal/buildFailure.ts';
import { readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'label-'));
});
afterEach(() => rm(parent, { recursive: true, force: true }));

async function build(second: number): Promise<string> {
  const started = new Date(Date.UTC(2026, 0, 1, 10, 0, second));
  const { id, folder } = await newBuildFolder(parent, started);
  await writeManifest({ folder, manifest: buildManifest({ id, started: started.toISOString() }) });
  return folder;
}

it('names a build, and takes the name back', async () => {
  const folder = await build(1);
  await nameBuild(folder, 'baseline');
  expect((await readBuildFolder(folder))!.manifest).toMatchObject({ name: 'baseline' });
  const { manifest } = (await nameBuild(folder, ''))!;
  expect(Object.keys(manifest)).not.toContain('name');
  await rm(folder, { recursive: true });
  expect(await nameBuild(folder, 'gone')).toBeUndefined();
});

const ended = {
  cancelled: false,
  code: 1,
  engine: 0,
  program: '/opt/bin/python3',
  model: 'm.onnx',
  parsed: '/tmp/m.onnx',
};
const said = {
  log: readBuildLog('').value,
  timeLine: { totalMs: 0, stages: [], slowest: [] },
  start: undefined,
  end: undefined,
  lastError: '',
};

test('a driver that names its error is known by the name, and names the model as the user does', async () => {
  const message = '/tmp/m.onnx: the weights file w.bin cannot be opened; put it next to the model';
  const details = [
    { code: 'X', message: '', node: 3, nodeName: 'n', operator: 'Conv', file: null, line: null, function: null },
    { code: 'X', message: '', node: -1, nodeName: null, operator: null, file: null, line: null, function: null },
  ];
  const end = { event: 'error', stage: 'parse', message, details, code: 'weights-missing' } as const;
  const { failure, error } = await explainFailure({ ...said, end: { ...end, details } }, ended);
  expect(failure).toEqual({ code: 'weights-missing', message: error, advice: '', nodes: ['3'], lines: [] });
  expect(error).toBe('m.onnx: the weights file w.bin cannot be opened; put it next to the model');
});

test.each([
  [{ cancelled: true }, 'cancelled', 'cancelled'],
  [{ code: null }, 'killed', 'python3 was killed (possibly out of memory)'],
  [{ code: 0 }, 'no-engine', 'python3 exited with 0 but wrote no engine'],
  [{}, 'exited', 'python3 exited with 1'],
] as const)('without any words it is how the program ended: %o', async (end, code, error) => {
  expect(await explainFailure(said, { ...ended, ...end })).toMatchObject({ failure: { code, message: error }, error });
});
